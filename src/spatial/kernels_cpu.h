// Neighbour lists on the CPU, a cell at a time: the particles of a cell share their candidates,
// which are gathered once into contiguous memory and tested 16 (or 8) at a time. bench/kernels
// measures it beside the generic kernel; tests/unit/spatial compares the two.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
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
    std::memcpy(x.data() + count, from.x + begin, more * sizeof(float));
    std::memcpy(y.data() + count, from.y + begin, more * sizeof(float));
    std::memcpy(z.data() + count, from.z + begin, more * sizeof(float));
    for (std::size_t k = 0; k < more; ++k) index[count + k] = begin + static_cast<std::uint32_t>(k);
    count += more;
  }
};

struct FillListsByCell {
  CellsView cells, other_cells;
  View3<const float> x, other;
  float radius_squared;
  bool same;
  View<const std::uint32_t> place;  // where each block's lists start, and the end of the last one
  View<std::uint32_t> start, count, index;  // out

  // Cells [begin, end) are one block. Cells are sorted, so the nine rows around them only ever move
  // forward: one search at the block's first cell, then a walk.
  void range(int begin, int end) const {
    const auto block = static_cast<std::size_t>(begin / kCellsPerBlock);
    std::uint32_t at = place[block];
    const std::uint32_t room_end = place[block + 1];
    static thread_local Candidates candidates;
    std::uint32_t cursor[9];
    for (int row = 0; row < 9; ++row) {
      cursor[row] = lower_bound(other_cells.key, key_of(begin) + cells.frame.row_offset(row) - 1);
    }
    for (int c = begin; c < end; ++c) {
      candidates.count = 0;
      for (int row = 0; row < 9; ++row) add_row(key_of(c), row, cursor[row], candidates);
      const auto cell = static_cast<std::size_t>(c);
      for (std::uint32_t i = cells.start[cell]; i < cells.start[cell + 1]; ++i) {
        const int found =
            append_near(candidates.x.data(), candidates.y.data(), candidates.z.data(),
                        candidates.index.data(), static_cast<int>(candidates.count), x[i],
                        radius_squared, same ? i : ~0u, candidates.found.data());
        const auto n = static_cast<std::uint32_t>(found);
        start[i] = at;
        count[i] = n;
        // What does not fit is counted only; build() makes room and comes again.
        if (n <= room_end - std::min(at, room_end)) {
          std::memcpy(index.data + at, candidates.found.data(), n * sizeof(std::uint32_t));
        }
        at += n;
      }
    }
  }

 private:
  std::int64_t key_of(int cell) const {
    return static_cast<std::int64_t>(cells.key[static_cast<std::size_t>(cell)]);
  }
  void add_row(std::int64_t key, int row, std::uint32_t& cursor, Candidates& candidates) const {
    const std::int64_t middle = key + cells.frame.row_offset(row);
    const std::uint64_t* keys = other_cells.key.data;
    const auto cell_count = static_cast<std::uint32_t>(other_cells.key.size);
    const auto key_at = [&](std::uint32_t c) { return static_cast<std::int64_t>(keys[c]); };
    while (cursor < cell_count && key_at(cursor) < middle - 1) ++cursor;
    std::uint32_t last = cursor;
    while (last < cell_count && key_at(last) <= middle + 1) ++last;
    if (last > cursor) candidates.add(other, other_cells.start[cursor], other_cells.start[last]);
  }
};

}  // namespace barchan
