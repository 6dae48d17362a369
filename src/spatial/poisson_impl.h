// Bodies of PoissonSolver, instantiated for each device in poisson_cpu.cpp and poisson_cuda.cu.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "spatial/closed_regions_impl.h"
#include "spatial/poisson.h"
#include "spatial/poisson_bodies_impl.h"
#include "spatial/poisson_kernels.h"

namespace barchan {

// f.operator()<edge>() of a level that has neighbours within it.
template <class F>
auto with_edge(int edge, const F& f) {
  switch (edge) {
    case 8:
      return f.template operator()<8>();
    case 4:
      return f.template operator()<4>();
    default:
      return f.template operator()<2>();
  }
}

template <class Device>
struct PoissonSolver<Device>::Level {
  int edge = 0;  // cells along a tile's edge
  LevelTiles tiles{};
  Buffer<std::uint32_t> rows;
  Buffer<float> x, y, z, anchor;
  Buffer<float> inverse, weight;  // D^-1; what Prolong multiplies by
  Buffer<float> b, q, t;          // right-hand side, solution, a passing field

  Level(Device& device, int cells)
      : edge(cells),
        rows(device),
        x(device),
        y(device),
        z(device),
        anchor(device),
        inverse(device),
        weight(device),
        b(device),
        q(device),
        t(device) {}

  std::int64_t cells() const { return static_cast<std::int64_t>(tiles.tiles) * edge * edge * edge; }
  PoissonMatrix matrix() const { return {x.view(), y.view(), z.view(), anchor.view()}; }

  void resize(View<const std::uint32_t> around, std::size_t count) {
    tiles = {around, {}, count};
    const std::size_t all = (count + 1) * static_cast<std::size_t>(edge * edge * edge);
    for (Buffer<float>* field : {&x, &y, &z, &anchor, &inverse, &weight, &b, &q, &t}) {
      field->resize(all);
      field->clear_to_zero();
    }
    rows.resize(2 * count);
    rows.clear_to_zero();
  }
};

template <class Device>
struct PoissonSolver<Device>::Storey {
  std::size_t tiles = 0;
  Buffer<std::uint32_t> flags, list, around;  // list: those of the grid's tiles that have unknowns
  std::array<Level, 4> levels;

  // Upwards: the tiles as cells of a grid, whose flagged tiles the next storey is made of.
  Buffer3 points;
  TileGrid<Device> grid;
  Buffer<float> x, y, z, anchor;           // the matrix over that grid's cells
  Buffer<std::uint32_t> tile_of, cell_of;  // of the next storey's cells, and of this one's tiles

