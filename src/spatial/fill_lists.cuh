// Neighbour lists on a GPU: a warp makes the lists of 32 particles that follow each other, cell by
// cell. Its threads take a candidate each, and test it against the cell's particles one by one: a
// candidate is loaded once for all of them, and what is near is found by one vote of the warp.
//
// Of the 27 cells' candidates only those are tested that are within the radius of the box around
// the cell's particles, a bit more than half of them.
#pragma once

#include <cstdint>

#include "compute/cuda.cuh"
#include "compute/interleave.h"
#include "spatial/neighbours.h"

namespace barchan {

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kFillWarps = 4;  // of a block
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
  std::uint32_t room;                // rows that there is room for
  View<std::uint32_t> count, start;  // out: of each list; of each warp's rows
  Entry* lists;                      // out
  FillReport* report;                // out
  unsigned long long* counter;
};

template <class Entry, int kCandidates>
struct FillMemory {
  Float4 candidate[kCandidates];  // w: the entry
  Float4 particle[kWarp];
  ListRow<Entry> list[kWarp][kStaged / kRowEntries];
};

__device__ inline unsigned lanes_before() {
  return (1u << threadIdx.x % kWarp) - 1;
}

// Floats in the order of integers, for the warp's minimum and maximum.
__device__ inline int ordered(float f) {
  const int bits = __float_as_int(f);
  return bits < 0 ? bits ^ 0x7fffffff : bits;
}
__device__ inline float unordered(int o) {
  return __int_as_float(o < 0 ? o ^ 0x7fffffff : o);
}

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

template <class Entry, int kCandidates, bool kCull>
class WarpSearch {
  static constexpr bool kPacked = sizeof(Entry) == 2;
  using Memory = FillMemory<Entry, kCandidates>;

 public:
  __device__ WarpSearch(const FillLists<Entry>& fill, Memory& memory, std::uint32_t first, int size)
      : fill_(fill), memory_(memory), lane_(threadIdx.x % kWarp), warp_first_(first) {
    const std::uint32_t i = first + (lane_ < size ? lane_ : size - 1);
    p_ = point(fill.x, i);
    run_ = fill.runs(i);
    memory.particle[lane_] = {p_.x, p_.y, p_.z, 0.0f};
    const auto address = reinterpret_cast<unsigned long long>(run_);
    const bool head = address != __shfl_up_sync(kAllLanes, address, 1);  // lane 0 sees itself
    const unsigned in = size == 32 ? kAllLanes : (1u << size) - 1;
    heads_ = (__ballot_sync(kAllLanes, head) | 1u) & in;
    size_ = size;
    __syncwarp();
  }

  // The number of entries of this thread's particle.
  template <class Put>
  __device__ std::uint32_t operator()(const Put& put) {
    found_ = 0;
    for (unsigned heads = heads_; heads != 0;) {
      begin_ = __ffs(heads) - 1;
      heads &= heads - 1;
      end_ = heads != 0 ? __ffs(heads) - 1 : size_;
      search_cell(put);
    }
    return found_;
  }

 private:
  template <class Put>
  __device__ void search_cell(const Put& put) {
    const bool mine = lane_ >= begin_ && lane_ < end_;
    if (kCull) box_around(mine);
    const auto run = reinterpret_cast<const std::uint32_t*>(
        __shfl_sync(kAllLanes, reinterpret_cast<unsigned long long>(run_), begin_));
    std::uint32_t from = 0, to = 0;
    if (lane_ < 9) {
      const std::uint32_t* bounds = run + fill_.runs.place(lane_);
      from = bounds[0];
      to = bounds[fill_.runs.end];
    }
    const unsigned too_long = __ballot_sync(kAllLanes, to - from > kLongestRun);
    if (kPacked && too_long != 0 && lane_ == 0) fill_.report->too_long = 1;
    const std::uint32_t middle = __shfl_sync(kAllLanes, from, 4);
    self_ = !fill_.same ? ~0u : warp_first_ + (kPacked ? run_code(4) - middle : 0);

    kept_ = 0;
    const bool shorter = __ballot_sync(kAllLanes, to - from > kWarp) == 0;
    for (int plane = 0; plane < 9; plane += 3) {
      if (shorter) {
        take_plane(plane, from, to, put);
      } else {
        for (int row = plane; row < plane + 3; ++row) take_row(row, from, to, put);
      }
    }
    test(put);
  }

