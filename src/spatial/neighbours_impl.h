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
      runs_table_(device),
      places_(device),
      packed_(device),
      packed_other_(device),
      unpacked_(device),
      unpacked_other_(device),
      counter_(device) {}

template <class Device>
void NeighbourSearch<Device>::build(const CellsView& cells, View3<const float> x, float radius) {
  build(Search{cells, cells, x, x, {}, {}, radius, true, {}, {}});
}

template <class Device>
void NeighbourSearch<Device>::build(const CellsView& cells, View3<const float> x,
                                    const CellsView& other_cells, View3<const float> other,
                                    float radius) {
  build(Search{cells, other_cells, x, other, {}, {}, radius, false, {}, {}});
}

template <class Device>
void NeighbourSearch<Device>::build(const CellsView& cells, View<const Float4> x, float radius) {
  build(Search{cells, cells, {}, {}, x, x, radius, true, {}, {}});
}

template <class Device>
void NeighbourSearch<Device>::build(const CellsView& cells, View<const Float4> x,
                                    const CellsView& other_cells, View<const Float4> other,
                                    float radius) {
  build(Search{cells, other_cells, {}, {}, x, other, radius, false, {}, {}});
}

template <class Device>
void NeighbourSearch<Device>::build_later(const CellsView& cells, View<const Float4> x,
                                          float radius) {
  launch(Search{cells, cells, {}, {}, x, x, radius, true, {}, {}});
}

template <class Device>
void NeighbourSearch<Device>::build_both_later(NeighbourSearch& back, const CellsView& cells,
                                               View<const Float4> x, const CellsView& other_cells,
                                               View<const Float4> other, float radius,
                                               View<const std::uint8_t> worth,
                                               const Touched& touched) {
  launch_both(Search{cells, other_cells, {}, {}, x, other, radius, false, worth, touched}, back,
              Search{other_cells, cells, {}, {}, other, x, radius, false, {}, {}});
}

template <class Device>
Neighbours NeighbourSearch<Device>::view() const {
  return {count_.view(), start_.view(), index_.view()};
}

template <class Device>
std::uint64_t NeighbourSearch<Device>::pairs() const {
  if (pairs_ == kUnknown) {
    pairs_ = reduce<Sum<std::uint64_t>>(device_, "neighbours: pairs",
                                        static_cast<std::int64_t>(count_.size()),
                                        ReadCount{count_.view()});
  }
  return pairs_;
}

template <class Device>
std::vector<std::vector<std::uint32_t>> NeighbourSearch<Device>::download() const {
  const std::vector<std::uint32_t> count = count_.download();
  std::vector<std::uint64_t> start(count.size());
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < count.size(); total += count[i++]) start[i] = total;
  Buffer<std::uint64_t> to(device_);
  to.upload(start);
  Buffer<std::uint32_t> all(device_, total);
  for_each(device_, "neighbours: download", static_cast<std::int64_t>(count.size()),
           CopyList{view(), to.view(), all.view()});
  const std::vector<std::uint32_t> entries = all.download();
  std::vector<std::vector<std::uint32_t>> lists(count.size());
  for (std::size_t i = 0; i < count.size(); ++i) {
    const auto begin = entries.begin() + static_cast<std::ptrdiff_t>(start[i]);
    lists[i].assign(begin, begin + count[i]);
  }
  return lists;
}

template <class Device>
void NeighbourSearch<Device>::build_reference(const CellsView& cells, View3<const float> x,
                                              const CellsView& other_cells,
                                              View3<const float> other, float radius) {
  static_assert(!on_gpu(), "the reference runs on the host");
  const auto n = static_cast<std::int64_t>(x.size);
  const RunsView runs = find_runs(device_, "neighbours: runs", cells, other_cells, runs_table_);
  start_.resize(x.size);
  count_.resize(x.size);
  FillList fill{runs,          x, other, too_far_for(radius), x.x == other.x, start_.view(),
                count_.view(), {}};
  for_each(device_, "neighbours: reference", n, fill);
  pairs_ = device_.exclusive_scan("neighbours: reference", count_.view(), start_.view());
  index_.resize(pairs_);
  fill.index = index_.view();
  for_each(device_, "neighbours: reference", n, fill);
}

template <class Device>
float max_displacement(Device& device, View3<const float> now, View3<const float> before) {
  return std::sqrt(reduce<Largest<float>>(device, "neighbours: displacement",
                                          static_cast<std::int64_t>(now.size),
                                          Displacement{now, before}));
}

}  // namespace barchan
