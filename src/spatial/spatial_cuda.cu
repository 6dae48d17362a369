#include <algorithm>
#include <cmath>

#include "compute/grid.cuh"
#include "spatial/fill_lists.cuh"
#include "spatial/neighbours_impl.h"

namespace barchan {

namespace {

// Counts the particles of each cell; each one learns how many came before it. That order is the
// hardware's and different every time: PutInOrder makes up for it.
struct CountCells {
  View3<const float> x;
  CellFrame frame;
  View<std::uint32_t> key, arrival, count;
  __device__ void operator()(int i) const {
    const auto cell = static_cast<std::uint32_t>(frame.key(x[i]));
    key[i] = cell;
    arrival[i] = atomicAdd(count.data + cell, 1u);
  }
};

struct PlaceArrivals {
  View<const std::uint32_t> key, arrival, start;
  View<std::uint32_t> arrived;
  __device__ void operator()(int i) const {
    arrived[start[key[i]] + arrival[i]] = static_cast<std::uint32_t>(i);
  }
};

// The place of a particle within its cell is the number of those with lower indices. That looks at
// each pair in a cell, but a search for neighbours looks at 27 times as many.
struct PutInOrder {
  View<const std::uint32_t> key, start, arrived;
  View<std::uint32_t> order, cell_of;
  __device__ void operator()(int at) const {
    const std::uint32_t i = arrived[at];
    const std::uint32_t cell = key[i];
    const std::uint32_t begin = start[cell], end = start[cell + 1];
    std::uint32_t place = begin;
    for (std::uint32_t k = begin; k < end; ++k) place += arrived[k] < i ? 1u : 0u;
    order[place] = i;
    cell_of[place] = cell;
  }
};

struct ClearCount {
  View<std::uint32_t> count;
  __device__ void operator()(int i) const { count[i] = 0; }
};

// All of it, where particles and cells are few.
struct SortInOneLaunch {
  std::int64_t particles;
  ClearCount clear;
  CountCells count;
  PlaceArrivals place;
  PutInOrder put_in_order;
  __device__ void operator()(Grid& grid) const {
    for_each(grid, "cells: count", static_cast<std::int64_t>(clear.count.size), clear);
    for_each(grid, "cells: count", particles, count);
    scan_in_place(grid, clear.count);
    for_each(grid, "cells: place", particles, place);
    for_each(grid, "cells: order", particles, put_in_order);
  }
};
constexpr std::size_t kFewParticles = 1 << 18, kFewCells = 1 << 20;

void launch_fill_same(Cuda& device, const FillLists& fill) {
  if (fill.x.size == 0) return;
  const CudaTimer timer(device, "neighbours: lists");
  const auto blocks = static_cast<unsigned>((fill.x.size + kFillThreads - 1) / kFillThreads);
  run_fill_same<<<blocks, kFillThreads, 0, device.stream()>>>(fill);
  check_cuda(cudaGetLastError(), "neighbours: lists");
}

// Where there are many, a block sees to eight times as many: most look once and are done.
unsigned blocks_for_other(const FillLists& fill) {
  constexpr std::size_t kMany = 1 << 21;
  const std::size_t each = kFillThreads * (fill.x.size > kMany ? 8 : 1);
  return static_cast<unsigned>((fill.x.size + each - 1) / each);
}
void launch_fill_others(Cuda& device, const FillLists& fill, const FillLists& back) {
  const unsigned there = blocks_for_other(fill), all = there + blocks_for_other(back);
  if (all == 0) return;
  const CudaTimer timer(device, "neighbours: lists");
  run_fill_others<<<all, kFillThreads, 0, device.stream()>>>(fill, back, there);
  check_cuda(cudaGetLastError(), "neighbours: lists");
}

}  // namespace

template <>
void CellSort<Cuda>::sort_whole(View3<const float> x) {
  const auto n = static_cast<std::int64_t>(x.size);
  whole_ = true;
  keys32_.resize(x.size);
  order_.resize(x.size);
  cell_of_.resize(x.size);
  arrived_.resize(x.size);
  cell_key_.resize(0);
  cell_start_.resize(frame_.cells() + 1);
  const View<std::uint32_t> arrival = cell_of_.view();  // until it gets its own contents
  const View<const std::uint32_t> key = keys32_.view(), start = cell_start_.view();
  const CountCells count{x, frame_, keys32_.view(), arrival, cell_start_.view()};
  const PlaceArrivals place{key, arrival, start, arrived_.view()};
  const PutInOrder put{key, start, arrived_.view(), order_.view(), cell_of_.view()};
  if (x.size <= kFewParticles && cell_start_.size() <= kFewCells) {
    const auto largest = static_cast<std::int64_t>(std::max(x.size, cell_start_.size()));
    return in_one_launch(device_, "cells: sort", largest,
                         SortInOneLaunch{n, {cell_start_.view()}, count, place, put});
  }
  cell_start_.clear_to_zero();
  for_each(device_, "cells: count", n, count);
  device_.scan_in_place("cells: scan", cell_start_.view());
  for_each(device_, "cells: place", n, place);
  for_each(device_, "cells: order", n, put);
}

// Into as much room as the last builds took, and what the buffer has beyond it.
template <>
FillLists NeighbourSearch<Cuda>::prepare(Search search) {
  const std::size_t n = search.size();
  warps_ = (n + kWarp - 1) / kWarp;
  pairs_ = kUnknown;
  count_.resize(n);
  start_.resize(warps_);
  index_.resize(0);
  if (n == 0) return {};
  if (warps_ >> (64 - kRowBits) != 0) {  // more than there are blocks
    fail("neighbour lists of {} particles are more than a GPU can count; use fewer", n);
  }
  if (counter_.resize(1)) counter_.clear_to_zero();
  if (search.packed.data == nullptr) {
    const auto pack = [&](View3<const float> from, Buffer<Float4>& to) -> View<const Float4> {
      to.resize(from.size);
      for_each(device_, "neighbours: pack", static_cast<std::int64_t>(from.size),
               Pack{from, to.view()});
      return to.view();
    };
    search.packed = pack(search.x, packed_);
    search.packed_other = search.same ? search.packed : pack(search.other, packed_other_);
  }
  const RunsView runs =
      find_runs(device_, "neighbours: runs", search.cells, search.other_cells, runs_table_);
  constexpr std::uint64_t kRow = kWarp * kRowEntries;
  room_ = static_cast<std::uint64_t>(rows_a_warp_ * static_cast<double>(warps_)) + 16;
  index_.resize(room_ * kRow);
  room_ = index_.capacity() / kRow;
  if (room_ > ~std::uint32_t{0}) {
    fail("neighbour lists of {} rows pass 2^32; use fewer particles or a smaller support", room_);
  }
  if (!report_) report_ = device_.host_memory(sizeof(FillReport));
  auto* report = static_cast<FillReport*>(report_.get());
  *report = {};
  const float too_far = std::nextafter(search.radius * search.radius, 3e38f);
  return {runs,
          search.packed,
          search.packed_other,
          search.worth,
          too_far,
          search.same,
          static_cast<std::uint32_t>(room_),
          count_.view(),
          start_.view(),
          index_.data(),
          report,
          reinterpret_cast<unsigned long long*>(counter_.data())};
}

template <>
void NeighbourSearch<Cuda>::launch(Search search) {
  const FillLists fill = prepare(search);
  if (search.same) {
    launch_fill_same(device_, fill);
  } else {
    launch_fill_others(device_, fill, {});
  }
}

template <>
void NeighbourSearch<Cuda>::launch_both(Search search, NeighbourSearch& back, Search search_back) {
  launch_fill_others(device_, prepare(search), back.prepare(search_back));
}

template <>
bool NeighbourSearch<Cuda>::settled() {
  if (count_.size() == 0) return true;
  const FillReport report = *static_cast<const FillReport*>(report_.get());
  rows_a_warp_ =
      std::max(rows_a_warp_, static_cast<double>(report.rows) / static_cast<double>(warps_));
  return report.rows <= room_;
}

template <>
void NeighbourSearch<Cuda>::build(Search search) {
  do {
    launch(search);
    device_.wait();
  } while (!settled());
}

// The reference is a yardstick for the CPU.
template <>
void NeighbourSearch<Cuda>::build_reference(const CellsView& cells, View3<const float> x,
                                            const CellsView& other_cells, View3<const float> other,
                                            float radius) {
  const bool same = x.x == other.x;
  build(Search{cells, other_cells, x, other, {}, {}, radius, same, {}});
}

template Bounds bounds_of(Cuda&, View3<const float>);
template Extent extent_of(Cuda&, View3<const float>, float);
template void permute_packed(Cuda&, View3<const float>, View<const std::uint32_t>, Buffer<Float4>&);
template RunsView find_runs(Cuda&, const char*, const CellsView&, const CellsView&,
                            Buffer<std::uint32_t>&);
template class CellSort<Cuda>;
template class NeighbourSearch<Cuda>;
template float max_displacement(Cuda&, View3<const float>, View3<const float>);

}  // namespace barchan
