// Bodies of CellSort, instantiated for each device in spatial_cpu.cpp and spatial_cuda.cu.
#pragma once

#include <algorithm>
#include <type_traits>

#include "spatial/cells.h"
#include "spatial/kernels.h"

namespace barchan {

template <class Device>
Bounds bounds_of(Device& device, View3<const float> x) {
  return reduce<JoinBounds>(device, "cells: extent", static_cast<std::int64_t>(x.size),
                            PointBounds{x});
}

template <class Device>
Extent extent_of(Device& device, View3<const float> x, float radius) {
  const Bounds bounds = bounds_of(device, x);
  const Vec3d lo(bounds.lo), hi(bounds.hi), size = hi - lo;
  Extent extent{bounds, 0.5 * (lo + hi)};
  if (std::max({size.x, size.y, size.z}) > kSpread * static_cast<double>(radius)) {
    const Mean mean =
        reduce<JoinMeans>(device, "cells: extent", static_cast<std::int64_t>(x.size), PointMean{x});
    extent.mean = mean.sum / static_cast<double>(mean.count);
  }
  return extent;
}

template <class Device>
CellSort<Device>::CellSort(Device& device)
    : device_(device),
      order_(device),
      cell_of_(device),
      cell_start_(device),
      arrived_(device),
      keys32_(device),
      keys64_(device),
      cell_key_(device) {}

template <class Device>
void CellSort<Device>::sort(View3<const float> x, float radius) {
  sort(x, frame_around(extent_of(device_, x, radius), radius));
}

// A table of all cells costs 4 bytes each and needs no sort of the keys: on a GPU up to 8 bytes a
// particle, or 16 MB, are well spent.
template <class Device>
bool CellSort<Device>::has_whole_table(const CellFrame& frame, std::size_t points) {
  constexpr std::uint64_t kFew = 1 << 22, kMost = 1u << 30;
  return !std::is_same_v<Device, Cpu> &&
         frame.cells() < std::min(kMost, std::max(kFew, 2 * std::uint64_t{points}));
}

// Room for a table of all cells, all of them empty, and what counts into it.
template <class Device>
CellCounter CellSort<Device>::begin_whole(const CellFrame& frame, std::size_t points) {
  frame_ = frame;
  whole_ = true;
  for (auto* numbers : {&keys32_, &order_, &cell_of_, &arrived_}) numbers->resize(points);
  cell_key_.resize(0);
  if (cell_start_.resize(frame.cells() + 1) || cleared_ < cell_start_.size()) clear();
  cleared_ = 0;
  // cell_of_ holds the arrivals until it gets its own contents.
  return {frame, keys32_.view(), cell_of_.view(), cell_start_.view()};
}

template <class Device>
CellCounter CellSort<Device>::counter(std::size_t points, const CellFrame* frame) {
  counted_ = frame != nullptr && has_whole_table(*frame, points);
  return counted_ ? begin_whole(*frame, points) : CellCounter{};
}

template <class Device>
void CellSort<Device>::clear() {
  if (!whole_) return;
  cell_start_.clear_to_zero();
  cleared_ = cell_start_.size();
}

template <class Device>
void CellSort<Device>::sort(View3<const float> x, const CellFrame& frame, std::size_t beside) {
  if constexpr (!std::is_same_v<Device, Cpu>) {
    if (has_whole_table(frame, std::max(x.size, beside))) {
      if (!counted_) begin_whole(frame, x.size);
      return sort_whole(x);
    }
  }
  frame_ = frame;
  whole_ = false;
  if (frame_.key_bits() <= 32) {
    sort_by(keys32_, x);
  } else {
    sort_by(keys64_, x);
  }
}

template <class Device>
template <class Key>
void CellSort<Device>::sort_by(Buffer<Key>& keys, View3<const float> x) {
  const auto n = static_cast<std::int64_t>(x.size);
  keys.resize(x.size);
  order_.resize(x.size);
  cell_of_.resize(x.size);
  for_each(device_, "cells: keys", n,
           CellKeys<Key, CellFrame>{x, frame_, keys.view(), order_.view()});
  device_.sort_pairs("cells: sort", keys.view(), order_.view(), frame_.key_bits());

  // Number the cells in the order of the sorted particles.
  const View<const Key> sorted = keys.view();
  for_each(device_, "cells: table", n, CellBegins<Key>{sorted, cell_of_.view()});
  const std::uint32_t cells =
      device_.exclusive_scan("cells: table", cell_of_.view(), cell_of_.view());
  cell_key_.resize(cells);
  cell_start_.resize(cells + 1);
  if (cells == 0) cell_start_.clear_to_zero();
  for_each(device_, "cells: table", n,
           CellTable<Key>{sorted, cell_of_.view(), cell_key_.view(), cell_start_.view()});
}

template <class Device>
CellsView CellSort<Device>::cells() const {
  return {frame_, cell_key_.view(), cell_start_.view(), cell_of_.view(), whole_};
}

template <class Device>
void permute_packed(Device& device, View3<const float> x, View<const std::uint32_t> order,
                    Buffer<Float4>& out) {
  out.resize(order.size);
  for_each(device, "permute packed", static_cast<std::int64_t>(order.size),
           PermutePacked{x, order, out.view()});
}

template <class Device>
RunsView find_runs(Device& device, const char* label, const CellsView& cells,
                   const CellsView& other, Buffer<std::uint32_t>& table) {
  RunsView runs;
  runs.cell_of = cells.cell_of;
  if (cells.whole && other.whole) {
    // A run begins `reach` cells before the middle one and ends as many after it.
    const CellFrame& frame = other.frame;
    runs.table = other.start.data;
    runs.first = frame.row_offset(0) - frame.reach;
    runs.stride = 1;
    runs.row = static_cast<std::uint32_t>(frame.nx);
    runs.plane = runs.row * static_cast<std::uint32_t>(frame.ny);
    runs.end = 2 * static_cast<std::uint32_t>(frame.reach) + 1;
    return runs;
  }
  // Where this set's table has all cells and the other's has not, each particle gets its own runs.
  const std::size_t items = cells.whole ? cells.cell_of.size : cells.key.size;
  if (cells.whole) runs.cell_of = {};
  table.resize(18 * items);
  for_each(device, label, static_cast<std::int64_t>(9 * items),
           FindRuns{cells, other, table.view()});
  runs.table = table.data();
  runs.stride = 18;
  runs.plane = 6;
  runs.row = 2;
  runs.end = 1;
  return runs;
}

}  // namespace barchan
