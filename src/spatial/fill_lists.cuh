// Neighbour lists on a GPU: a thread makes the list of one particle, and each warp's 32 lists get
// rows that its block takes from one counter.
//
// First each thread finds, for the nine runs around its particle, which candidates are near, as
// words of bits. Then the length of its list is known, and it is written, by all threads at the
// same pace: none waits for another's longer run. The candidates of 128 particles that follow each
// other lie in nine ranges, too; those of a set with itself are copied to shared memory, coordinate
// by coordinate: the threads of a warp look at few different points at a time, so that one read
// serves them all.
#pragma once

#include <cstdint>

#include "compute/cuda.cuh"
#include "compute/interleave.h"
#include "spatial/neighbours.h"

namespace barchan {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kFillThreads = 128;
inline constexpr int kFillWarps = kFillThreads / static_cast<int>(kWarp);
inline constexpr std::uint32_t kFillRoom =
    1504;  // candidates that are copied; so that 8 blocks run at once
inline constexpr std::uint32_t kFillWords = 9;  // of bits that are kept; mostly one a run

__device__ inline std::uint32_t four_aligned(std::uint32_t i) {
  return i & ~3u;
}

// What the host must know after a launch, in memory of its own.
struct FillReport {
  std::uint64_t rows;  // that the lists take, those without room included
};

// Blocks take rows for the lists of their warps from one counter, which also counts the blocks that
// are done: its lowest bits are rows. The last block reports, and sets it back to 0 for the next
// launch.
inline constexpr int kRowBits = 40;

struct FillLists {
  RunsView runs;
  View<const Float4> x, other;
  View<const std::uint8_t> worth;    // by cell; empty: look at all
  Touched touched;                   // out, where somebody asks
  float too_far;                     // the least square of a distance that is [m^2]
  bool same;                         // leave oneself out
  std::uint32_t room;                // rows that there is room for
  View<std::uint32_t> count, start;  // out: of each list; of each warp's rows
  std::uint32_t* lists;              // out
  FillReport* report;                // out
  unsigned long long* counter;

  __device__ void finish(std::uint32_t i, std::uint32_t found) const {
    count[i] = found;
    if (touched.count != nullptr) touched.put(i, found > 0);
  }
};

// The candidates of a block: nine ranges of the sorted points, one after the other. Each begins at
// a multiple of four, in the points as in the tile, so that four are read at a time.
struct FillTile {
  std::uint32_t begin[9], place[10];
  alignas(16) float x[kFillRoom + 32], y[kFillRoom + 32], z[kFillRoom + 32];  // near_bits reads on

