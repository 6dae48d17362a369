// Particles sorted into cells, without a domain box: only cells that hold particles exist, in one
// sorted table, so memory follows the particles wherever they fly.
//
// Cells are numbered row by row (x fastest), so the three neighbours in x are three consecutive
// numbers, and the 27 cells around a point are nine runs of the sorted particles. Cells are cubes,
// or cubes cut in two along x: then a run is five halves instead of three cubes, a sixth less.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/buffer.h"
#include "compute/view.h"
#include "math/vec3.h"

namespace barchan {

// Which cell a point is in, and that cell's number.
struct CellFrame {
  Vec3 origin;         // corner of cell (0, 0, 0) [m]
  float inverse_size;  // 1 / edge of a cube [1/m]
  int nx, ny, nz;      // cells along each axis, one empty layer of cubes around them included
  int reach = 1;       // cells along x in a cube: 1 or 2

  // Points beyond the frame count as in its outermost cells. Clamping never takes two points
  // further apart, so neighbours stay in neighbouring cells: right, if slow for many such points.
  HD static int clamp(float c, int n, int around) {
    const float least = static_cast<float>(around), top = static_cast<float>(n - 1 - around);
    const float kept = c < least ? least : (c > top ? top : c);  // NaN ends in the first cell
    return static_cast<int>(kept == kept ? kept : least);
  }
  HD float x_scale() const { return inverse_size * static_cast<float>(reach); }
  HD std::uint64_t key(Vec3 p) const {
    const auto cx = static_cast<std::uint64_t>(clamp((p.x - origin.x) * x_scale(), nx, reach));
    const auto cy = static_cast<std::uint64_t>(clamp((p.y - origin.y) * inverse_size, ny, 1));
    const auto cz = static_cast<std::uint64_t>(clamp((p.z - origin.z) * inverse_size, nz, 1));
    return (cz * static_cast<std::uint64_t>(ny) + cy) * static_cast<std::uint64_t>(nx) + cx;
  }
  // From a cell's number to that of the cell at the same x in row 0..8 of the nine around it.
  HD std::int64_t row_offset(int row) const {
    const std::int64_t dy = row % 3 - 1, dz = row / 3 - 1;
    return (dz * ny + dy) * nx;
  }
  std::uint64_t cells() const {
    return static_cast<std::uint64_t>(nx) * static_cast<std::uint64_t>(ny) *
           static_cast<std::uint64_t>(nz);
  }
  int key_bits() const;

  friend bool operator==(const CellFrame&, const CellFrame&) = default;
};

// Smallest and largest coordinates of finite points; lo > hi: there are none.
struct Bounds {
  Vec3 lo, hi;
  bool empty() const { return !(lo.x <= hi.x); }
};
// With the middle of a frame that cannot hold them all.
struct Extent : Bounds {
  Vec3d mean;
};

inline constexpr double kSpread = 1e6;  // radii along an axis that a frame holds for sure

// A frame of cubes of at least `radius` for points within `extent`, cut into `reach` cells along x.
// Where they are spread over more than two million cubes along an axis, the frame covers that much
// around their mean.
CellFrame frame_around(const Extent& extent, float radius, int reach = 1);
// The same with some room around the points, in multiples of a few cells: it holds all that is
// within `radius` of them, and stays the same while they move a little.
CellFrame steady_frame(const Extent& extent, float radius, int reach = 1);

// Counts points into the cells of a frame where they are made, so that the sort need not read them.
// Each learns how many of its cell came before it, in the hardware's order. Empty: counts nothing.
struct CellCounter {
  CellFrame frame{};
  View<std::uint32_t> key, arrival, count;  // out: of the points; of the cells, from 0 on

