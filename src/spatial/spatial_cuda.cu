#include <algorithm>

#include "compute/cuda.cuh"
#include "spatial/neighbours_impl.h"

namespace barchan {

namespace {

// Room for a warp: 32 times its longest list.
struct WarpRoom {
  View<const std::uint32_t> count;
  View<std::uint32_t> room;
  __device__ void operator()(int warp) const {
    std::uint32_t longest = 0;
    const std::size_t after = (static_cast<std::size_t>(warp) + 1) * kWarp;
    const std::size_t end = after < count.size ? after : count.size;
    for (std::size_t i = static_cast<std::size_t>(warp) * kWarp; i < end; ++i) {
      longest = count[i] > longest ? count[i] : longest;
    }
    room[warp] = longest * kWarp;
  }
};

struct WarpStarts {
  View<const std::uint32_t> place;
  View<std::uint32_t> start;
  __device__ void operator()(int i) const { start[i] = place[i / kWarp] + i % kWarp; }
};

}  // namespace

// One pass with even room for all lists; where a list is longer, the lists are laid out anew with
// the room that each warp needs.
template <>
void NeighbourSearch<Cuda>::build(const Search& search) {
  const auto n = static_cast<std::int64_t>(search.x.size);
  count_.resize(search.x.size);
  if (n == 0) {
    index_.resize(0);
    pairs_ = 0;
    return;
  }
  find_runs(search);
  const std::int64_t warps = (n + kWarp - 1) / kWarp;
  const auto width = static_cast<std::uint32_t>(guess_);
  if (static_cast<std::uint64_t>(warps) * kWarp * width > ~std::uint32_t{0}) {
    fail("neighbour lists of {} particles pass 2^32 entries; use fewer particles", n);
  }
  index_.resize(static_cast<std::size_t>(warps) * kWarp * width);
  packed_.resize(search.x.size);
  for_each(device_, "neighbours: pack", n, Pack{search.x, packed_.view()});
  if (!search.same) {
    packed_other_.resize(search.other.size);
    for_each(device_, "neighbours: pack", static_cast<std::int64_t>(search.other.size),
             Pack{search.other, packed_other_.view()});
  }
  const View<const Float4> points = std::as_const(packed_).view();
  const View<const Float4> others = search.same ? points : std::as_const(packed_other_).view();
  even_width_ = width;
  FillList<View<const Float4>> fill{search.cells.cell_of,
                                    runs_.view(),
                                    points,
                                    others,
                                    search.radius * search.radius,
                                    search.same,
                                    width,
                                    {{}, even_width_},
                                    count_.view(),
                                    index_.view()};
  for_each(device_, "neighbours: lists", n, fill);
  const SumAndLargest all =
      reduce<JoinSumAndLargest>(device_, "neighbours: count", n, ReadSumAndLargest{count_.view()});
  pairs_ = all.sum;
  if (all.largest <= width) return;

  even_width_ = 0;
  start_.resize(search.x.size);
  guess_ = std::min<double>(static_cast<double>(all.largest) + 8.0, 96.0);
  places_.resize(static_cast<std::size_t>(warps));
  for_each(device_, "neighbours: lists", warps, WarpRoom{count_.view(), places_.view()});
  index_.resize(device_.exclusive_scan("neighbours: lists", places_.view(), places_.view()));
  for_each(device_, "neighbours: lists", n, WarpStarts{places_.view(), start_.view()});
  fill.places = {std::as_const(start_).view()};
  fill.room = ~0u;
  fill.index = index_.view();
  for_each(device_, "neighbours: lists", n, fill);
}

// The reference is a yardstick for the CPU; on a GPU the generic kernel is the fast one already.
template <>
void NeighbourSearch<Cuda>::build_reference(const CellsView& cells, View3<const float> x,
                                            const CellsView& other_cells, View3<const float> other,
                                            float radius) {
  build(Search{cells, other_cells, x, other, radius, x.x == other.x});
}

template Extent extent_of(Cuda&, View3<const float>);
template class CellSort<Cuda>;
template class NeighbourSearch<Cuda>;
template float max_displacement(Cuda&, View3<const float>, View3<const float>);

}  // namespace barchan
