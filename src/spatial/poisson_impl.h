// Bodies of PoissonSolver, instantiated for each device in poisson_cpu.cpp and poisson_cuda.cu.
#pragma once

#include <utility>

#include "base/error.h"
#include "spatial/closed_regions_impl.h"
#include "spatial/poisson.h"
#include "spatial/poisson_bodies_impl.h"
#include "spatial/poisson_schedule.h"
#include "spatial/poisson_storeys.h"

namespace barchan {

template <class Device>
PoissonSolver<Device>::PoissonSolver(Device& device)
    : device_(device),
      flags_(device),
      found_(device),
      tables_(device),
      around_(device),
      rows_(device),
      fields_(device),
      levels_(std::make_unique<PoissonLevels>()),
      bodies_(device),
      closed_(device),
      sums_(device, kCgSums),
      reports_(report_memory(device, kReports)) {}

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
  // Tiles with unknowns.
  const auto all = static_cast<std::int64_t>(grid.number.size);
  flags_.resize(grid.number.size);
  flags_.clear_to_zero();
  for_each(device_, "poisson: tiles", all * kTileEdge * kTileEdge,
           FlagTiles{grid, matrix, flags_.view()});
  found_.resize(grid.number.size);
  for_each(device_, "poisson: tiles", all,
           FoundTiles{grid.number, std::as_const(flags_).view(), found_.view()});
  lay_levels(storey_tables(grid.frame, found_.download()));

  const PoissonLevel& finest = levels_->level[0];
  in_one_launch(device_, "poisson: matrix", finest.cells(),
                SetUpLevels{*levels_,
                            {grid.around, table_, around_.view()},
                            {table_.list, finest.tiles, matrix, finest.x, finest.y, finest.z,
                             finest.anchor}});
  bodies_.take(bodies, table_, finest.inverse);
  closed_.find(finest.tiles, finest.matrix(), finest.inverse, bodies_);
}

template <class Device>
void PoissonSolver<Device>::change(const PoissonMatrix& matrix, const PoissonBodies& bodies,
                                   Change how) {
  BARCHAN_ASSERT(levels_->count > 0);
  const PoissonLevel& finest = levels_->level[0];
  in_one_launch(device_, "poisson: matrix", finest.cells(),
                ChangeFinest{finest,
                             levels_->level[1],
                             {table_.list, finest.tiles, matrix, finest.x, finest.y, finest.z,
                              finest.anchor}});
  bodies_.take(bodies, table_, finest.inverse);
  if (how == kAnchored && closed_.none()) return;
  closed_.find(finest.tiles, finest.matrix(), finest.inverse, bodies_);
}

// Four levels a storey, full of zeros.
template <class Device>
void PoissonSolver<Device>::lay_levels(const StoreyTables& tables) {
  tables_.upload(tables.words);
  const std::uint32_t* words = tables_.data();
  const std::size_t finest_tiles = tables.storeys.front().tiles;
  table_ = {{words + tables.before, tables.list - tables.before},
            {words + tables.list, finest_tiles}};
  around_.resize(finest_tiles * 27);
  const std::size_t finest_cells = (finest_tiles + 1) * kTileCells;
  std::size_t tiles = 0, numbers = 3 * finest_cells;
  for (const StoreyTables::Storey& storey : tables.storeys) {
    tiles += storey.tiles;
    numbers += (storey.tiles + 1) * (512 + 64 + 8 + 1) * PoissonLevel::kFields;
  }
  fields_.resize(numbers);
  fields_.clear_to_zero();
  rows_.resize(tiles * 2 * 4);
  rows_.clear_to_zero();

  float* next = fields_.data();
  std::uint32_t* row = rows_.data();
  levels_->count = 0;
  for (const StoreyTables::Storey& storey : tables.storeys) {
    const std::uint32_t* around = levels_->count == 0 ? around_.data() : words + storey.around;
    for (int edge = 8; edge > 0; edge /= 2) {
      PoissonLevel& level = levels_->level[levels_->count++];
      level = {};
      level.edge = edge;
      level.rows = {row, storey.tiles * 2};
      level.tiles = {{around, storey.tiles * 27}, level.rows, storey.tiles};
      const std::size_t cells = (storey.tiles + 1) * static_cast<std::size_t>(edge * edge * edge);
      for (View<float>* field : {&level.x, &level.y, &level.z, &level.anchor, &level.inverse,
                                 &level.weight, &level.b, &level.q, &level.t}) {
        *field = {next, cells};
        next += cells;
      }
      row += storey.tiles * 2;
    }
    PoissonLevel& single = levels_->level[levels_->count - 1];
    if (storey.cell_of > 0) {
      single.tile_of = {words + storey.tile_of, storey.cell_of - storey.tile_of};
      single.cell_of = {words + storey.cell_of, storey.tiles};
    } else {
      single.extent = tables.extent;
    }
  }
  for (View<float>* field : {&p_, &direction_[0], &direction_[1]}) {
    *field = {next, finest_cells};
    next += finest_cells;
  }
}

// ---- Solutions

template <class Device>
void PoissonSolver<Device>::precondition(View<const float> in, View<float> out) {
  const PoissonLevel& finest = levels_->level[0];
  const GridCells grid{table_.list, finest.inverse, finest.cells()};
  grid.enter(device_, in, finest.b);
  cycle(device_, *levels_, sums_.data());
  grid.leave(device_, finest.q, out);
}

template <class Device>
const PoissonReport* PoissonSolver<Device>::solve_later(View<const float> b, View<float> p,
                                                        double tolerance, int most,
                                                        double absolute) {
  BARCHAN_ASSERT(levels_->count > 0);
  const PoissonLevel& finest = levels_->level[0];
  next_report_ = (next_report_ + 1) % kReports;
  PoissonReport* report = reports_.get() + next_report_;
  iterate(device_,
          ConjugateGradients{*levels_,
                             {table_.list, finest.inverse, finest.cells()},
                             bodies_.product(),
                             closed_.balance(),
                             b,
                             p,
                             p_,
                             {direction_[0], direction_[1]},
                             tolerance,
                             absolute,
                             most},
          sums_.data(), report);
  return report;
}

template <class Device>
PoissonReport PoissonSolver<Device>::solve(View<const float> b, View<float> p, double tolerance,
                                           int most, double absolute) {
  const PoissonReport* report = solve_later(b, p, tolerance, most, absolute);
  device_.wait();
  return *report;
}

}  // namespace barchan
