// Neighbour lists on a GPU: a thread makes the list of one particle, in shared memory, and each
// warp takes rows for its 32 lists from one counter.
//
// Lists of a set with itself are made tile by tile (neighbours.h): the candidates of 128 particles
// are copied to shared memory once. Lists of one set in another, and those of tiles too long for
// entries of 16 bits, are made from the nine runs around each particle.
#pragma once

#include <cstdint>

#include "compute/cuda.cuh"
#include "compute/interleave.h"
#include "spatial/neighbours.h"
#include "spatial/tiles.cuh"

namespace barchan {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kTileWarps = kTileParticles / static_cast<int>(kWarp);
// Entries of a list kept in shared memory: an odd number of rows, so that 32 threads that each read
// a row of their own list meet in no bank.
inline constexpr std::uint32_t kStaged = 15 * kRowEntries;

// What the host must know after a launch, in memory of its own.
struct FillReport {
  std::uint64_t rows;      // that the lists take, those without room included
  std::uint32_t too_long;  // a run has more particles than an entry can count
};

// Warps take rows for their lists from one counter, which also counts the warps: its lowest bits
// are rows. The last warp reports, and sets it back to 0 for the next launch.
inline constexpr int kRowBits = 40;

template <class Entry>
struct alignas(sizeof(Entry) * kRowEntries) ListRow {
  Entry entry[kRowEntries];
};

template <class Entry>
struct FillLists {
  RunsView runs;
  View<const Float4> x, other;
  float radius_squared;
  bool same;                         // leave oneself out
  View<TileRanges> tiles;            // out, for lists made by tiles
  std::uint32_t room;                // rows that there is room for
  View<std::uint32_t> count, start;  // out: of each list; of each warp's rows
  Entry* lists;                      // out
  FillReport* report;                // out
  unsigned long long* counter;
};

// Puts entries into shared memory, as far as there is room, or straight into the lists.
template <class Entry>
struct Stage {
  ListRow<Entry> (*list)[kStaged / kRowEntries];
  __device__ void operator()(int of, std::uint32_t k, std::uint32_t entry) const {
    if (k < kStaged) reinterpret_cast<Entry*>(list[of])[k] = static_cast<Entry>(entry);
  }
};
template <class Entry>
struct Straight {
  Entry* lists;
  std::uint32_t start;
  __device__ void operator()(int of, std::uint32_t k, std::uint32_t entry) const {
    lists[interleaved(start, static_cast<std::uint32_t>(of), k)] = static_cast<Entry>(entry);
  }
};

// Points in shared memory, with room behind them, as near_bits() wants them.
struct SharedPoints {
  const Float4* data;
};
__device__ inline Vec3 point(const SharedPoints& points, std::uint32_t i) {
  const Float4 p = points.data[i];
  return {p.x, p.y, p.z};
}
__device__ inline std::uint32_t readable(const SharedPoints&, std::uint32_t i) {
  return i;
}
__device__ inline std::uint32_t readable(const View<const Float4>& points, std::uint32_t i) {
  const auto last = static_cast<std::uint32_t>(points.size - 1);
  return i < last ? i : last;
}

// Which of 32 candidates from `base` on are near, as bits. What lies behind the last one is looked
// at, too, and left out afterwards.
template <class Points>
__device__ std::uint32_t near_bits(const Points& points, std::uint32_t base, std::uint32_t end,
                                   const Vec3& p, float radius_squared) {
  std::uint32_t near = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < 32; k += 8) {
    if (base + k >= end) continue;
#pragma unroll
    for (std::uint32_t u = 0; u < 8; ++u) {
      const std::uint32_t j = readable(points, base + k + u);
      if (distance_squared(points, j, p) <= radius_squared) near |= 1u << (k + u);
    }
  }
  return end - base < 32 ? near & ((1u << (end - base)) - 1) : near;
}

