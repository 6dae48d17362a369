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
struct PoissonSolver<Device>::Storey {
  std::size_t tiles = 0;
  Buffer<std::uint32_t> flags, list, around;  // list: those of the grid's tiles that have unknowns
  Buffer<float> fields;                       // of all levels
  Buffer<std::uint32_t> rows;
  std::array<PoissonLevel, 4> levels{};

  // Upwards: the tiles as cells of a grid, whose flagged tiles the next storey is made of.
  Buffer3 points;
  TileGrid<Device> grid;
  Buffer<float> x, y, z, anchor;           // the matrix over that grid's cells
  Buffer<std::uint32_t> tile_of, cell_of;  // of the next storey's cells, and of this one's tiles

  explicit Storey(Device& device)
      : flags(device),
        list(device),
        around(device),
        fields(device),
        rows(device),
        points(device),
        grid(device),
        x(device),
        y(device),
        z(device),
        anchor(device),
        tile_of(device),
        cell_of(device) {}

  // Levels full of zeros.
  void lay_levels() {
    const std::size_t sizes = 512 + 64 + 8 + 1;
    fields.resize((tiles + 1) * sizes * PoissonLevel::kFields);
    fields.clear_to_zero();
    rows.resize(tiles * 2 * levels.size());
    rows.clear_to_zero();
    float* next = fields.data();
    std::uint32_t* row = rows.data();
    int edge = 8;
    for (PoissonLevel& level : levels) {
      level = {};
      level.edge = edge;
      level.tiles = {std::as_const(around).view(), {}, tiles};
      const std::size_t cells = (tiles + 1) * static_cast<std::size_t>(edge * edge * edge);
      for (View<float>* field : {&level.x, &level.y, &level.z, &level.anchor, &level.inverse,
                                 &level.weight, &level.b, &level.q, &level.t}) {
        *field = {next, cells};
        next += cells;
      }
      level.rows = {row, tiles * 2};
      row += tiles * 2;
      edge /= 2;
    }
  }
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
  for (std::size_t i = used_; i-- > 0;)
    finish(*storeys_[i], i + 1 < used_ ? storeys_[i + 1].get() : nullptr);
  list_levels();
  const PoissonLevel& finest = levels_[0];
  for (Buffer<float>* field : {&p_, &direction_}) {
    field->resize(finest.q.size);
    field->clear_to_zero();
  }
  bodies_.take(bodies,
               {std::as_const(storeys_[0]->flags).view(), std::as_const(storeys_[0]->list).view()},
               finest.inverse);
  closed_.find(finest.tiles, finest.matrix(), finest.inverse, bodies_);
}

template <class Device>
void PoissonSolver<Device>::change(const PoissonMatrix& matrix, const PoissonBodies& bodies) {
  BARCHAN_ASSERT(used_ > 0);
  Storey& storey = *storeys_[0];
  PoissonLevel& finest = storey.levels[0];
  for_each(device_, "poisson: matrix", finest.cells(),
           TakeMatrix{std::as_const(storey.list).view(), finest.tiles, matrix, finest.x, finest.y,
                      finest.z, finest.anchor});
  invert_diagonal(finest);
  weigh(finest, storey.levels[1]);
  bodies_.take(bodies, {std::as_const(storey.flags).view(), std::as_const(storey.list).view()},
               finest.inverse);
  closed_.find(finest.tiles, finest.matrix(), finest.inverse, bodies_);
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
  storey.lay_levels();
  const PoissonLevel& finest = storey.levels[0];
  for_each(device_, "poisson: matrix", finest.cells(),
           TakeMatrix{list, finest.tiles, matrix, finest.x, finest.y, finest.z, finest.anchor});
}

