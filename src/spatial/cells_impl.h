// Bodies of CellSort, instantiated for each device in spatial_cpu.cpp and spatial_cuda.cu.
#pragma once

#include "spatial/cells.h"
#include "spatial/kernels.h"

namespace barchan {

template <class Device>
Extent extent_of(Device& device, View3<const float> x) {
  return reduce<JoinExtent>(device, "cells: extent", static_cast<std::int64_t>(x.size),
                            PointExtent{x});
}

template <class Device>
CellSort<Device>::CellSort(Device& device)
    : device_(device),
      order_(device),
      cell_of_(device),
      cell_start_(device),
      keys32_(device),
      keys64_(device),
      cell_key_(device) {}

template <class Device>
void CellSort<Device>::sort(View3<const float> x, float radius) {
  sort(x, frame_around(extent_of(device_, x), radius));
}

template <class Device>
void CellSort<Device>::sort(View3<const float> x, const CellFrame& frame) {
  frame_ = frame;
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
  for_each(device_, "cells: keys", n, CellKeys<Key>{x, frame_, keys.view(), order_.view()});
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
  return {frame_, cell_key_.view(), cell_start_.view(), cell_of_.view()};
}

}  // namespace barchan
