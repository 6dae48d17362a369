// Who is near whom: for each particle the list of particles within a radius, itself left out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hd.h"
#include "compute/buffer.h"
#include "compute/interleave.h"
#include "compute/view.h"
#include "spatial/cells.h"

namespace barchan {

// An entry of 16 bits: which of the nine runs (2 bits for dz + 1, 2 for dy + 1), and the place in
// that run. It takes half the memory of an index, and half the time to read it.
inline constexpr std::uint32_t kLongestRun = 1 << 12;
HD inline std::uint32_t run_code(std::uint32_t of_nine) {
  return (of_nine / 3) << 14 | (of_nine % 3) << 12;
}

// On a GPU 128 particles that follow each other are a tile. Around the cells of all of them lie
// nine ranges of the sorted particles, too; a launch over tiles (tiles.cuh) copies those into
// shared memory, where an entry of 16 bits is simply the place. Place 0 stays free for a point that
// is far from everything, which fills up the last four entries of a list.
inline constexpr int kTileParticles = 128;
inline constexpr std::uint32_t kTileRoom = 1472;  // places that are copied; larger tiles are not
struct TileRanges {
  std::uint32_t begin[9];   // of each range in the sorted particles
  std::uint32_t place[10];  // of its first particle in the tile, and the end of the last one

  HD std::uint32_t decode(std::uint32_t entry) const {
    // Counted rather than searched for: comparisons that do not wait for each other.
    std::uint32_t row = 0;
    BARCHAN_UNROLLED
    for (int r = 1; r < 9; ++r) row += entry >= place[r] ? 1u : 0u;
    return begin[row] + (entry - place[row]);
  }
};

// One particle's list on a GPU. list[k] is for k = 0, 1, 2 ... in this order: entries of 16 bits
// are read four at a time.
class WarpList {
 public:
  HD WarpList(const std::uint64_t* fours, const std::uint32_t* run, const RunsView& runs)
      : fours_(fours), run_(run), plane_(runs.plane), row_(runs.row) {}
  HD explicit WarpList(const std::uint32_t* wide) : wide_(wide) {}
  HD WarpList(const std::uint64_t* fours, const TileRanges* tile) : fours_(fours), tile_(tile) {}

  HD std::uint32_t operator[](int k) {
    constexpr int kRow = static_cast<int>(kRowEntries), kLanes = static_cast<int>(kWarp);
    if (wide_ != nullptr) return wide_[k / kRow * kRow * kLanes + k % kRow];
    if (k % kRow == 0) four_ = fours_[k / kRow * kLanes];
    return decode(static_cast<std::uint32_t>(four_ >> (16 * (k % kRow))) & 0xffffu);
  }
  HD std::uint32_t decode(std::uint32_t entry) const {
    if (tile_ != nullptr) return tile_->decode(entry);
    return run_[(entry >> 14) * plane_ + (entry >> 12 & 3) * row_] + (entry & 0xfffu);
  }

 private:
  const std::uint32_t* wide_ = nullptr;  // entries of 32 bits, where there are such
  const std::uint64_t* fours_ = nullptr;
  const std::uint32_t* run_ = nullptr;
  const TileRanges* tile_ = nullptr;
  std::uint32_t plane_ = 0, row_ = 0;
  std::uint64_t four_ = 0;
};

// The lists as kernels see them:
//   auto list = near.list(i);
//   for (int k = 0; k < near.count(i); ++k) { const std::uint32_t j = list[k]; ... }
// near(i, k) is the same entry, in any order of k.
struct Neighbours {
  View<const std::uint32_t> counts;
  View<const std::uint32_t> start;   // of each list, or each warp's rows (compute/interleave.h)
  View<const std::uint32_t> index;   // the lists, where entries have 32 bits
  View<const std::uint16_t> packed;  // and where they have 16
  RunsView runs;
  View<const TileRanges> tiles;  // where entries are places in tiles
  // The ranges, the points and what goes with them, in shared memory, during a launch over tiles.
  const TileRanges* tile = nullptr;
  const Float4* staged = nullptr;
  const Float4* staged_more = nullptr;