template <class Device>
void PoissonSolver<Device>::coarsen(const PoissonLevel& fine, const PoissonLevel& coarse) {
  with_edge(fine.edge, [&]<int E>() {
    for_each(
        device_, "poisson: matrix", coarse.cells(),
        CoarsenFaces<E>{fine.tiles, fine.matrix(), coarse.x, coarse.y, coarse.z, coarse.anchor});
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
  const PoissonLevel& single = storey.levels[3];
  const std::pair<View<const float>, Buffer<float>*> fields[] = {{single.x, &storey.x},
                                                                 {single.y, &storey.y},
                                                                 {single.z, &storey.z},
                                                                 {single.anchor, &storey.anchor}};
  for (const auto& [from, to] : fields) {
    to->resize(next.cells());
    for_each(device_, "poisson: matrix", static_cast<std::int64_t>(next.cells()),
             TilesToCells{next.start, storey.grid.order(), from, to->view()});
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
  storey.levels[3].tile_of = std::as_const(storey.tile_of).view();
  storey.levels[3].cell_of = std::as_const(storey.cell_of).view();
}

// What the levels' matrices ask for, from the coarsest one on; above: the next storey, if any.
template <class Device>
void PoissonSolver<Device>::finish(Storey& storey, const Storey* above) {
  PoissonLevel& single = storey.levels[3];
  if (above) {
    link(storey, *above);
    for_each(device_, "poisson: matrix", single.cells(),
             Pick{single.cell_of, above->levels[0].inverse, single.inverse});
  } else {
    for_each(device_, "poisson: matrix", single.cells(), InvertLast{single.anchor, single.inverse});
  }
  for (std::size_t l = 3; l-- > 0;) {
    invert_diagonal(storey.levels[l]);
    weigh(storey.levels[l], storey.levels[l + 1]);
  }
}

// And the rows that have unknowns.
template <class Device>
void PoissonSolver<Device>::invert_diagonal(PoissonLevel& level) {
  with_edge(level.edge, [&]<int E>() {
    over_cells<E>(device_, "poisson: matrix", level.tiles,
                  InvertDiagonal{level.matrix(), level.inverse});
    for_each(device_, "poisson: matrix", static_cast<std::int64_t>(level.tiles.tiles) * E * E,
             MarkRows<E>{level.inverse, level.rows});
    level.tiles.rows = level.rows;
  });
}

// The fine level's weights, by interpolating ones.
template <class Device>
void PoissonSolver<Device>::weigh(const PoissonLevel& fine, const PoissonLevel& coarse) {
  for_each(device_, "poisson: weights", fine.cells(),
           StartWeights{coarse.inverse, coarse.q, fine.weight});
  with_edge(fine.edge, [&]<int E>() {
    between_levels<E>(device_, "poisson: weights", fine.prolong_from<E>(coarse));
  });
  for_each(device_, "poisson: weights", fine.cells(),
           WeighCells{fine.inverse, fine.anchor, fine.q, fine.weight});
}

// All levels in one list, and from where on they are few cells. The finest is none of those: its
// sum is for conjugate gradients.
template <class Device>
void PoissonSolver<Device>::list_levels() {
  levels_.clear();
  for (std::size_t i = 0; i < used_; ++i) {
    for (const PoissonLevel& level : storeys_[i]->levels) levels_.push_back(level);
  }
  few_ = levels_.size();
  if constexpr (kFewCells < Device >> 0) {
    while (few_ > 1 && levels_.size() - few_ < kMostFewLevels &&
           levels_[few_ - 1].cells() <= kFewCells<Device>) {
      --few_;
    }
  }
}

// ---- The V-cycle: q = M b on the finest level.

template <class Device>
void PoissonSolver<Device>::cycle() {
  for (std::size_t l = 0; l < few_; ++l) go_down(l);
  if constexpr (kFewCells < Device >> 0) {
    few_levels(device_, "poisson: coarse", levels_.data() + few_, levels_.size() - few_);
  }
  for (std::size_t l = few_; l-- > 0;) go_up(l);
}

template <class Device>
void PoissonSolver<Device>::go_down(std::size_t l) {
  const char* label = l == 0 ? "poisson: smooth" : "poisson: coarse";
  const PoissonLevel& here = levels_[l];
  if (l + 1 == levels_.size()) {
    for_each(device_, label, here.cells(), here.solve_last());
  } else if (here.edge == 1) {
    for_each(device_, label, levels_[l + 1].cells(), here.climb_to(levels_[l + 1]));
  } else {
    with_edge(here.edge, [&]<int E>() {
      over_cells<E>(device_, label, here.tiles, here.smooth_from_zero());
      over_cells<E>(device_, label, here.tiles, here.residual());
      between_levels<E>(device_, label, here.restrict_to<E>(levels_[l + 1]));
    });
  }
}

template <class Device>
void PoissonSolver<Device>::go_up(std::size_t l) {
  const char* label = l == 0 ? "poisson: smooth" : "poisson: coarse";
  const PoissonLevel& here = levels_[l];
  if (l + 1 == levels_.size()) return;
  if (here.edge == 1) {
    return for_each(device_, label, here.cells(), here.descend_from(levels_[l + 1]));
  }
  with_edge(here.edge, [&]<int E>() {
    between_levels<E>(device_, label, here.prolong_from<E>(levels_[l + 1]));
    over_cells<E>(device_, label, here.tiles, here.smooth_first());
    if (l == 0) {
      sum_over_cells<E>(device_, label, here.tiles, here.smooth_last(), sums_.data() + rz_);
    } else {
      over_cells<E>(device_, label, here.tiles, here.smooth_last());
    }
  });
}

// ---- Conjugate gradients

// A field of the grid's cells into one of the finest level, and back.
template <class Device>
void PoissonSolver<Device>::enter(View<const float> from, View<float> to) {
  const Storey& storey = *storeys_[0];
  for_each(device_, "poisson: enter", storey.levels[0].cells(),
           TakeUnknowns{storey.list.view(), from, storey.levels[0].inverse, to});
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
  enter(in, levels_[0].b);
  cycle();
  leave(levels_[0].q, out);
}

template <class Device>
PoissonReport PoissonSolver<Device>::solve(View<const float> b, View<float> p, double tolerance,
                                           int most, double absolute) {
  constexpr int kPatience = 10;  // iterations without a smaller residual
  BARCHAN_ASSERT(used_ > 0);
  const PoissonLevel& finest = levels_[0];
  const LevelTiles& tiles = finest.tiles;
  const View<float> r = finest.b;
  const View<const float> d = std::as_const(direction_).view(), z = finest.q, ad = finest.t;
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
    cycle();
    closed_.balance(finest.q);
    over_cells<8>(device_, "poisson: direction", tiles,
                  NewDirection{sums, rz_, 1 - rz_, z, direction_.view()});
    sum_over_cells<8>(device_, "poisson: direction", tiles, Apply{finest.matrix(), d, finest.t},
                      sums_.data() + kDirection);
    if (!bodies_.none()) bodies_.add(d, 1.0f, finest.t, sums_.data() + kBodies);
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
