// CellSort on a GPU, for frames of few cells: counts, places and puts in order instead of sorting.
// What is to be done with each point in its new place is done by the same launch.
#pragma once

#include <algorithm>
#include <utility>

#include "compute/grid.cuh"
#include "spatial/cells.h"
#include "spatial/kernels.h"

namespace barchan {

struct CountCells {
  View3<const float> x;
  CellCounter counter;
  __device__ void operator()(int i) const { counter(i, x[i]); }
};

struct PlaceArrivals {
  View<const std::uint32_t> key, arrival, start;
  View<std::uint32_t> arrived;
  __device__ void operator()(int i) const {
    arrived[start[key[i]] + arrival[i]] = static_cast<std::uint32_t>(i);
  }
};

// The order of arrivals is the hardware's, and different every time. The place of a particle within
// its cell is the number of those with lower indices. That looks at each pair in a cell, but a
// search for neighbours looks at 27 times as many.
template <class Then>
struct PutInOrder {
  View<const std::uint32_t> key, start, arrived;
  View<std::uint32_t> order, cell_of;
  Then then;
  __device__ void operator()(int at) const {
    const std::uint32_t i = arrived[at];
    const std::uint32_t cell = key[i];
    const std::uint32_t begin = start[cell], end = start[cell + 1];
    std::uint32_t place = begin;
    for (std::uint32_t k = begin; k < end; ++k) place += arrived[k] < i ? 1u : 0u;
    order[place] = i;
    cell_of[place] = cell;
    then(i, place);
  }
};

// All of it, where particles and cells are few.
template <class Then>
struct SortInOneLaunch {
  std::int64_t particles;
  bool counted;
  CountCells count;
  PlaceArrivals place;
  PutInOrder<Then> put_in_order;
  __device__ void operator()(Grid& grid) const {
    if (!counted) for_each(grid, "cells: count", particles, count);
    scan_in_place(grid, count.counter.count);
    for_each(grid, "cells: place", particles, place);
    for_each(grid, "cells: order", particles, put_in_order);
  }
};
inline constexpr std::size_t kFewParticles = 1 << 18, kFewCells = 1 << 20;

template <>
template <class Then>
void CellSort<Cuda>::sort_whole_then(View3<const float> x, const char* label, const Then& then) {
  const auto n = static_cast<std::int64_t>(x.size);
  const View<std::uint32_t> arrival = cell_of_.view();
  const View<const std::uint32_t> key = keys32_.view(), start = cell_start_.view();
  const CountCells count{x, {frame_, keys32_.view(), arrival, cell_start_.view()}};
  const PlaceArrivals place{key, arrival, start, arrived_.view()};
  const PutInOrder<Then> put{key, start, arrived_.view(), order_.view(), cell_of_.view(), then};
  const bool counted = std::exchange(counted_, false);
  if (x.size <= kFewParticles && cell_start_.size() <= kFewCells) {
    const auto largest = static_cast<std::int64_t>(std::max(x.size, cell_start_.size()));
    return in_one_launch(device_, "cells: sort", largest,
                         SortInOneLaunch<Then>{n, counted, count, place, put});
  }
  if (!counted) for_each(device_, "cells: count", n, count);
  device_.scan_in_place("cells: scan", cell_start_.view());
  for_each(device_, "cells: place", n, place);
  for_each(device_, label, n, put);
}

template <>
template <class Then>
void CellSort<Cuda>::sort_then(View3<const float> x, const CellFrame& frame, const char* label,
                               const Then& then) {
  if (counted_) return sort_whole_then(x, label, then);
  sort(x, frame);
  // No table of all cells, or a first step: a launch of its own.
  for_each(device_, label, static_cast<std::int64_t>(x.size), ThenInOrder<Then>{order(), then});
}

}  // namespace barchan
