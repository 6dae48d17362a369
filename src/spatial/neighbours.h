// Who is near whom: for each particle the list of particles within a radius, itself left out.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/buffer.h"
#include "compute/interleave.h"
#include "compute/view.h"
#include "spatial/cells.h"

namespace barchan {

struct FillLists;  // spatial/fill_lists.cuh

// The lists as kernels see them.
struct Neighbours {
  View<const std::uint32_t> counts;
  View<const std::uint32_t> start;  // of each list, or each warp's rows (compute/interleave.h)
  View<const std::uint32_t> index;

  HD int count(int i) const { return static_cast<int>(counts[static_cast<std::size_t>(i)]); }
  HD std::uint32_t operator()(int i, int k) const {
    if constexpr (on_gpu()) {
      const auto at = static_cast<std::uint32_t>(i);
      return index[interleaved(start[at / kWarp], at, static_cast<std::uint32_t>(k))];
    } else {
      return list(i)[k];
    }
  }
  // On a CPU the list, readable by whole vectors; on a GPU its first row.
  HD const std::uint32_t* list(int i) const {
    const auto at = static_cast<std::uint32_t>(i);
    return index.data + (on_gpu() ? interleaved(start[at / kWarp], at, 0) : start[at]);
  }
};

// Those that have anybody near, gathered in any order, so that a pass over them alone fills its
// vectors and warps.
struct Touched {
  std::uint32_t* count = nullptr;  // in: 0; out: how many there are
  std::uint32_t* next = nullptr;   // out: 0, for the next search
  View<std::uint32_t> list;        // out: which; what does not fit is counted only
  View<std::uint32_t> slot_of;     // out: where in the list one is; ~0: it has nobody near

  HD void put(std::uint32_t i, bool any) const {
    std::uint32_t slot = any ? count_up(count) : ~0u;
    if (slot < list.size) {
      list[slot] = i;
    } else {
      slot = ~0u;
    }
    slot_of[i] = slot;
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
  // For two sets, both ways at once: `back` gets for each of `other` the points of x near it.
  // `worth` (may be empty) says for each cell of a whole table whether others can be near.
  void build_both_later(NeighbourSearch& back, const CellsView& cells, View<const Float4> x,
                        const CellsView& other_cells, View<const Float4> other, float radius,
                        View<const std::uint8_t> worth, const Touched& touched);
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
    bool same;                       // one set with itself
    View<const std::uint8_t> worth;  // the cells that need be looked at; empty: all
    Touched touched;                 // nobody asks where it is empty
    std::size_t size() const { return packed.data != nullptr ? packed.size : x.size; }
  };
  void build(Search search);
  void launch(Search search);
  void launch_both(Search search, NeighbourSearch& back, Search search_back);
  FillLists prepare(Search search);  // all that a GPU's launch needs

  Device& device_;
  Buffer<std::uint32_t> start_, count_, index_;
  Buffer<std::uint32_t> runs_table_;      // where the device wants one
  Buffer<std::uint32_t> places_;          // where each block's lists start
  Buffer<Float4> packed_, packed_other_;  // the points, where they came in the other layout
  Buffer3 unpacked_, unpacked_other_;
  std::shared_ptr<void> report_;   // of a launch, where the device writes and the host reads
  std::uint64_t room_ = 0;         // that the launch had
  std::size_t warps_ = 0;          // it was for
  Buffer<std::uint64_t> counter_;  // of a launch
  mutable std::uint64_t pairs_ = kUnknown;
  double guess_ = 40.0;       // entries a particle, from the last build
  double rows_a_warp_ = 0.0;  // that a GPU's builds took at most; the first one only counts
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
};

// Largest distance any point moved between two sets of the same points [m].
template <class Device>
float max_displacement(Device& device, View3<const float> now, View3<const float> before);

}  // namespace barchan