  // The box around the cell's particles. Coordinates that are no numbers only make it larger.
  __device__ void box_around(bool mine) {
    constexpr int kLow = -0x7fffffff, kHigh = 0x7fffffff;
    const auto least = [&](float f) {
      return unordered(__reduce_min_sync(kAllLanes, mine ? ordered(f) : kHigh));
    };
    const auto most = [&](float f) {
      return unordered(__reduce_max_sync(kAllLanes, mine ? ordered(f) : kLow));
    };
    lo_ = {least(p_.x), least(p_.y), least(p_.z)};
    hi_ = {most(p_.x), most(p_.y), most(p_.z)};
  }

  // Three rows of at most 32 candidates, loaded together.
  template <class Put>
  __device__ void take_plane(int plane, std::uint32_t from, std::uint32_t to, const Put& put) {
    Vec3 c[3];
    bool there[3];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const std::uint32_t j = __shfl_sync(kAllLanes, from, plane + k) + lane_;
      there[k] = j < __shfl_sync(kAllLanes, to, plane + k);
      if (there[k]) c[k] = point(fill_.other, j);
    }
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const std::uint32_t row = plane + k;
      const std::uint32_t j = kPacked ? 0 : __shfl_sync(kAllLanes, from, row);
      take(c[k], (kPacked ? run_code(row) : j) + lane_, there[k], put);
    }
  }

  template <class Put>
  __device__ void take_row(int row, std::uint32_t from, std::uint32_t to, const Put& put) {
    const std::uint32_t begin = __shfl_sync(kAllLanes, from, row);
    const std::uint32_t size = __shfl_sync(kAllLanes, to, row) - begin;
    for (std::uint32_t base = 0; base < size; base += kWarp) {
      const std::uint32_t at = base + lane_;
      const Vec3 c = at < size ? point(fill_.other, begin + at) : Vec3{};
      take(c, (kPacked ? run_code(row) : begin) + at, at < size, put);
    }
  }

  // Keeps the candidates that may be near. Each difference, square and sum below is rounded
  // as that of distance_squared and is not larger than it: nothing that is near gets lost.
  template <class Put>
  __device__ void take(const Vec3& c, std::uint32_t entry, bool keep, const Put& put) {
    if (kCull) {
      const float x = fmaxf(fmaxf(lo_.x - c.x, c.x - hi_.x), 0.0f);
      const float y = fmaxf(fmaxf(lo_.y - c.y, c.y - hi_.y), 0.0f);
      const float z = fmaxf(fmaxf(lo_.z - c.z, c.z - hi_.z), 0.0f);
      keep = keep && !(fmaf(z, z, fmaf(y, y, x * x)) > fill_.radius_squared);
    }
    const unsigned kept = __ballot_sync(kAllLanes, keep);
    if (keep) {
      memory_.candidate[kept_ + __popc(kept & lanes_before())] = {c.x, c.y, c.z,
                                                                  __uint_as_float(entry)};
    }
    kept_ += __popc(kept);
    if (kept_ > kCandidates - static_cast<int>(kWarp)) test(put);
  }

  // Tests the kept candidates, up to four a thread at a time, against each particle of the cell.
  template <class Put>
  __device__ void test(const Put& put) {
    __syncwarp();
    constexpr int kRounds = 4;
    for (int base = 0; base < kept_; base += kRounds * static_cast<int>(kWarp)) {
      Vec3 c[kRounds];
      std::uint32_t entry[kRounds];
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
        const int at = base + r * static_cast<int>(kWarp) + lane_;
        c[r] = {__int_as_float(0x7fffffff), 0.0f, 0.0f};  // not a number: near to nothing
        entry[r] = 0;
        if (at < kept_) {
          const Float4 candidate = memory_.candidate[at];
          c[r] = {candidate.x, candidate.y, candidate.z};
          entry[r] = __float_as_uint(candidate.w);
        }
      }
      for (int of = begin_; of < end_; ++of) {
        const Float4 q = memory_.particle[of];
        const std::uint32_t self = fill_.same ? self_ + of : ~0u;
        std::uint32_t n = __shfl_sync(kAllLanes, found_, of);
#pragma unroll
        for (int r = 0; r < kRounds; ++r) {
          if (r > 0 && base + r * static_cast<int>(kWarp) >= kept_) continue;
          const Vec3 d = c[r] - Vec3{q.x, q.y, q.z};
          const float distance = fmaf(d.z, d.z, fmaf(d.y, d.y, d.x * d.x));
          const bool near = distance <= fill_.radius_squared && entry[r] != self;
          const unsigned hits = __ballot_sync(kAllLanes, near);
          if (near) put(of, n + __popc(hits & lanes_before()), entry[r]);
          n += __popc(hits);
        }
        if (lane_ == of) found_ = n;
      }
    }
    kept_ = 0;
    __syncwarp();
  }

  const FillLists<Entry>& fill_;
  Memory& memory_;
  const int lane_;
  const std::uint32_t warp_first_;
  int size_;        // particles of this warp
  unsigned heads_;  // first particle of each cell, as bits
  Vec3 p_;
  const std::uint32_t* run_;
  std::uint32_t found_ = 0;

  // Of the cell at work.
  int begin_ = 0, end_ = 0;  // its particles, as lanes
  Vec3 lo_, hi_;
  std::uint32_t self_ = 0;  // lane 0's own entry
  int kept_ = 0;            // candidates in memory
};

