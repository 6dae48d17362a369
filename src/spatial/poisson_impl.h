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
      main_{std::make_unique<PoissonLevels>(), {}, {}},
      aside_{std::make_unique<PoissonLevels>(), {}, {}},
      aside_fields_(device),
      bodies_(device),
      closed_(device),
      sums_(device, kCgSums),
      reports_(device.host_memory(kReports * sizeof(PoissonReport))) {}

template <class Device>
PoissonSolver<Device>::~PoissonSolver() = default;

// ---- Levels

template <class Device>
void PoissonSolver<Device>::expect(const TileView& grid, View<const std::uint8_t> cells) {
  flag_tiles(grid, FlagTilesOf{cells, {}});
  expected_ = true;
}

template <class Device>
template <class Flag>
void PoissonSolver<Device>::flag_tiles(const TileView& grid, Flag flag) {
  flags_.resize(grid.number.size);
  flags_.clear_to_zero();
  flag.flag = flags_.view();
  for_each(device_, "poisson: tiles",
           static_cast<std::int64_t>(grid.number.size) * kTileEdge * kTileEdge, flag);
  fetch_tiles(grid);
}

// The tiles' numbers and flags, on their way to the host.
template <class Device>
void PoissonSolver<Device>::fetch_tiles(const TileView& grid) {
  const std::size_t tiles = grid.number.size, bytes = tiles * sizeof(std::uint64_t);
  found_.resize(tiles);
  for_each(device_, "poisson: tiles", static_cast<std::int64_t>(tiles),
           FoundTiles{grid.number, std::as_const(flags_).view(), found_.view()});
  if (bytes > fetched_room_) {
    fetched_room_ = bytes + bytes / 4;
    fetched_ = device_.host_memory(fetched_room_);
  }
  device_.download_later(fetched_.get(), found_.data(), bytes);
}

template <class Device>
void PoissonSolver<Device>::prepare(const TileView& grid, const PoissonMatrix& matrix,
                                    const PoissonBodies& bodies) {
  if (matrix.x.size < grid.cells() || matrix.y.size < grid.cells() ||
      matrix.z.size < grid.cells() || matrix.anchor.size < grid.cells()) {
    fail("a pressure matrix needs a number for each of the grid's {} cells", grid.cells());
  }
  if (!expected_) flag_tiles(grid, FlagTiles{grid, matrix, {}});
  expected_ = false;
  device_.wait_for_download();
  const auto* found = static_cast<const std::uint64_t*>(fetched_.get());
  lay_levels(storey_tables(grid.frame, {found, found + grid.number.size}));

  const PoissonLevel& finest = main_.levels->level[0];
  in_one_launch(device_, "poisson: matrix", finest.cells(),
                SetUpLevels{*main_.levels,
                            {grid.around, table_, around_.view()},
                            {table_.list, finest.tiles, matrix, finest.x, finest.y, finest.z,
                             finest.anchor}});
  bodies_.take(bodies, table_, finest.inverse);
  closed_.find(finest.tiles, finest.matrix(), finest.inverse, bodies_);
  may_close_ = !closed_.none();
}

template <class Device>
void PoissonSolver<Device>::change(const PoissonMatrix& matrix, const PoissonBodies& bodies) {
  BARCHAN_ASSERT(main_.levels->count > 0);
  const PoissonLevel& finest = main_.levels->level[0];
  in_one_launch(device_, "poisson: matrix", finest.cells(),
                ChangeFinest{finest,
                             main_.levels->level[1],
                             {table_.list, finest.tiles, matrix, finest.x, finest.y, finest.z,
                              finest.anchor}});
  bodies_.take(bodies, table_, finest.inverse);
  if (may_close_) closed_.find(finest.tiles, finest.matrix(), finest.inverse, bodies_);
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
  main_.levels->count = 0;
  for (const StoreyTables::Storey& storey : tables.storeys) {
    const std::uint32_t* around = main_.levels->count == 0 ? around_.data() : words + storey.around;
    for (int edge = 8; edge > 0; edge /= 2) {
      PoissonLevel& level = main_.levels->level[main_.levels->count++];
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
    PoissonLevel& single = main_.levels->level[main_.levels->count - 1];
    if (storey.cell_of > 0) {
      single.tile_of = {words + storey.tile_of, storey.cell_of - storey.tile_of};
      single.cell_of = {words + storey.cell_of, storey.tiles};
    } else {
      single.extent = tables.extent;
    }
  }
  for (View<float>* field : {&main_.x, &main_.direction[0], &main_.direction[1]}) {
    *field = {next, finest_cells};
    next += finest_cells;
  }
  if (solves_in_one_launch(device_, main_.levels->level[0])) lay_aside();
}

template <class Device>
void PoissonSolver<Device>::lay_aside() {
  *aside_.levels = *main_.levels;
  PoissonLevels& levels = *aside_.levels;
  std::vector<View<float>*> fields{&aside_.x, &aside_.direction[0], &aside_.direction[1]};
  for (View<float>* field : fields) *field = main_.x;  // in size
  for (int l = 0; l < levels.count; ++l) {
    PoissonLevel& level = levels.level[l];
    fields.insert(fields.end(), {&level.b, &level.q, &level.t});
  }
  std::size_t numbers = 0;
  for (const View<float>* field : fields) numbers += field->size;
  aside_fields_.resize(numbers);
  aside_fields_.clear_to_zero();
  float* next = aside_fields_.data();
  for (View<float>* field : fields) {
    field->data = next;
    next += field->size;
  }
}

// ---- Solutions

template <class Device>
void PoissonSolver<Device>::precondition(View<const float> in, View<float> out) {
  const PoissonLevel& finest = main_.levels->level[0];
  const GridCells grid{table_.list, finest.inverse, finest.cells()};
  grid.enter(device_, in, finest.b);
  cycle(device_, *main_.levels, sums_.data());
  grid.leave(device_, finest.q, out);
}

// Bodies and closed regions have sums that only one solution can use.
template <class Device>
bool PoissonSolver<Device>::has_room_beside() const {
  return solves_in_one_launch(device_, main_.levels->level[0]) && bodies_.none() && closed_.none();
}

template <class Device>
const PoissonReport* PoissonSolver<Device>::solve_later(View<const float> b, View<float> p,
                                                        double tolerance, int most, double absolute,
                                                        Part part) {
  constexpr double kShareOf[] = {1.0, 0.25, 0.75};  // of the GPU, by part
  BARCHAN_ASSERT(main_.levels->count > 0);
  const Workplace& place = part == kAside ? aside_ : main_;
  const PoissonLevel& finest = place.levels->level[0];
  next_report_ = (next_report_ + 1) % kReports;
  PoissonReport* report = static_cast<PoissonReport*>(reports_.get()) + next_report_;
  iterate(device_,
          ConjugateGradients{*place.levels,
                             {table_.list, finest.inverse, finest.cells()},
                             bodies_.product(),
                             closed_.balance(),
                             b,
                             p,
                             place.x,
                             {place.direction[0], place.direction[1]},
                             tolerance,
                             absolute,
                             most},
          kShareOf[part], sums_.data(), report);
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