// From the runs around the particle. Entries of 16 bits are places in those.
template <class Entry>
struct RunSearch {
  static constexpr bool kPacked = sizeof(Entry) == 2;
  const FillLists<Entry>& fill;
  std::uint32_t i;
  bool there;
  template <class Put>
  __device__ std::uint32_t operator()(const Put& put) const {
    if (!there) return 0;
    const Vec3 p = point(fill.x, i);
    const std::uint32_t* run = fill.runs(i);
    std::uint32_t n = 0;
    for (std::uint32_t row = 0; row < 9; ++row) {
      const std::uint32_t* bounds = run + fill.runs.place(row);
      const std::uint32_t begin = bounds[0], end = bounds[fill.runs.end];
      if (kPacked && end - begin > kLongestRun) {
        fill.report->too_long = 1;
        return n;
      }
      for (std::uint32_t base = begin; base < end; base += 32) {
        std::uint32_t near = near_bits(fill.other, base, end, p, fill.radius_squared);
        if (fill.same && i - base < 32) near &= ~(1u << (i - base));
        const std::uint32_t code = kPacked ? run_code(row) + (base - begin) : base;
        for (; near != 0; near &= near - 1) put(threadIdx.x % kWarp, n++, code + __ffs(near) - 1);
      }
    }
    return n;
  }
};

// From the tile. Entries are places in it, filled up to whole rows by place 0.
struct TileSearch {
  const FillLists<std::uint16_t>& fill;
  const TileRanges& ranges;
  const Float4* staged;  // null where the tile is too large
  std::uint32_t i;
  bool there;

  template <class Put, class Points>
  __device__ std::uint32_t search(const Put& put, const Points& points) const {
    const Vec3 p = barchan::point(fill.x, i);
    const std::uint32_t* run = fill.runs(i);
    std::uint32_t n = 0;
    for (std::uint32_t row = 0; row < 9; ++row) {
      const std::uint32_t* bounds = run + fill.runs.place(row);
      // What is to be added to an index for its place, and for where its point is read.
      const std::uint32_t to_place = ranges.place[row] - ranges.begin[row];
      const std::uint32_t to_point = staged != nullptr ? to_place : 0;
      const std::uint32_t begin = bounds[0] + to_point, end = bounds[fill.runs.end] + to_point;
      const std::uint32_t self = i + to_point;
      for (std::uint32_t base = begin; base < end; base += 32) {
        std::uint32_t near = near_bits(points, base, end, p, fill.radius_squared);
        if (self - base < 32) near &= ~(1u << (self - base));
        const std::uint32_t code = base - to_point + to_place;
        for (; near != 0; near &= near - 1) put(threadIdx.x % kWarp, n++, code + __ffs(near) - 1);
      }
    }
    for (std::uint32_t k = n; k % kRowEntries != 0; ++k) put(threadIdx.x % kWarp, k, 0);
    return n;
  }
  template <class Put>
  __device__ std::uint32_t operator()(const Put& put) const {
    if (!there) return 0;
    return staged != nullptr ? search(put, SharedPoints{staged}) : search(put, fill.other);
  }
};

template <class Entry, class Searcher>
__device__ void fill_warp(const FillLists<Entry>& fill, const Searcher& search,
                          ListRow<Entry> (*staged)[kStaged / kRowEntries], std::uint32_t warp,
                          int size) {
  const int lane = threadIdx.x % kWarp;
  const std::uint32_t found = search(Stage<Entry>{staged});
  const std::uint32_t rows =
      (__reduce_max_sync(kAllLanes, lane < size ? found : 0u) + kRowEntries - 1) / kRowEntries;
  unsigned long long start = 0;
  if (lane == 0) {
    constexpr unsigned long long kOne = 1ull << kRowBits;
    const unsigned long long before = atomicAdd(fill.counter, kOne + rows);
    start = before % kOne;
    fill.start[warp] = static_cast<std::uint32_t>(start);
    if (before / kOne + 1 == fill.start.size) {
      fill.report->rows = start + rows;
      *fill.counter = 0;
    }
  }
  start = __shfl_sync(kAllLanes, start, 0);
  const bool room = start + rows <= fill.room;
  if (lane < size) fill.count[warp * kWarp + lane] = room ? found : 0;
  if (!room) return;
  if (rows <= kStaged / kRowEntries) {
    __syncwarp();
    auto* to = reinterpret_cast<ListRow<Entry>*>(fill.lists) + start * kWarp + lane;
    for (std::uint32_t k = 0; k < rows; ++k) to[std::size_t{k} * kWarp] = staged[lane][k];
  } else {
    search(Straight<Entry>{fill.lists, static_cast<std::uint32_t>(start)});
  }
}