  HD void operator()(std::size_t i, const Vec3& p) const {
    if (key.size == 0) return;
    const auto cell = static_cast<std::uint32_t>(frame.key(p));
    key[i] = cell;
    arrival[i] = count_up(count.data + cell);
  }
};

// Where each cell's particles start: in a table of the cells that hold particles, or, on a GPU and
// where the frame has few cells, in one of all of them.
struct CellsView {
  CellFrame frame;
  View<const std::uint64_t> key;      // of each cell in the table, ascending; none where `whole`
  View<const std::uint32_t> start;    // one more than there are cells
  View<const std::uint32_t> cell_of;  // for each sorted particle, the index of its cell
  bool whole = false;                 // the table has all cells: an index is the cell's number
};

// The nine runs of sorted particles around a particle. They stand in a table made for the cells
// that hold particles, or are read off the starts of all cells.
struct RunsView {
  const std::uint32_t* table = nullptr;
  View<const std::uint32_t> cell_of;   // empty where every particle has runs of its own
  std::int64_t stride = 0, first = 0;  // the runs of cell c are about table + first + stride c
  std::uint32_t plane = 0, row = 0;    // and that many entries further for dz + 1 and dy + 1
  std::uint32_t end = 0;               // where a run's end is, from its begin

  HD const std::uint32_t* operator()(std::uint32_t i) const {
    const std::int64_t cell = cell_of.data != nullptr ? cell_of[i] : i;
    return table + first + stride * cell;
  }
  // Of row 0..8, from what operator() gives.
  HD std::uint32_t place(std::uint32_t of_nine) const {
    return of_nine / 3 * plane + of_nine % 3 * row;
  }
};

template <class Device>
class CellSort {
 public:
  explicit CellSort(Device& device);

  // Finds the order that sorts the points by cell, and the table of cells. Equal cells keep the
  // points' order: the result does not depend on the number of threads.
  void sort(View3<const float> x, float radius);
  // `beside`: points of a larger set in the same frame, which a search will look at together with
  // these; both then have tables of the same kind.
  void sort(View3<const float> x, const CellFrame& frame, std::size_t beside = 0);
  // The same, and then(from, to) for each point, which goes from one place to another. Defined in
  // sort_then_cpu.h and sort_then.cuh.
  template <class Then>
  void sort_then(View3<const float> x, const CellFrame& frame, const char* label, const Then& then);

  // What counts the points of the next sort, which will be by this frame. Where no frame is known
  // (nullptr), and on a CPU, it counts nothing, and the sort sees to that.
  CellCounter counter(std::size_t points, const CellFrame* frame);
  // For when nobody reads the cells any more: the next counter need not wait for this.
  void clear();

  // Sorted place i holds what was point order()[i].
  View<const std::uint32_t> order() const { return order_.view(); }
  CellsView cells() const;

 private:
  template <class Key>
  void sort_by(Buffer<Key>& keys, View3<const float> x);
  static bool has_whole_table(const CellFrame& frame, std::size_t points);
  CellCounter begin_whole(const CellFrame& frame, std::size_t points);
  void sort_whole(View3<const float> x);
  template <class Then>
  void sort_whole_then(View3<const float> x, const char* label, const Then& then);

  Device& device_;
  CellFrame frame_{};
  bool whole_ = false;
  bool counted_ = false;     // the points of the next sort were
  std::size_t cleared_ = 0;  // entries of the table, from the first on, that are 0
  Buffer<std::uint32_t> order_, cell_of_, cell_start_;
  Buffer<std::uint32_t> arrived_;  // the order before equal cells are put right
  Buffer<std::uint32_t> keys32_;
  Buffer<std::uint64_t> keys64_, cell_key_;
};

// On a GPU, for frames of few cells: counts, places and puts in order instead of sorting.
template <>
void CellSort<Cuda>::sort_whole(View3<const float> x);

template <class Device>
Bounds bounds_of(Device& device, View3<const float> x);
// For frames of cells of `radius`: the mean is that of the points only where they are spread over
// more cells than a frame has.
template <class Device>
Extent extent_of(Device& device, View3<const float> x, float radius);

// out[i] = x[order[i]]
void permute(Device& device, View3<const float> x, View<const std::uint32_t> order, Buffer3& out);

// The same into packed points, as kernels on a GPU want them; w = 0.
template <class Device>
void permute_packed(Device& device, View3<const float> x, View<const std::uint32_t> order,
                    Buffer<Float4>& out);

// Finds the runs of `other`'s particles around those of `cells`; `table` is the room to do it in.
template <class Device>
RunsView find_runs(Device& device, const char* label, const CellsView& cells,
                   const CellsView& other, Buffer<std::uint32_t>& table);

}  // namespace barchan