// One particle a thread, for comparison.
template <class Entry>
struct ThreadSearch {
  static constexpr bool kPacked = sizeof(Entry) == 2;
  const FillLists<Entry>& fill;
  std::uint32_t first;
  int size;
  template <class Put>
  __device__ std::uint32_t operator()(const Put& put) const {
    const int lane = threadIdx.x % kWarp;
    if (lane >= size) return 0;
    const std::uint32_t i = first + lane;
    const Vec3 p = point(fill.x, i);
    const std::uint32_t* run = fill.runs(i);
    std::uint32_t n = 0;
    for (std::uint32_t row = 0; row < 9; ++row) {
      const std::uint32_t* bounds = run + fill.runs.place(row);
      const std::uint32_t begin = bounds[0], end = bounds[fill.runs.end];
      if (kPacked && end - begin > kLongestRun) fill.report->too_long = 1;
      for (std::uint32_t base = begin; base < end; base += 32) {
        std::uint32_t near = 0;
#pragma unroll
        for (std::uint32_t k = 0; k < 32; k += 8) {
          if (base + k >= end) continue;
#pragma unroll
          for (std::uint32_t u = 0; u < 8; ++u) {
            const std::uint32_t j = base + k + u < end ? base + k + u : end - 1;
            if (distance_squared(fill.other, j, p) <= fill.radius_squared) near |= 1u << (k + u);
          }
        }
        if (end - base < 32) near &= (1u << (end - base)) - 1;
        if (fill.same && i - base < 32) near &= ~(1u << (i - base));
        const std::uint32_t code = kPacked ? run_code(row) + (base - begin) : base;
        for (; near != 0; near &= near - 1) put(lane, n++, code + __ffs(near) - 1);
      }
    }
    return n;
  }
};

template <class Entry, class Searcher>
__device__ void fill_warp(const FillLists<Entry>& fill, Searcher& search,
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
  if (lane < size) fill.count[warp * kWarp + lane] = found;
  if (start + rows > fill.room) return;
  if (rows <= kStaged / kRowEntries) {
    __syncwarp();
    auto* to = reinterpret_cast<ListRow<Entry>*>(fill.lists) + start * kWarp + lane;
    for (std::uint32_t k = 0; k < rows; ++k) to[std::size_t{k} * kWarp] = staged[lane][k];
  } else {
    search(Straight<Entry>{fill.lists, static_cast<std::uint32_t>(start)});
  }
}

template <class Entry, int kCandidates, bool kCull>
__global__ void __launch_bounds__(kFillWarps* kWarp) run_fill_cells(FillLists<Entry> fill) {
  __shared__ FillMemory<Entry, kCandidates> memory[kFillWarps];
  const std::uint32_t warp = blockIdx.x * kFillWarps + threadIdx.x / kWarp;
  const std::size_t first = std::size_t{warp} * kWarp;
  if (first >= fill.x.size) return;
  const int size = fill.x.size - first < kWarp ? static_cast<int>(fill.x.size - first) : kWarp;
  FillMemory<Entry, kCandidates>& mine = memory[threadIdx.x / kWarp];
  WarpSearch<Entry, kCandidates, kCull> search(fill, mine, static_cast<std::uint32_t>(first), size);
  fill_warp(fill, search, mine.list, warp, size);
}

template <class Entry>
__global__ void __launch_bounds__(kFillWarps* kWarp) run_fill_threads(FillLists<Entry> fill) {
  __shared__ ListRow<Entry> staged[kFillWarps][kWarp][kStaged / kRowEntries];
  const std::uint32_t warp = blockIdx.x * kFillWarps + threadIdx.x / kWarp;
  const std::size_t first = std::size_t{warp} * kWarp;
  if (first >= fill.x.size) return;
  const int size = fill.x.size - first < kWarp ? static_cast<int>(fill.x.size - first) : kWarp;
  ThreadSearch<Entry> search{fill, static_cast<std::uint32_t>(first), size};
  fill_warp(fill, search, staged[threadIdx.x / kWarp], warp, size);
}

}  // namespace barchan
