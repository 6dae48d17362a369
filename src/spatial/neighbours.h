// Who is near whom: for each particle the list of particles within a radius, itself left out.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/buffer.h"
#include "compute/interleave.h"
#include "compute/view.h"
#include "spatial/cells.h"

namespace barchan {

// The lists as kernels see them:  for (int k = 0; k < near.count(i); ++k) { int j = near(i, k); ...
// }
struct Neighbours {
  ListPlaces places;  // of i's list in `index`
  View<const std::uint32_t> counts;
  View<const std::uint32_t> index;

  HD int count(int i) const { return static_cast<int>(counts[static_cast<std::size_t>(i)]); }
  HD std::uint32_t operator()(int i, int k) const {
    return list(i)[static_cast<std::size_t>(k) * static_cast<std::size_t>(list_stride())];
  }
  // The list's first entry; on the CPU the others follow it.
  HD const std::uint32_t* list(int i) const {
    return index.data + places(static_cast<std::uint32_t>(i));
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

  Neighbours view() const { return {{start_.view(), even_width_}, count_.view(), index_.view()}; }
  std::uint64_t pairs() const { return pairs_; }  // entries in all lists together

  // The plain way, one particle at a time in two passes: what build() is measured and tested by.
  void build_reference(const CellsView& cells, View3<const float> x, const CellsView& other_cells,
                       View3<const float> other, float radius);

 private:
  struct Search {
    CellsView cells, other_cells;
    View3<const float> x, other;
    float radius;
    bool same;  // one set with itself
  };
  void build(const Search& search);
  void find_runs(const Search& search);

  Device& device_;
  Buffer<std::uint32_t> start_, count_, index_;
  Buffer<std::uint32_t> runs_;            // 9 (begin, end) a cell, where the device wants a table
  Buffer<std::uint32_t> places_;          // where each block's or warp's lists start
  Buffer<Float4> packed_, packed_other_;  // the points, where the device gathers them that way
  std::uint64_t pairs_ = 0;
  double guess_ = 40.0;           // entries a particle, from the last build
  std::uint32_t even_width_ = 0;  // where all lists have the same room: that; else start_ counts
};

// Largest distance any point moved between two sets of the same points [m].
template <class Device>
float max_displacement(Device& device, View3<const float> now, View3<const float> before);

}  // namespace barchan