  __device__ bool fits() const { return place[9] <= kFillRoom; }
  // All threads of the block; first and last: its particles.
  __device__ void find(const RunsView& runs, std::uint32_t first, std::uint32_t last) {
    if (threadIdx.x < kWarp) {
      std::uint32_t from = 0, size = 0;
      if (threadIdx.x < 9) {
        const std::uint32_t at = runs.place(threadIdx.x);
        from = four_aligned(runs(first)[at]);
        size = four_aligned(runs(last)[at + runs.end] - from + 3);
        begin[threadIdx.x] = from;
      }
      std::uint32_t sum = size;  // of the ranges up to this one
      for (unsigned step = 1; step < 16; step *= 2) {
        const std::uint32_t below = __shfl_up_sync(kAllLanes, sum, step);
        if (threadIdx.x >= step) sum += below;
      }
      if (threadIdx.x < 10) place[threadIdx.x] = sum - size;
    }
    __syncthreads();
  }
  // Mostly a range has no more than two points for each thread; those of three ranges are sent for
  // at once.
  __device__ void copy(View<const Float4> points) {
    constexpr int kRanges = 3, kEach = 2;
    const auto end = static_cast<std::uint32_t>(points.size);
    for (int row = 0; row < 9; row += kRanges) {
      Float4 p[kRanges][kEach];
#pragma unroll
      for (int r = 0; r < kRanges; ++r) {
#pragma unroll
        for (int u = 0; u < kEach; ++u) {
          const std::uint32_t k = threadIdx.x + u * kFillThreads, from = begin[row + r] + k;
          if (k < size(row + r) && from < end) p[r][u] = points.data[from];
        }
      }
#pragma unroll
      for (int r = 0; r < kRanges; ++r) {
#pragma unroll
        for (int u = 0; u < kEach; ++u) {
          const std::uint32_t k = threadIdx.x + u * kFillThreads;
          if (k < size(row + r)) put(place[row + r] + k, p[r][u]);
        }
        for (std::uint32_t k = threadIdx.x + kEach * kFillThreads; k < size(row + r);
             k += kFillThreads) {
          if (begin[row + r] + k < end) put(place[row + r] + k, points.data[begin[row + r] + k]);
        }
      }
    }
    __syncthreads();
  }
  __device__ std::uint32_t size(int row) const {
    return place[row + 1] - place[row];
  }
  __device__ void put(std::uint32_t at, const Float4& p) {
    x[at] = p.x, y[at] = p.y, z[at] = p.z;
  }
};

// Four points, coordinate by coordinate.
struct FourPoints {
  float x[4], y[4], z[4];
};

// Candidates in a tile, or where they are.
struct TilePoints {
  const FillTile& tile;
  // Where to begin, so that four can be read at a time.
  __device__ static std::uint32_t first(std::uint32_t j) { return four_aligned(j); }
  // To be added to an index for where its point is.
  __device__ std::uint32_t shift(int row) const { return tile.place[row] - tile.begin[row]; }
  __device__ FourPoints four(std::uint32_t j) const {
    const float4 x = *reinterpret_cast<const float4*>(tile.x + j);
    const float4 y = *reinterpret_cast<const float4*>(tile.y + j);
    const float4 z = *reinterpret_cast<const float4*>(tile.z + j);
    return {{x.x, x.y, x.z, x.w}, {y.x, y.y, y.z, y.w}, {z.x, z.y, z.z, z.w}};
  }
};
struct MemoryPoints {
  View<const Float4> points;
  __device__ static std::uint32_t first(std::uint32_t j) { return j; }
  __device__ std::uint32_t shift(int) const { return 0; }
  __device__ FourPoints four(std::uint32_t j) const {
    const auto last = static_cast<std::uint32_t>(points.size - 1);
    FourPoints all;
#pragma unroll
    for (std::uint32_t u = 0; u < 4; ++u) {
      const Vec3 p = point(points, j + u < last ? j + u : last);
      all.x[u] = p.x, all.y[u] = p.y, all.z[u] = p.z;
    }
    return all;
  }
};

// Which of 32 candidates from `base` on are near, as bits. What lies behind the last one is looked
// at, too, and left out afterwards. The sign of beyond() is shifted in, one instruction instead of
// a comparison and an "or".
template <class Points>
__device__ std::uint32_t near_bits(const Points& points, std::uint32_t base, std::uint32_t end,
                                   const Vec3& p, float too_far) {
  std::uint32_t near = 0, looked_at = 0;
#pragma unroll
  for (std::uint32_t k = 0; k < 32; k += 4) {
    if (base + k >= end) break;
    const FourPoints q = points.four(base + k);
#pragma unroll
    for (std::uint32_t u = 0; u < 4; ++u) {
      const Vec3 d(q.x[u] - p.x, q.y[u] - p.y, q.z[u] - p.z);
      const float beyond = fmaf(d.z, d.z, fmaf(d.y, d.y, fmaf(d.x, d.x, -too_far)));
      near = __funnelshift_l(__float_as_uint(beyond), near, 1);
    }
    looked_at = k + 4;
  }
  near = __brev(near << (32 - looked_at) % 32);  // the first candidate is now the lowest bit
  return end - base < 32 ? near & ((1u << (end - base)) - 1) : near;
}

// The nine runs around a thread's particle, read where they are,
struct TableRuns {
  const RunsView& runs;
  const std::uint32_t* run;
  __device__ std::uint32_t begin(int row) const { return run[runs.place(row)]; }
  __device__ std::uint32_t end(int row) const { return run[runs.place(row) + runs.end]; }
};
// or copied to shared memory first, so that no run waits for the one before it.
struct CopiedRuns {
  std::uint32_t begins[9][kFillThreads], ends[9][kFillThreads];
  __device__ void copy(const RunsView& runs, const std::uint32_t* run) {
#pragma unroll
    for (int row = 0; row < 9; ++row) {
      begins[row][threadIdx.x] = run[runs.place(row)];
      ends[row][threadIdx.x] = run[runs.place(row) + runs.end];
    }
  }
  __device__ std::uint32_t begin(int row) const {
    return begins[row][threadIdx.x];
  }
  __device__ std::uint32_t end(int row) const {
    return ends[row][threadIdx.x];
  }
};

// The search around one particle.
template <class Points, class Runs>
struct Searcher {
  const FillLists& fill;
  const Points& points;
  const Runs& runs;
  std::uint32_t i;
  Vec3 p;

