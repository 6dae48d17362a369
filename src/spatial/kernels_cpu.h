// Neighbour lists on the CPU, a cell at a time: the particles of a cell share their candidates,
// which are gathered once into contiguous memory and tested 16 (or 8) at a time. bench/kernels
// measures it beside the generic kernel; tests/unit/spatial compares the two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compute/simd.h"
#include "compute/view.h"
#include "spatial/cells.h"
#include "spatial/kernels.h"

namespace barchan {

inline constexpr int kCellsPerBlock = 32;

// The candidates of one cell, copied together.
struct Candidates {
  std::vector<float> x, y, z;
  std::vector<std::uint32_t> index, found;
  std::size_t count = 0;

  void reserve(std::size_t size) {
    if (size <= found.size()) return;
    for (auto* axis : {&x, &y, &z}) axis->resize(size);
    index.resize(size);
    found.resize(size);
  }
  void add(View3<const float> from, std::uint32_t begin, std::uint32_t end) {
    constexpr std::size_t kVector = 16;  // append_near reads and writes whole vectors
    const std::size_t more = end - begin;
    if (count + more + 2 * kVector > found.size()) reserve(2 * (count + more) + 2 * kVector);
    // A loop, for a call of memcpy takes longer than these few numbers.
    float *to_x = x.data() + count, *to_y = y.data() + count, *to_z = z.data() + count;
    std::uint32_t* to_index = index.data() + count;
    BARCHAN_PRAGMA(omp simd)
    for (std::size_t k = 0; k < more; ++k) {
      to_x[k] = from.x[begin + k];
      to_y[k] = from.y[begin + k];
      to_z[k] = from.z[begin + k];
      to_index[k] = begin + static_cast<std::uint32_t>(k);
    }
    count += more;
  }
};

// Walks over consecutive cells and gathers the candidates around each. Cells are sorted, so the
// nine rows around them only ever move forward: one search at the first cell, then a walk.
class CellWalk {
 public:
  CellWalk(const CellsView& cells, const CellsView& other, int first)
      : cells_(cells), other_(other) {
    for (int row = 0; row < 9; ++row) {
      cursor_[row] =
          lower_bound(other.key, key_of(first) + cells.frame.row_offset(row) - cells.frame.reach);
    }
  }
  // Cells must come in ascending order.
  void gather(int cell, View3<const float> points, Candidates& candidates) {
    candidates.count = 0;
    const auto cell_count = static_cast<std::uint32_t>(other_.key.size);
    for (int row = 0; row < 9; ++row) {
      const std::int64_t middle = key_of(cell) + cells_.frame.row_offset(row);
      std::uint32_t& first = cursor_[row];
      while (first < cell_count && other_key(first) < middle - cells_.frame.reach) ++first;
      std::uint32_t last = first;
      while (last < cell_count && other_key(last) <= middle + cells_.frame.reach) ++last;
      if (last > first) candidates.add(points, other_.start[first], other_.start[last]);
    }
  }

 private:
  std::int64_t key_of(int cell) const {
    return static_cast<std::int64_t>(cells_.key[static_cast<std::size_t>(cell)]);
  }
  std::int64_t other_key(std::uint32_t cell) const {
    return static_cast<std::int64_t>(other_.key.data[cell]);
  }

  const CellsView& cells_;
  const CellsView& other_;
  std::uint32_t cursor_[9];
};

// Lists take up whole vectors: behind the last entry, valid ones are repeated.
constexpr std::uint32_t list_room(std::uint32_t count) {
  constexpr std::uint32_t kVector = 16;
  return (count + kVector - 1) / kVector * kVector;
}

struct FillListsByCell {
  CellsView cells, other_cells;
  View3<const float> x, other;
  float too_far;  // see beyond()
  bool same;
  View<const std::uint32_t> place;  // where each block's lists start, and the end of the last one
  View<std::uint32_t> start, count, index;  // out

  // Cells [begin, end) are one block.
  void range(int begin, int end) const {
    const auto block = static_cast<std::size_t>(begin / kCellsPerBlock);
    std::uint32_t at = place[block];
    const std::uint32_t room_end = place[block + 1];
    static thread_local Candidates candidates;
    CellWalk walk(cells, other_cells, begin);
    for (int c = begin; c < end; ++c) {
      walk.gather(c, other, candidates);
      const auto cell = static_cast<std::size_t>(c);
      for (std::uint32_t i = cells.start[cell]; i < cells.start[cell + 1]; ++i) {
        const int found = append_near(candidates.x.data(), candidates.y.data(), candidates.z.data(),
                                      candidates.index.data(), static_cast<int>(candidates.count),
                                      x[i], too_far, same ? i : ~0u, candidates.found.data());
        const auto n = static_cast<std::uint32_t>(found);
        const std::uint32_t room = list_room(n);
        start[i] = at;
        count[i] = n;
        // What does not fit is counted only; build() makes room and comes again.
        if (room <= room_end - std::min(at, room_end)) {
          std::uint32_t* list = candidates.found.data();
          for (std::uint32_t k = n; k < room; ++k) list[k] = list[0];
          std::uint32_t* to = index.data + at;
          BARCHAN_PRAGMA(omp simd)
          for (std::uint32_t k = 0; k < room; ++k) to[k] = list[k];
        }
        at += room;
      }
    }
  }
};

}  // namespace barchan
