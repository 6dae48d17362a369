// Bodies of NeighbourSearch that both devices share, instantiated in spatial_cpu.cpp and
// spatial_cuda.cu. build(const Search&) is written for each device there.
#pragma once

#include <cmath>

#include "compute/reduce_ops.h"
#include "spatial/cells_impl.h"
#include "spatial/neighbours.h"

namespace barchan {

template <class Device>
NeighbourSearch<Device>::NeighbourSearch(Device& device)
    : device_(device),
      start_(device),
      count_(device),
      index_(device),
      runs_(device),
      places_(device),
      packed_(device),
      packed_other_(device) {}

template <class Device>
void NeighbourSearch<Device>::build(const CellsView& cells, View3<const float> x, float radius) {
  build(Search{cells, cells, x, x, radius, true});
}

template <class Device>
void NeighbourSearch<Device>::build(const CellsView& cells, View3<const float> x,
                                    const CellsView& other_cells, View3<const float> other,
                                    float radius) {
  build(Search{cells, other_cells, x, other, radius, false});
}

template <class Device>
void NeighbourSearch<Device>::find_runs(const Search& search) {
  const std::size_t cells = search.cells.key.size;
  runs_.resize(18 * cells);
  for_each(device_, "neighbours: runs", static_cast<std::int64_t>(9 * cells),
           FindRuns{search.cells, search.other_cells, runs_.view()});
}

template <class Device>
void NeighbourSearch<Device>::build_reference(const CellsView& cells, View3<const float> x,
                                              const CellsView& other_cells,
                                              View3<const float> other, float radius) {
  static_assert(list_stride() == 1, "the reference runs on the host");
  const auto n = static_cast<std::int64_t>(x.size);
  const Search search{cells, other_cells, x, other, radius, x.x == other.x};
  find_runs(search);
  start_.resize(x.size);
  count_.resize(x.size);
  start_.clear_to_zero();
  FillList<View3<const float>> fill{
      cells.cell_of,   runs_.view(),  x, other, radius * radius, search.same, 0,
      {start_.view()}, count_.view(), {}};
  for_each(device_, "neighbours: reference", n, fill);
  pairs_ = device_.exclusive_scan("neighbours: reference", count_.view(), start_.view());
  index_.resize(pairs_);
  fill.index = index_.view();
  fill.room = ~0u;
  for_each(device_, "neighbours: reference", n, fill);
}

template <class Device>
float max_displacement(Device& device, View3<const float> now, View3<const float> before) {
  return std::sqrt(reduce<Largest<float>>(device, "neighbours: displacement",
                                          static_cast<std::int64_t>(now.size),
                                          Displacement{now, before}));
}

}  // namespace barchan
