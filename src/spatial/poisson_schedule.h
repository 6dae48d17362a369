// The order of the kernels behind poisson.h: laying out the levels, the V-cycle, and conjugate
// gradients. Templates over the device, which may be the threads of one launch (compute/grid.cuh).
//
// What is not said here and differs between devices: over_cells, sum_over_cells,
// largest_over_cells, between_levels, weigh, solve_last and cycle (poisson_rows_cpu.h,
// poisson_cells.cuh).
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "spatial/closed_region_kernels.h"
#include "spatial/poisson_body_kernels.h"
#include "spatial/poisson_kernels.h"

namespace barchan {

// f.operator()<edge>() of a level that has neighbours within it.
HD_SCHEDULE
template <class F>
HD void with_edge(int edge, const F& f) {
  switch (edge) {
    case 8:
      return f.template operator()<8>();
    case 4:
      return f.template operator()<4>();
    default:
      return f.template operator()<2>();
  }
}

// ---- Levels

// D^-1 of a level, wherever there may be unknowns.
HD_SCHEDULE
template <class Device>
HD void invert_diagonal(Device& device, const PoissonLevel& level) {
  LevelTiles all = level.tiles;
  all.rows = {};
  with_edge(level.edge, [&]<int E>() {
    over_cells<E>(device, "poisson: matrix", all, InvertDiagonal{level.matrix(), level.inverse});
  });
}
HD_SCHEDULE
template <class Device>
HD void mark_rows(Device& device, const PoissonLevel& level) {
  with_edge(level.edge, [&]<int E>() {
    for_each(device, "poisson: matrix", static_cast<std::int64_t>(level.tiles.tiles) * E * E,
             MarkRows<E>{level.inverse, level.rows});
  });
}
HD_SCHEDULE
template <class Device>
HD void weigh_level(Device& device, const PoissonLevel& fine, const PoissonLevel& coarse) {
  with_edge(fine.edge, [&]<int E>() { weigh<E>(device, fine, coarse); });
}
HD_SCHEDULE
template <class Device>
HD void coarsen(Device& device, const PoissonLevel& fine, const PoissonLevel& coarse) {
  if (fine.edge == 1) {
    return for_each(
        device, "poisson: matrix", coarse.cells(),
        PickMatrix{fine.tile_of, fine.matrix(), coarse.x, coarse.y, coarse.z, coarse.anchor});
  }
  with_edge(fine.edge, [&]<int E>() {
    for_each(
        device, "poisson: matrix", coarse.cells(),
        CoarsenFaces<E>{fine.tiles, fine.matrix(), coarse.x, coarse.y, coarse.z, coarse.anchor});
  });
}

// All levels, which are zero before, from the grid's matrix.
struct SetUpLevels {
  PoissonLevels levels;
  KeepAround around;
  TakeMatrix take;

  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    const char* label = "poisson: matrix";
    const PoissonLevel* level = levels.level;
    const int last = levels.count - 1;
    for_each(device, label, static_cast<std::int64_t>(around.kept.size), around);
    for_each(device, label, level[0].cells(), take);
    for (int l = 0; l < last; ++l) coarsen(device, level[l], level[l + 1]);

    begin_together(device);
    for (int l = 0; l < last; ++l) {
      if (level[l].edge > 1) invert_diagonal(device, level[l]);
    }
    for_each(device, label, level[last].cells(), InvertLast{level[last]});
    end_together(device);

    begin_together(device);
    for (int l = 0; l < last; ++l) {
      if (level[l].edge > 1) {
        mark_rows(device, level[l]);
      } else {
        for_each(device, label, level[l].cells(),
                 Pick{level[l].cell_of, level[l + 1].inverse, level[l].inverse});
      }
    }
    end_together(device);
    for (int l = last; l-- > 0;) {
      if (level[l].edge > 1) weigh_level(device, level[l], level[l + 1]);
    }
  }
};

// The finest level alone.
struct ChangeFinest {
  PoissonLevel finest, coarse;
  TakeMatrix take;

  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    for_each(device, "poisson: matrix", finest.cells(), take);
    invert_diagonal(device, finest);
    mark_rows(device, finest);
    weigh_level(device, finest, coarse);
  }
};

// ---- The V-cycle: q = M b on the finest level.

HD_SCHEDULE
template <class Device>
HD void go_down(Device& device, const PoissonLevels& levels, int l) {
  const char* label = l == 0 ? "poisson: smooth" : "poisson: coarse";
  const PoissonLevel &here = levels.level[l], &next = levels.level[l + 1];
  if (here.edge == 1) {
    for_each(device, label, next.cells(), here.climb_to(next));
  } else {
    with_edge(here.edge, [&]<int E>() {
      over_cells<E>(device, label, here.tiles, here.smooth_from_zero());
      over_cells<E>(device, label, here.tiles, here.residual());
      between_levels<E>(device, label, here.restrict_to<E>(next));
    });
  }
}

