#include "base/error.h"
#include "compute/cpu.h"
#include "spatial/kernels_cpu.h"
#include "spatial/neighbours_impl.h"

namespace barchan {

namespace {

// What the lists of each block of cells take.
struct BlockTotals {
  std::vector<std::uint64_t> room, entries;
};

// `first_of(b)`: the first particle of block b.
template <class First>
BlockTotals totals_of(Cpu& device, std::size_t blocks, const First& first_of,
                      const std::uint32_t* count) {
  BlockTotals totals{std::vector<std::uint64_t>(blocks), std::vector<std::uint64_t>(blocks)};
  device.pool().parallel_blocks(blocks, [&](std::size_t b) {
    std::uint64_t room = 0, sum = 0;
    for (std::uint64_t i = first_of(b); i < first_of(b + 1); ++i) {
      room += list_room(count[i]);
      sum += count[i];
    }
    totals.room[b] = room;
    totals.entries[b] = sum;
  });
  return totals;
}

// Blocks one behind the other, each with the room that it takes. Returns the room of all.
std::uint64_t place_exactly(const std::vector<std::uint64_t>& room, View<std::uint32_t> place) {
  constexpr std::uint64_t kLast = ~std::uint32_t{0};
  std::uint64_t next = 0;
  for (std::size_t b = 0; b < room.size(); ++b) {
    place[b] = static_cast<std::uint32_t>(std::min(next, kLast));
    next += room[b];
  }
  place[room.size()] = static_cast<std::uint32_t>(std::min(next, kLast));
  return next;
}

}  // namespace

// One pass with room for as many entries as the last build needed and a bit; a second pass with the
// exact room where some block needed more.
template <>
void NeighbourSearch<Cpu>::build(Search search) {
  const std::size_t particles = search.size();
  if (search.packed.data != nullptr) {
    const auto unpack = [&](View<const Float4> from, Buffer3& to) -> View3<const float> {
      to.resize(from.size);
      for_each(device_, "neighbours: unpack", static_cast<std::int64_t>(from.size),
               Unpack{from, to.view()});
      return to.view();
    };
    search.x = unpack(search.packed, unpacked_);
    search.other = search.same ? search.x : unpack(search.packed_other, unpacked_other_);
  }
  const std::size_t cells = search.cells.key.size;
  const std::size_t blocks = (cells + kCellsPerBlock - 1) / kCellsPerBlock;
  start_.resize(particles);
  count_.resize(particles);
  places_.resize(blocks + 1);
  const View<std::uint32_t> place = places_.view();
  const auto first_of = [&](std::size_t block) -> std::uint64_t {
    return search.cells.start[std::min(block * kCellsPerBlock, cells)];
  };
  const auto run = [&](std::uint64_t room) {
    if (room > ~std::uint32_t{0}) {
      fail("neighbour lists of {} entries pass 2^32; use fewer particles or a smaller support",
           room);
    }
    index_.resize(room);
    for_each_range(device_, "neighbours: lists", static_cast<std::int64_t>(cells), kCellsPerBlock,
                   FillListsByCell{search.cells, search.other_cells, search.x, search.other,
                                   too_far_for(search.radius), search.same, place, start_.view(),
                                   count_.view(), index_.view()});
  };
  if (cells == 0) {
    index_.resize(0);
    pairs_ = 0;
    return;
  }
  for (std::size_t b = 0; b <= blocks; ++b) {
    place[b] = static_cast<std::uint32_t>(guess_ * static_cast<double>(first_of(b)));
  }
  run(place[blocks]);

  const BlockTotals totals = totals_of(device_, blocks, first_of, count_.data());
  bool fits = true;
  double densest = 0.0, all = 0.0;
  pairs_ = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    fits = fits && totals.room[b] <= place[b + 1] - place[b];
    pairs_ += totals.entries[b];
    all += static_cast<double>(totals.room[b]);
    densest = std::max(densest, static_cast<double>(totals.room[b]) /
                                    static_cast<double>(first_of(b + 1) - first_of(b)));
  }
  // Next time there is room for the densest block everywhere, unless that is a rare one.
  const double mean = all / static_cast<double>(particles);
  guess_ = std::clamp(1.1 * densest, 16.0, 2.0 * mean + 16.0);
  if (!fits) run(place_exactly(totals.room, place));
}

template <>
void NeighbourSearch<Cpu>::launch(Search search) {
  build(search);
}
template <>
void NeighbourSearch<Cpu>::launch_both(Search search, NeighbourSearch& back, Search search_back) {
  build(search);
  back.build(search_back);
  *search.touched.next = 0;
  for_each(device_, "neighbours: touched", static_cast<std::int64_t>(search.size()),
           GatherTouched{view(), search.touched});
}
template <>
bool NeighbourSearch<Cpu>::settled() {
  return true;
}

template Bounds bounds_of(Cpu&, View3<const float>);
template Extent extent_of(Cpu&, View3<const float>, float);
template void permute_packed(Cpu&, View3<const float>, View<const std::uint32_t>, Buffer<Float4>&);
template RunsView find_runs(Cpu&, const char*, const CellsView&, const CellsView&,
                            Buffer<std::uint32_t>&);
template class CellSort<Cpu>;
template class NeighbourSearch<Cpu>;
template float max_displacement(Cpu&, View3<const float>, View3<const float>);

}  // namespace barchan