  HD int count(int i) const { return static_cast<int>(counts[static_cast<std::size_t>(i)]); }
  HD auto list(int i) const {
    if constexpr (on_gpu()) {
      return warp_list(static_cast<std::uint32_t>(i));
    } else {
      return index.data + start[static_cast<std::size_t>(i)];  // readable by whole vectors
    }
  }
  HD std::uint32_t operator()(int i, int k) const {
    if constexpr (on_gpu()) {
      const auto at = static_cast<std::uint32_t>(i);
      const std::size_t place = interleaved(start[at / kWarp], at, static_cast<std::uint32_t>(k));
      return packed.size == 0 ? index[place] : warp_list(at).decode(packed[place]);
    } else {
      return list(i)[k];
    }
  }

  // The rows of i's list, four entries each, kWarp apart; for entries of 16 bits.
  HD const std::uint64_t* fours(std::uint32_t i) const {
    return reinterpret_cast<const std::uint64_t*>(packed.data +
                                                  interleaved(start[i / kWarp], i, 0));
  }

 private:
  HD WarpList warp_list(std::uint32_t i) const {
    const std::size_t place = interleaved(start[i / kWarp], i, 0);
    if (packed.size == 0) return WarpList(index.data + place);
    if (tiles.size > 0) return {fours(i), tile != nullptr ? tile : tiles.data + i / kTileParticles};
    return {reinterpret_cast<const std::uint64_t*>(packed.data + place), runs(i), runs};
  }
};

template <class Device>
class NeighbourSearch {
 public:
  explicit NeighbourSearch(Device& device);

  // Lists of all pairs within `radius` [m] among points sorted by `cells` (of cell size >= radius).
  // To keep lists for several steps, build them with radius + skin and build anew as soon as
  // max_displacement() since then exceeds skin / 2.
  void build(const CellsView& cells, View3<const float> x, float radius);
  // For each of the sorted points x, the points of another sorted set within `radius`. Both sets
  // must be sorted by the same frame.
  void build(const CellsView& cells, View3<const float> x, const CellsView& other_cells,
             View3<const float> other, float radius);

  // The same for packed points: what a GPU works on, so that nothing is copied there.
  void build(const CellsView& cells, View<const Float4> x, float radius);
  void build(const CellsView& cells, View<const Float4> x, const CellsView& other_cells,
             View<const Float4> other, float radius);

  // The same, but nobody waits for whether the lists had room in memory. Once the device was waited
  // for anyway, settled() says so; where it is false, some lists were empty, and the search and all
  // that read it must be done again.
  void build_later(const CellsView& cells, View<const Float4> x, float radius);
  void build_later(const CellsView& cells, View<const Float4> x, const CellsView& other_cells,
                   View<const Float4> other, float radius);
  bool settled();

  // Valid until the cells are sorted anew.
  Neighbours view() const;
  std::uint64_t pairs() const;  // entries in all lists together
  // The lists as they are: slow, for tests and tools.
  std::vector<std::vector<std::uint32_t>> download() const;

  // The plain way, one particle at a time in two passes: what build() is measured and tested by.
  void build_reference(const CellsView& cells, View3<const float> x, const CellsView& other_cells,
                       View3<const float> other, float radius);

 private:
  struct Search {
    CellsView cells, other_cells;
    View3<const float> x, other;              // the points in this layout
    View<const Float4> packed, packed_other;  // or in this one
    float radius;
    bool same;  // one set with itself
    std::size_t size() const { return packed.data != nullptr ? packed.size : x.size; }
  };
  void build(Search search);
  void launch(Search search);

  Device& device_;
  Buffer<std::uint32_t> start_, count_, index_;
  Buffer<std::uint16_t> entries_;         // the lists, where 16 bits will do
  Buffer<std::uint32_t> runs_table_;      // where the device wants one
  Buffer<std::uint32_t> places_;          // where each block's lists start
  Buffer<Float4> packed_, packed_other_;  // the points, where they came in the other layout
  Buffer3 unpacked_, unpacked_other_;
  RunsView runs_;
  Buffer<TileRanges> tiles_;
  std::shared_ptr<void> report_;   // of a launch, where the device writes and the host reads
  std::uint64_t room_ = 0;         // that the launch had
  std::size_t warps_ = 0;          // it was for
  bool wide_ = false;              // entries of 16 bits were too short
  Buffer<std::uint64_t> counter_;  // of a launch
  mutable std::uint64_t pairs_ = kUnknown;
  double guess_ = 40.0;  // entries a particle, from the last build
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
};

// Largest distance any point moved between two sets of the same points [m].
template <class Device>
float max_displacement(Device& device, View3<const float> now, View3<const float> before);

}  // namespace barchan