// The warp and the particles of it that this thread works on.
struct WarpOfThread {
  std::uint32_t warp, i;
  int size;  // 0 behind the last particle
  __device__ explicit WarpOfThread(std::size_t n) {
    warp = blockIdx.x * kTileWarps + threadIdx.x / kWarp;
    i = warp * kWarp + threadIdx.x % kWarp;
    const std::size_t first = std::size_t{warp} * kWarp;
    size = first >= n ? 0 : (n - first < kWarp ? static_cast<int>(n - first) : kWarp);
  }
  __device__ bool there() const { return static_cast<int>(threadIdx.x % kWarp) < size; }
};

template <class Entry>
__global__ void __launch_bounds__(kTileParticles) run_fill(FillLists<Entry> fill) {
  __shared__ ListRow<Entry> staged[kTileWarps][kWarp][kStaged / kRowEntries];
  const WarpOfThread mine(fill.x.size);
  if (mine.size == 0) return;
  const RunSearch<Entry> search{fill, mine.i, mine.there()};
  fill_warp(fill, search, staged[threadIdx.x / kWarp], mine.warp, mine.size);
}

// The nine ranges of this block's tile.
__device__ inline void find_ranges(const RunsView& runs, std::uint32_t first, std::uint32_t last,
                                   TileRanges& ranges) {
  if (threadIdx.x < 9) {
    const std::uint32_t place = runs.place(threadIdx.x);
    ranges.begin[threadIdx.x] = runs(first)[place];
    ranges.place[threadIdx.x + 1] = runs(last)[place + runs.end] - runs(first)[place];
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ranges.place[0] = 1;
    for (int row = 0; row < 9; ++row) ranges.place[row + 1] += ranges.place[row];
  }
  __syncthreads();
}

__global__ void __launch_bounds__(kTileParticles) run_fill_tiles(FillLists<std::uint16_t> fill) {
  __shared__ ListRow<std::uint16_t> staged[kTileWarps][kWarp][kStaged / kRowEntries];
  __shared__ Float4 tile[kTileRoom + 32];  // near_bits() reads on
  __shared__ TileRanges ranges;
  const std::uint32_t first = blockIdx.x * kTileParticles;
  const std::size_t after = std::size_t{first} + kTileParticles;
  const auto end = static_cast<std::uint32_t>(after < fill.x.size ? after : fill.x.size);
  find_ranges(fill.runs, first, end - 1, ranges);
  if (threadIdx.x == 0) {
    fill.tiles[blockIdx.x] = ranges;
    if (ranges.place[9] > 0xffffu) fill.report->too_long = 1;
  }
  const bool fits = ranges.place[9] <= kTileRoom;
  if (fits) {
    stage_tile(ranges, fill.other, tile);
    wait_for_tile();
  }
  const WarpOfThread mine(fill.x.size);
  if (mine.size == 0) return;
  const TileSearch search{fill, ranges, fits ? tile : nullptr, mine.i, mine.there()};
  fill_warp(fill, search, staged[threadIdx.x / kWarp], mine.warp, mine.size);
}

}  // namespace barchan