  // Of the 32 from `from` on: those between begin and `to`.
  __device__ std::uint32_t bits(int row, std::uint32_t begin, std::uint32_t from,
                                std::uint32_t to) const {
    const std::uint32_t shift = points.shift(row);
    std::uint32_t near = near_bits(points, from + shift, to + shift, p, fill.too_far);
    if (begin > from) near &= ~0u << (begin - from);
    if (fill.same && i - from < 32) near &= ~(1u << (i - from));
    return near;
  }
};

// Entries of one list, of which four are written at a time.
class RowWriter {
 public:
  __device__ explicit RowWriter(uint4* to) : to_(to) {}
  __device__ void put(std::uint32_t entry) {
    four_ = {four_.y, four_.z, four_.w, entry};
    if (++count_ % kRowEntries == 0) write();
  }
  __device__ void finish() {
    if (count_ % kRowEntries == 0) return;
    for (; count_ % kRowEntries != 0; ++count_) four_ = {four_.y, four_.z, four_.w, 0};
    write();
  }

 private:
  __device__ void write() {
    *to_ = four_;
    to_ += kWarp;
  }
  uint4* to_;
  uint4 four_{};
  std::uint32_t count_ = 0;
};

// What the threads of a block share.
struct FillShared {
  std::uint32_t near[kFillWords][kFillThreads];  // words of bits, none of them 0
  std::uint32_t from[kFillWords][kFillThreads];  // which candidate a word's lowest bit is
  std::uint32_t rows[kFillWarps];                // that each warp's lists take
  unsigned long long start;                      // of the block's rows
};

// Rows for the lists of a block, of which this thread's has `found` entries: one addition a block,
// for the counter takes one at a time. False: there is no room.
__device__ inline bool take_rows(const FillLists& fill, FillShared& block, std::uint32_t i,
                                 std::uint32_t found, unsigned long long& start) {
  const std::uint32_t mine = threadIdx.x / kWarp;
  const std::uint32_t rows = (__reduce_max_sync(kAllLanes, found) + kRowEntries - 1) / kRowEntries;
  if (threadIdx.x % kWarp == 0) block.rows[mine] = rows;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned long long total = 0;
    for (int w = 0; w < kFillWarps; ++w) total += block.rows[w];
    block.start = atomicAdd(fill.counter, total) % (1ull << kRowBits);
  }
  __syncthreads();
  start = block.start;
  for (std::uint32_t w = 0; w < mine; ++w) start += block.rows[w];
  if (threadIdx.x % kWarp == 0 && i < fill.x.size) {
    fill.start[i / kWarp] = static_cast<std::uint32_t>(start);
  }
  return start + rows <= fill.room;
}

// At the end of each of so many blocks.
__device__ inline void report_rows(const FillLists& fill, unsigned blocks) {
  if (threadIdx.x != 0) return;
  constexpr unsigned long long kOne = 1ull << kRowBits;
  const unsigned long long before = atomicAdd(fill.counter, kOne);
  if (before / kOne + 1 != blocks) return;
  fill.report->rows = before % kOne;
  *fill.counter = 0;
}

// The entries that a thread's words of bits say.
__device__ inline void write_words(const FillShared& block, std::uint32_t found, uint4* to) {
  std::uint32_t word = 0, near = block.near[0][threadIdx.x], from = block.from[0][threadIdx.x];
  const auto next = [&] {
    if (near == 0 && ++word < kFillWords) {
      near = block.near[word][threadIdx.x];
      from = block.from[word][threadIdx.x];
    }
    const std::uint32_t entry = from + __ffs(near) - 1;
    near &= near - 1;
    return entry;
  };
  for (std::uint32_t k = 0; k < found; k += kRowEntries) {  // what is behind the last is not read
    const std::uint32_t a = next(), b = next(), c = next(), d = next();
    *to = {a, b, c, d};
    to += kWarp;
  }
}

// The same for lists with more words than are kept: they are found again.
template <class Search>
__device__ void write_again(const Search& search, uint4* to) {
  RowWriter list(to);
  for (int row = 0; row < 9; ++row) {
    const std::uint32_t begin = search.runs.begin(row), end = search.runs.end(row);
    for (std::uint32_t from = search.points.first(begin); from < end; from += 32) {
      std::uint32_t near = search.bits(row, begin, from, end);
      for (; near != 0; near &= near - 1) list.put(from + __ffs(near) - 1);
    }
  }
  list.finish();
}

