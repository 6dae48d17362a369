#include <algorithm>
#include <cmath>

#include "spatial/fill_lists.cuh"
#include "spatial/neighbours_impl.h"
#include "spatial/sort_then.cuh"

namespace barchan {

namespace {

struct NothingMore {
  __device__ void operator()(std::uint32_t, std::uint32_t) const {}
};

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
  sort_whole_then(x, "cells: order", NothingMore{});
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
  return {runs,
          search.packed,
          search.packed_other,
          search.worth,
          search.touched,
          too_far_for(search.radius),
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
  build(Search{cells, other_cells, x, other, {}, {}, radius, same, {}, {}});
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
