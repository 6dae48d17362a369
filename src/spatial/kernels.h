// Kernels behind cells.h and neighbours.h, for both devices.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/interleave.h"
#include "compute/view.h"
#include "math/vec3.h"
#include "spatial/cells.h"
#include "spatial/neighbours.h"

namespace barchan {

struct JoinBounds {
  static HD Bounds identity() {
    constexpr float kHuge = 3.4e38f;
    return {{kHuge, kHuge, kHuge}, {-kHuge, -kHuge, -kHuge}};
  }
  static HD Bounds combine(const Bounds& a, const Bounds& b) {
    return {min(a.lo, b.lo), max(a.hi, b.hi)};
  }
};
struct PointBounds {
  View3<const float> x;
  HD Bounds operator()(int i) const {
    const Vec3 p = x[static_cast<std::size_t>(i)];
    return is_finite(p) ? Bounds{p, p} : JoinBounds::identity();
  }
};

struct Mean {
  Vec3d sum;
  std::uint64_t count = 0;
};
struct JoinMeans {
  static HD Mean identity() { return {}; }
  static HD Mean combine(const Mean& a, const Mean& b) {
    return {a.sum + b.sum, a.count + b.count};
  }
};
struct PointMean {
  View3<const float> x;
  HD Mean operator()(int i) const {
    const Vec3 p = x[static_cast<std::size_t>(i)];
    return is_finite(p) ? Mean{Vec3d(p), 1} : Mean{};
  }
};

// Of the cells of a frame, a CellFrame or a TileFrame.
template <class Key, class Frame>
struct CellKeys {
  View3<const float> x;
  Frame frame;
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

// What is to be done with each point in its new place (CellSort::sort_then), by a launch of its
// own.
template <class Then>
struct ThenInOrder {
  View<const std::uint32_t> order;
  Then then;
  HD_INLINE void operator()(int at) const {
    const auto to = static_cast<std::size_t>(at);
    then(order[to], to);
  }
};

// First index whose key is not below `wanted`.
template <class Key>
HD inline std::uint32_t lower_bound(View<const Key> key, std::int64_t wanted) {
  std::uint32_t lo = 0, hi = static_cast<std::uint32_t>(key.size);
  while (lo < hi) {
    const std::uint32_t middle = lo + (hi - lo) / 2;
    if (static_cast<std::int64_t>(key[middle]) < wanted) {
      lo = middle + 1;
    } else {
      hi = middle;
    }
  }
  return lo;
}

// The nine runs of particles around each cell of the table (each particle, where that has all
// cells): one (cell, row) an item.
struct FindRuns {
  CellsView cells, other;
  View<std::uint32_t> runs;  // out: begin and end for each item
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item / 9);
    const std::uint64_t number = cells.whole ? cells.cell_of[cell] : cells.key[cell];
    const std::int64_t middle =
        static_cast<std::int64_t>(number) + cells.frame.row_offset(item % 9);
    const std::int64_t begin = middle - cells.frame.reach, end = middle + cells.frame.reach + 1;
    auto first = static_cast<std::size_t>(begin), last = static_cast<std::size_t>(end);
    if (!other.whole) {
      last = first = lower_bound(other.key, begin);
      while (last < other.key.size && static_cast<std::int64_t>(other.key[last]) < end) ++last;
    }
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

struct PermutePacked {
  View3<const float> x;
  View<const std::uint32_t> order;
  View<Float4> packed;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 p = x[order[i]];
    packed[i] = {p.x, p.y, p.z, 0.0f};
  }
};

struct Unpack {
  View<const Float4> packed;
  View3<float> x;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    x[i] = Vec3{packed[i].x, packed[i].y, packed[i].z};
  }
};

// Walks the candidates of particle i and counts those that are near; writes them, too, where there
// is an index.
struct FillList {
  RunsView runs;
  View3<const float> x, other;
  float too_far;  // see beyond()
  bool same;      // leave oneself out
  View<const std::uint32_t> start;
  View<std::uint32_t> count;  // out
  View<std::uint32_t> index;  // out; empty to count only

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 p = x[i];
    const auto self = static_cast<std::uint32_t>(at);
    const std::uint32_t* run = runs(self);
    std::uint32_t n = 0;
    for (std::uint32_t row = 0; row < 9; ++row) {
      const std::uint32_t* bounds = run + runs.place(row);
      const std::uint32_t end = bounds[runs.end];
      for (std::uint32_t base = bounds[0]; base < end; base += 32) {
        // First which of up to 32 candidates are near, without a branch; then those, one by one.
        const std::uint32_t candidates = end - base < 32 ? end - base : 32;
        std::uint32_t near = 0;
        BARCHAN_UNROLLED
        for (std::uint32_t k = 0; k < candidates; ++k) {
          near |= (beyond(other, base + k, p, too_far) < 0.0f ? 1u : 0u) << k;
        }
        if (same && self - base < 32) near &= ~(1u << (self - base));
        for (; near != 0; near &= near - 1) {
          if (index.size > 0) index[start[i] + n] = base + lowest_bit(near);
          ++n;
        }
      }
    }
    count[i] = n;
  }
};

// The order is the hardware's; nothing that is computed with it depends on it.
struct GatherTouched {
  Neighbours near;
  Touched touched;
  HD void operator()(int i) const { touched.put(static_cast<std::uint32_t>(i), near.count(i) > 0); }
};

// A list, where everybody can read it.
struct CopyList {
  Neighbours near;
  View<const std::uint64_t> start;
  View<std::uint32_t> all;  // out
  HD void operator()(int i) const {
    const int n = near.count(i);
    const std::uint64_t to = start[static_cast<std::size_t>(i)];
    for (int k = 0; k < n; ++k) all[to + static_cast<std::uint64_t>(k)] = near(i, k);
  }
};

struct ReadCount {
  View<const std::uint32_t> counts;
  HD std::uint64_t operator()(int i) const { return counts[static_cast<std::size_t>(i)]; }
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