// The lists of a block. `wanted`: this thread has a particle, i, that may have neighbours.
template <class Points, class Runs>
__device__ void fill_block(const FillLists& fill, const Points& points, const Runs& runs,
                           std::uint32_t i, bool wanted, FillShared& block) {
  const Searcher<Points, Runs> search{fill, points, runs, i, wanted ? point(fill.x, i) : Vec3{}};
  std::uint32_t found = 0, words = 0;
  // A run is sent for while the one before it is looked through.
  std::uint32_t next_begin = 0, next_end = 0;
  if (wanted) next_begin = runs.begin(0), next_end = runs.end(0);
  for (int row = 0; wanted && row < 9; ++row) {
    const std::uint32_t begin = next_begin, end = next_end;
    if (row < 8) next_begin = runs.begin(row + 1), next_end = runs.end(row + 1);
    if (begin == end) continue;
    for (std::uint32_t from = points.first(begin); from < end; from += 32) {
      const std::uint32_t near = search.bits(row, begin, from, end);
      if (near == 0) continue;
      if (words < kFillWords) {
        block.near[words][threadIdx.x] = near;
        block.from[words][threadIdx.x] = from;
      }
      ++words;
      found += __popc(near);
    }
  }
  unsigned long long start = 0;
  const bool room = take_rows(fill, block, i, found, start);
  if (i < fill.x.size) fill.finish(i, room ? found : 0);
  if (!room || found == 0) return;
  uint4* to = reinterpret_cast<uint4*>(fill.lists) + start * kWarp + threadIdx.x % kWarp;
  if (words <= kFillWords) {
    write_words(block, found, to);
  } else {
    write_again(search, to);
  }
}

// A set with itself.
__global__ void __launch_bounds__(kFillThreads) run_fill_same(FillLists fill) {
  __shared__ FillShared block;
  __shared__ FillTile tile;
  const std::uint32_t first = blockIdx.x * kFillThreads, i = first + threadIdx.x;
  const std::size_t after = std::size_t{first} + kFillThreads;
  const auto end = static_cast<std::uint32_t>(after < fill.x.size ? after : fill.x.size);
  tile.find(fill.runs, first, end - 1);
  const TableRuns runs{fill.runs, fill.runs(i < end ? i : first)};
  if (tile.fits()) {
    tile.copy(fill.other);
    fill_block(fill, TilePoints{tile}, runs, i, i < end, block);
  } else {
    fill_block(fill, MemoryPoints{fill.other}, runs, i, i < end, block);
  }
  report_rows(fill, gridDim.x);
}

// One set in another, where most of the first may be far from all of the second. A block sees to
// every so manieth 128 particles.
__device__ inline void fill_other(const FillLists& fill, unsigned this_block, unsigned blocks,
                                  CopiedRuns& runs, FillShared& block) {
  const auto end = static_cast<std::uint32_t>(fill.x.size);
  for (std::uint32_t first = this_block * kFillThreads; first < end;
       first += blocks * kFillThreads) {
    const std::uint32_t i = first + threadIdx.x;
    const bool wanted = i < end && (fill.worth.size == 0 || fill.worth[fill.runs.cell_of[i]] != 0);
    if (__syncthreads_or(wanted)) {
      if (wanted) runs.copy(fill.runs, fill.runs(i));
      fill_block(fill, MemoryPoints{fill.other}, runs, i, wanted, block);
    } else if (i < end) {
      fill.finish(i, 0);
    }
  }
  report_rows(fill, blocks);
}
// Both ways: the first blocks `there`, the others `back`.
__global__ void __launch_bounds__(kFillThreads)
    run_fill_others(FillLists there, FillLists back, unsigned blocks_there) {
  __shared__ FillShared block;
  __shared__ CopiedRuns runs;
  if (there.touched.next != nullptr && blockIdx.x == 0 && threadIdx.x == 0) *there.touched.next = 0;
  if (blockIdx.x < blocks_there) {
    fill_other(there, blockIdx.x, blocks_there, runs, block);
  } else {
    fill_other(back, blockIdx.x - blocks_there, gridDim.x - blocks_there, runs, block);
  }
}

}  // namespace barchan