HD_SCHEDULE
template <class Device>
HD void go_up(Device& device, const PoissonLevels& levels, int l) {
  const char* label = "poisson: coarse";
  const PoissonLevel &here = levels.level[l], &next = levels.level[l + 1];
  if (here.edge == 1) {
    return for_each(device, label, here.cells(), here.descend_from(next));
  }
  with_edge(here.edge, [&]<int E>() {
    between_levels<E>(device, label, here.prolong_from<E>(next));
    over_cells<E>(device, label, here.tiles, here.smooth_first());
    over_cells<E>(device, label, here.tiles, here.smooth_last());
  });
}

// From level `from` on, which is not the finest.
HD_SCHEDULE
template <class Device>
HD void go_down_and_up(Device& device, const PoissonLevels& levels, int from) {
  const int last = levels.count - 1;
  for (int l = from; l < last; ++l) go_down(device, levels, l);
  solve_last(device, levels.level[last]);
  for (int l = last; l-- > from;) go_up(device, levels, l);
}

// The finest level's way up; leaves the sum of b q.
HD_SCHEDULE
template <class Device>
HD void go_up_finest(Device& device, const PoissonLevels& levels, double* bq) {
  const char* label = "poisson: smooth";
  const PoissonLevel &here = levels.level[0], &next = levels.level[1];
  between_levels<8>(device, label, here.prolong_from<8>(next));
  over_cells<8>(device, label, here.tiles, here.smooth_first());
  sum_over_cells<8>(device, label, here.tiles, here.smooth_last(), bq);
}

// ---- Conjugate gradients

// A field of the grid's cells into one of the finest level, and back.
struct GridCells {
  View<const std::uint32_t> list;
  View<const float> inverse;
  std::int64_t cells;

  HD_SCHEDULE
  template <class Device>
  HD void enter(Device& device, View<const float> from, View<float> to) const {
    for_each(device, "poisson: enter", cells, TakeUnknowns{list, from, inverse, to});
  }
  HD_SCHEDULE
  template <class Device>
  HD void leave(Device& device, View<const float> from, View<float> to) const {
    for_each(device, "poisson: leave", static_cast<std::int64_t>(to.size), SetTo<float>{0.0f, to});
    for_each(device, "poisson: leave", cells, GiveTiles{list, from, to});
  }
};

struct ConjugateGradients {
  PoissonLevels levels;
  GridCells grid;
  BodyProduct bodies;
  Balance balance;
  View<const float> b;  // over the grid's cells
  View<float> p;        // the same: the guess, then the solution
  View<float> x;        // over the finest level's: the solution
  View<float> d[2];     // and the directions of this iteration and the last, which take turns
  double tolerance, absolute;
  int most;

  // sums: kCgSums numbers of the device; of each block, where that is a launch.
  HD_SCHEDULE
  template <class Device>
  HD PoissonReport operator()(Device& device, double* sums) const {
    constexpr int kPatience = 10;  // iterations without a smaller residual
    const PoissonLevel& finest = levels.level[0];
    const LevelTiles& tiles = finest.tiles;
    const View<float> r = finest.b, ad = finest.t;

    // r = b - A x
    begin_together(device);
    grid.enter(device, b, r);
    grid.enter(device, p, x);
    end_together(device);
    balance(device, r);
    const double all = largest_over_cells<8>(device, "poisson: enter", tiles, SizeOf{r});
    over_cells<8>(device, "poisson: enter", tiles, Residual{finest.matrix(), r, x, r});
    if (!bodies.none()) bodies.add(device, x, -1.0f, r, sums + kBodies);
    double residual = largest_over_cells<8>(device, "poisson: enter", tiles, SizeOf{r});
    const double unit = all > 0.0 ? all : 1.0;
    const double enough = tolerance * unit > absolute ? tolerance * unit : absolute;
    PoissonReport report;
    report.first_residual = residual / unit;

    double least = residual;
    int waited = 0;
    while (report.iterations < most && residual > enough && waited < kPatience) {
      // z = M r, d = z + beta d, x += alpha d
      const auto rz = static_cast<std::size_t>(report.iterations % 2);
      balance(device, r);
      cycle(device, levels, sums + rz);
      balance(device, finest.q);
      const bool first = report.iterations == 0;
      const View<float> now = rz == 0 ? d[0] : d[1], before = rz == 0 ? d[1] : d[0];
      sum_over_cells<8>(
          device, "poisson: direction", tiles,
          NewDirection{sums, rz, 1 - rz, first, finest.matrix(), finest.q, before, now, ad},
          sums + kDirection);
      if (!bodies.none()) bodies.add(device, now, 1.0f, ad, sums + kBodies);
      residual = largest_over_cells<8>(device, "poisson: advance", tiles,
                                       Advance{sums, rz, !bodies.none(), now, ad, x, r});
      ++report.iterations;
      waited = residual < least ? 0 : waited + 1;
      least = residual < least ? residual : least;
    }
    report.last_residual = residual / unit;
    report.largest = residual;
    grid.leave(device, x, p);
    return report;
  }
};

}  // namespace barchan
