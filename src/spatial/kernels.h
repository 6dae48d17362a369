// Kernels behind cells.h and neighbours.h, for both devices.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/interleave.h"
#include "compute/view.h"
#include "math/vec3.h"
#include "spatial/cells.h"

namespace barchan {

struct JoinExtent {
  static HD Extent identity() {
    constexpr float kHuge = 3.4e38f;
    return {{kHuge, kHuge, kHuge}, {-kHuge, -kHuge, -kHuge}, {}, 0};
  }
  static HD Extent combine(const Extent& a, const Extent& b) {
    return {min(a.lo, b.lo), max(a.hi, b.hi), a.sum + b.sum, a.count + b.count};
  }
};

struct PointExtent {
  View3<const float> x;
  HD Extent operator()(int i) const {
    const Vec3 p = x[static_cast<std::size_t>(i)];
    return is_finite(p) ? Extent{p, p, Vec3d(p), 1} : JoinExtent::identity();
  }
};

template <class Key>
struct CellKeys {
  View3<const float> x;
  CellFrame frame;
  View<Key> key;              // out
  View<std::uint32_t> order;  // out: 0, 1, 2 ...
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    key[i] = static_cast<Key>(frame.key(x[i]));
    order[i] = static_cast<std::uint32_t>(at);
  }
};

// 1 where a cell begins in the sorted keys.
template <class Key>
struct CellBegins {
  View<const Key> key;
  View<std::uint32_t> begins;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    begins[i] = (at == 0 || key[i] != key[i - 1]) ? 1u : 0u;
  }
};

// `before` counts the cell beginnings before i; with its own that gives the cell's index.
template <class Key>
struct CellTable {
  View<const Key> key;
  View<std::uint32_t> cell_of;     // in: beginnings before i; out: the cell of i
  View<std::uint64_t> cell_key;    // out
  View<std::uint32_t> cell_start;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::uint32_t begun = cell_of[i];
    if (at == 0 || key[i] != key[i - 1]) {
      cell_of[i] = begun;
      cell_key[begun] = static_cast<std::uint64_t>(key[i]);
      cell_start[begun] = static_cast<std::uint32_t>(at);
    } else {
      cell_of[i] = begun - 1;
    }
    if (i + 1 == key.size) cell_start[cell_of[i] + 1] = static_cast<std::uint32_t>(key.size);
  }
};

// First index whose key is not below `wanted`.
HD inline std::uint32_t lower_bound(View<const std::uint64_t> key, std::int64_t wanted) {
  std::uint32_t lo = 0, hi = static_cast<std::uint32_t>(key.size);
  while (lo < hi) {
    const std::uint32_t middle = (lo + hi) / 2;
    if (static_cast<std::int64_t>(key[middle]) < wanted) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

// The nine runs of particles around each cell: one (cell, row) an item.
struct FindRuns {
  CellsView cells, other;
  View<std::uint32_t> runs;  // out: begin and end for each item
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item / 9);
    const std::int64_t middle =
        static_cast<std::int64_t>(cells.key[cell]) + cells.frame.row_offset(item % 9);
    const std::uint32_t first = lower_bound(other.key, middle - 1);
    std::uint32_t last = first;
    while (last < other.key.size && static_cast<std::int64_t>(other.key[last]) <= middle + 1)
      ++last;
    runs[2 * static_cast<std::size_t>(item)] = other.start[first];
    runs[2 * static_cast<std::size_t>(item) + 1] = other.start[last];
  }
};

struct Pack {
  View3<const float> x;
  View<Float4> packed;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 p = x[i];
    packed[i] = {p.x, p.y, p.z, 0.0f};
  }
};

// Walks the candidates of particle i. With room for `width` entries it writes those that fit; the
// count is always that of all.
template <class Points>
struct FillList {
  View<const std::uint32_t> cell_of;
  View<const std::uint32_t> runs;
  Points x, other;
  float radius_squared;
  bool same;           // leave oneself out
  std::uint32_t room;  // for every list; enough, or as much as is there
  ListPlaces places;
  View<std::uint32_t> count;  // out
  View<std::uint32_t> index;  // out; empty to count only

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 p = point(x, i);
    const std::uint32_t* run = runs.data + std::size_t{18} * cell_of[i];
    const auto self = static_cast<std::uint32_t>(at);
    const std::size_t place = places(self);
    std::uint32_t n = 0;
    for (int row = 0; row < 9; ++row) {
      const std::uint32_t end = run[2 * row + 1];
      for (std::uint32_t base = run[2 * row]; base < end; base += 32) {
        // First which of up to 32 candidates are near, without a branch; then those, one by one.
        const std::uint32_t candidates = end - base < 32 ? end - base : 32;
        std::uint32_t near = 0;
        BARCHAN_UNROLLED
        for (std::uint32_t k = 0; k < candidates; ++k) {
          near |= (distance_squared(other, base + k, p) <= radius_squared ? 1u : 0u) << k;
        }
        if (same && self - base < 32) near &= ~(1u << (self - base));
        for (; near != 0; near &= near - 1) {
          if (n < room) {
            index[place + n * static_cast<std::size_t>(list_stride())] = base + lowest_bit(near);
          }
          ++n;
        }
      }
    }
    count[i] = n;
  }
};

struct SumAndLargest {
  std::uint64_t sum = 0, largest = 0;
};
struct JoinSumAndLargest {
  static HD SumAndLargest identity() { return {}; }
  static HD SumAndLargest combine(const SumAndLargest& a, const SumAndLargest& b) {
    return {a.sum + b.sum, a.largest > b.largest ? a.largest : b.largest};
  }
};
struct ReadSumAndLargest {
  View<const std::uint32_t> counts;
  HD SumAndLargest operator()(int i) const {
    const std::uint64_t c = counts[static_cast<std::size_t>(i)];
    return {c, c};
  }
};

struct Displacement {
  View3<const float> now, before;
  HD float operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 d = now[i] - before[i];
    return dot(d, d);
  }
};

}  // namespace barchan