  explicit Storey(Device& device)
      : flags(device),
        list(device),
        around(device),
        levels{Level(device, 8), Level(device, 4), Level(device, 2), Level(device, 1)},
        points(device),
        grid(device),
        x(device),
        y(device),
        z(device),
        anchor(device),
        tile_of(device),
        cell_of(device) {}
};

template <class Device>
PoissonSolver<Device>::PoissonSolver(Device& device)
    : device_(device),
      bodies_(device),
      closed_(device),
      p_(device),
      direction_(device),
      sums_(device, kCgSums) {}

template <class Device>
PoissonSolver<Device>::~PoissonSolver() = default;

// ---- Levels

template <class Device>
void PoissonSolver<Device>::prepare(const TileView& grid, const PoissonMatrix& matrix,
                                    const PoissonBodies& bodies) {
  if (matrix.x.size < grid.cells() || matrix.y.size < grid.cells() ||
      matrix.z.size < grid.cells() || matrix.anchor.size < grid.cells()) {
    fail("a pressure matrix needs a number for each of the grid's {} cells", grid.cells());
  }
  TileView view = grid;
  PoissonMatrix from = matrix;
  for (used_ = 0;;) {
    if (used_ == storeys_.size()) storeys_.push_back(std::make_unique<Storey>(device_));
    Storey& storey = *storeys_[used_++];
    lay(storey, view, from);
    for (std::size_t l = 0; l < 3; ++l) coarsen(storey.levels[l], storey.levels[l + 1]);
    if (storey.tiles <= 1) break;
    climb(storey, view);
    view = storey.grid.view();
    from = {std::as_const(storey.x).view(), std::as_const(storey.y).view(),
            std::as_const(storey.z).view(), std::as_const(storey.anchor).view()};
  }
  for (std::size_t i = used_; i-- > 0;) {
    Storey& storey = *storeys_[i];
    Level& single = storey.levels[3];
    if (i + 1 < used_) {
      link(storey, *storeys_[i + 1]);
      for_each(
          device_, "poisson: matrix", single.cells(),
          Pick{std::as_const(storey.cell_of).view(),
               std::as_const(storeys_[i + 1]->levels[0].inverse).view(), single.inverse.view()});
    } else {
      for_each(device_, "poisson: matrix", single.cells(),
               InvertLast{std::as_const(single.anchor).view(), single.inverse.view()});
    }
    for (std::size_t l = 3; l-- > 0;) {
      invert_diagonal(storey.levels[l]);
      weigh(storey.levels[l], storey.levels[l + 1]);
    }
  }
  const Level& finest = storeys_[0]->levels[0];
  for (Buffer<float>* field : {&p_, &direction_}) {
    field->resize(finest.q.size());
    field->clear_to_zero();
  }
  bodies_.take(bodies,
               {std::as_const(storeys_[0]->flags).view(), std::as_const(storeys_[0]->list).view()},
               finest.inverse.view());
  closed_.find(finest.tiles, finest.matrix(), finest.inverse.view(), bodies_);
}

// Tiles with unknowns, and the matrix in them.
template <class Device>
void PoissonSolver<Device>::lay(Storey& storey, const TileView& grid, const PoissonMatrix& matrix) {
  const auto all = static_cast<std::int64_t>(grid.number.size);
  storey.flags.resize(grid.number.size);
  storey.flags.clear_to_zero();
  for_each(device_, "poisson: tiles", all * kTileEdge * kTileEdge,
           FlagTiles{grid, matrix, storey.flags.view()});
  const std::uint32_t flagged = device_.exclusive_scan(
      "poisson: tiles", std::as_const(storey.flags).view(), storey.flags.view());
  storey.tiles = flagged;
  storey.list.resize(flagged);
  const View<const std::uint32_t> before = std::as_const(storey.flags).view();
  const View<const std::uint32_t> list = std::as_const(storey.list).view();
  for_each(device_, "poisson: tiles", all, ListFlagged{before, flagged, storey.list.view()});
  storey.around.resize(std::size_t{flagged} * 27);
  for_each(device_, "poisson: tiles", std::int64_t{flagged} * 27,
           KeepAround{grid.around, {before, list}, storey.around.view()});
  for (Level& level : storey.levels) level.resize(std::as_const(storey.around).view(), flagged);
  Level& finest = storey.levels[0];
  for_each(device_, "poisson: matrix", finest.cells(),
           TakeMatrix{list, finest.tiles, matrix, finest.x.view(), finest.y.view(), finest.z.view(),
                      finest.anchor.view()});
}

template <class Device>
void PoissonSolver<Device>::coarsen(Level& fine, Level& coarse) {
  with_edge(fine.edge, [&]<int E>() {
    for_each(device_, "poisson: matrix", coarse.cells(),
             CoarsenFaces<E>{fine.tiles, fine.matrix(), coarse.x.view(), coarse.y.view(),
                             coarse.z.view(), coarse.anchor.view()});
  });
}

// The tiles as cells of a coarser grid.
template <class Device>
void PoissonSolver<Device>::climb(Storey& storey, const TileView& grid) {
  storey.points.resize(storey.tiles);
  for_each(device_, "poisson: tiles", static_cast<std::int64_t>(storey.tiles),
           TilePoints{grid, std::as_const(storey.list).view(), storey.points.view()});
  storey.grid.build(std::as_const(storey.points).view(), 1.0f, 0);
  const TileView next = storey.grid.view();
  Level& single = storey.levels[3];
  const std::pair<Buffer<float>*, Buffer<float>*> fields[] = {{&single.x, &storey.x},
                                                              {&single.y, &storey.y},
                                                              {&single.z, &storey.z},
                                                              {&single.anchor, &storey.anchor}};
  for (const auto& [from, to] : fields) {
    to->resize(next.cells());
    for_each(
        device_, "poisson: matrix", static_cast<std::int64_t>(next.cells()),
        TilesToCells{next.start, storey.grid.order(), std::as_const(*from).view(), to->view()});
  }
}

// Which cell of the storey above each tile is.
template <class Device>
void PoissonSolver<Device>::link(Storey& storey, const Storey& above) {
  const auto no_tile = static_cast<std::uint32_t>(storey.tiles);
  const auto no_cell = static_cast<std::uint32_t>(above.tiles * kTileCells);
  storey.tile_of.resize(above.tiles * kTileCells);
  storey.cell_of.resize(storey.tiles);
  for_each(device_, "poisson: tiles", static_cast<std::int64_t>(storey.tiles),
           SetTo<std::uint32_t>{no_cell, storey.cell_of.view()});
  for_each(device_, "poisson: tiles", static_cast<std::int64_t>(above.tiles) * kTileCells,
           LinkTiles{storey.grid.view().start, storey.grid.order(), above.list.view(), no_tile,
                     storey.tile_of.view(), storey.cell_of.view()});
}

// And the rows that have unknowns.
template <class Device>
void PoissonSolver<Device>::invert_diagonal(Level& level) {
  with_edge(level.edge, [&]<int E>() {
    over_cells<E>(device_, "poisson: matrix", level.tiles,
                  InvertDiagonal{level.matrix(), level.inverse.view()});
    for_each(device_, "poisson: matrix", static_cast<std::int64_t>(level.tiles.tiles) * E * E,
             MarkRows<E>{std::as_const(level.inverse).view(), level.rows.view()});
    level.tiles.rows = std::as_const(level.rows).view();
  });
}

// The fine level's weights, by interpolating ones.
template <class Device>
void PoissonSolver<Device>::weigh(Level& fine, Level& coarse) {
  for_each(device_, "poisson: weights", coarse.cells(),
           MarkUnknowns{std::as_const(coarse.inverse).view(), coarse.q.view()});
  for_each(device_, "poisson: weights", fine.cells(), SetTo<float>{1.0f, fine.weight.view()});
  with_edge(fine.edge, [&]<int E>() {
    between_levels<E>(device_, "poisson: weights",
                      Prolong<E>{fine.tiles, std::as_const(coarse.q).view(),
                                 std::as_const(fine.weight).view(), fine.q.view()});
  });
  for_each(device_, "poisson: weights", fine.cells(),
           WeighCells{std::as_const(fine.inverse).view(), std::as_const(fine.anchor).view(),
                      std::as_const(fine.q).view(), fine.weight.view()});
}

// ---- The V-cycle: q = M b on the level.

template <class Device>
void PoissonSolver<Device>::cycle(std::size_t storey, std::size_t level) {
  Storey& here = *storeys_[storey];
  Level& fine = here.levels[level];
  if (level < 3) {
    Level& coarse = here.levels[level + 1];
    smooth_down(fine, coarse);
    cycle(storey, level + 1);
    smooth_up(fine, coarse);
  } else if (storey + 1 < used_) {
    Level& above = storeys_[storey + 1]->levels[0];
    for_each(
        device_, "poisson: coarse", above.cells(),
        Pick{std::as_const(here.tile_of).view(), std::as_const(fine.b).view(), above.b.view()});
    cycle(storey + 1, 0);
    for_each(
        device_, "poisson: coarse", fine.cells(),
        Pick{std::as_const(here.cell_of).view(), std::as_const(above.q).view(), fine.q.view()});
  } else {
    for_each(
        device_, "poisson: coarse", fine.cells(),
        SolveLast{std::as_const(fine.inverse).view(), std::as_const(fine.b).view(), fine.q.view()});
  }
}

template <class Device>
void PoissonSolver<Device>::smooth_down(Level& fine, Level& coarse) {
  const char* label = &fine == &storeys_[0]->levels[0] ? "poisson: smooth" : "poisson: coarse";
  const View<const float> b = std::as_const(fine.b).view();
  with_edge(fine.edge, [&]<int E>() {
    over_cells<E>(
        device_, label, fine.tiles,
        SmoothFromZero{fine.matrix(), std::as_const(fine.inverse).view(), b, fine.q.view()});
    over_cells<E>(device_, label, fine.tiles,
                  Residual{fine.matrix(), b, std::as_const(fine.q).view(), fine.t.view()});
    between_levels<E>(device_, label,
                      Restrict<E>{fine.tiles, std::as_const(fine.weight).view(),
                                  std::as_const(fine.t).view(), coarse.b.view()});
  });
}

template <class Device>
void PoissonSolver<Device>::smooth_up(Level& fine, Level& coarse) {
  const bool finest = &fine == &storeys_[0]->levels[0];
  const char* label = finest ? "poisson: smooth" : "poisson: coarse";
  const View<const float> b = std::as_const(fine.b).view();
  with_edge(fine.edge, [&]<int E>() {
    between_levels<E>(device_, label,
                      Prolong<E>{fine.tiles, std::as_const(coarse.q).view(),
                                 std::as_const(fine.weight).view(), fine.q.view()});
    over_cells<E>(
        device_, label, fine.tiles,
        Smooth{fine.matrix(), b, std::as_const(fine.q).view(), fine.t.view(), kFirstWeight});
    const Smooth last{fine.matrix(), b, std::as_const(fine.t).view(), fine.q.view(), kSecondWeight};
    if (finest) {
      sum_over_cells<E>(device_, label, fine.tiles, last, sums_.data() + rz_);
    } else {
      over_cells<E>(device_, label, fine.tiles, last);
    }
  });
}

// ---- Conjugate gradients

// A field of the grid's cells into one of the finest level, and back.
template <class Device>
void PoissonSolver<Device>::enter(View<const float> from, View<float> to) {
  const Storey& storey = *storeys_[0];
  for_each(device_, "poisson: enter", storey.levels[0].cells(),
           TakeUnknowns{storey.list.view(), from, storey.levels[0].inverse.view(), to});
}
template <class Device>
void PoissonSolver<Device>::leave(View<const float> from, View<float> to) {
  const Storey& storey = *storeys_[0];
  for_each(device_, "poisson: leave", static_cast<std::int64_t>(to.size), SetTo<float>{0.0f, to});
  for_each(device_, "poisson: leave", storey.levels[0].cells(),
           GiveTiles{storey.list.view(), from, to});
}

template <class Device>
void PoissonSolver<Device>::precondition(View<const float> in, View<float> out) {
  Level& finest = storeys_[0]->levels[0];
  enter(in, finest.b.view());
  cycle(0, 0);
  leave(std::as_const(finest.q).view(), out);
}

template <class Device>
PoissonReport PoissonSolver<Device>::solve(View<const float> b, View<float> p, double tolerance,
                                           int most, double absolute) {
  constexpr int kPatience = 10;  // iterations without a smaller residual
  BARCHAN_ASSERT(used_ > 0);
  Level& finest = storeys_[0]->levels[0];
  const LevelTiles& tiles = finest.tiles;
  const View<float> r = finest.b.view();
  const View<const float> d = std::as_const(direction_).view();
  const View<const float> z = std::as_const(finest.q).view(), ad = std::as_const(finest.t).view();
  const View<const double> sums = std::as_const(sums_).view();

  // r = b - A p
  enter(b, r);
  enter(p, p_.view());
  closed_.balance(r);
  const double all = largest_over_cells<8>(device_, "poisson: enter", tiles, SizeOf{r});
  over_cells<8>(device_, "poisson: enter", tiles,
                Residual{finest.matrix(), r, std::as_const(p_).view(), r});
  if (!bodies_.none()) bodies_.add(std::as_const(p_).view(), -1.0f, r, sums_.data() + kBodies);
  double residual = largest_over_cells<8>(device_, "poisson: enter", tiles, SizeOf{r});
  const double unit = all > 0.0 ? all : 1.0;
  const double enough = std::max(tolerance * unit, absolute);
  PoissonReport report;
  report.first_residual = residual / unit;

  sums_.clear_to_zero();
  double least = residual;
  int waited = 0;
  while (report.iterations < most && residual > enough && waited < kPatience) {
    // z = M r, d = z + beta d, p += alpha d
    rz_ = static_cast<std::size_t>(report.iterations % 2);
    closed_.balance(r);
    cycle(0, 0);
    closed_.balance(finest.q.view());
    over_cells<8>(device_, "poisson: direction", tiles,
                  NewDirection{sums, rz_, 1 - rz_, z, direction_.view()});
    sum_over_cells<8>(device_, "poisson: direction", tiles,
                      Apply{finest.matrix(), d, finest.t.view()}, sums_.data() + kDirection);
    if (!bodies_.none()) bodies_.add(d, 1.0f, finest.t.view(), sums_.data() + kBodies);
    residual = largest_over_cells<8>(device_, "poisson: advance", tiles,
                                     Advance{sums, rz_, d, ad, p_.view(), r});
    ++report.iterations;
    waited = residual < least ? 0 : waited + 1;
    least = residual < least ? residual : least;
  }
  report.last_residual = residual / unit;
  report.largest = residual;
  leave(std::as_const(p_).view(), p);
  return report;
}

}  // namespace barchan
