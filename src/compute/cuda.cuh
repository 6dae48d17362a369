// The CUDA device and its launches: the twin of compute/cpu.h, included from .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "base/error.h"
#include "compute/buffer.h"
#include "compute/device.h"

namespace barchan {

inline void check_cuda(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  if (code == cudaErrorMemoryAllocation) {
    fail("out of GPU memory in {}: use fewer particles or a coarser resolution", what);
  }
  fail("CUDA fault in {}: {}", what, cudaGetErrorString(code));
}

class Cuda final : public Device {
 public:
  Cuda();
  ~Cuda() override;

  bool on_host() const override { return false; }
  Cuda* as_cuda() override { return this; }
  std::string name() const override { return "cuda"; }
  std::string description() const override { return description_; }
  int threads() const override { return 0; }

  void* allocate(std::size_t bytes) override;
  void release(void* memory) override;
  void upload(void* to, const void* from_host, std::size_t bytes) override;
  void download(void* to_host, const void* from, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void clear(void* memory, std::size_t bytes) override;
  void wait() override;
  std::shared_ptr<void> host_memory(std::size_t bytes) override;
  void download_later(void* to_host, const void* from, std::size_t bytes) override;
  void wait_for_download() override;

  std::uint32_t exclusive_scan(const char* label, View<const std::uint32_t> in,
                               View<std::uint32_t> out) override;
  void sort_pairs(const char* label, View<std::uint32_t> keys, View<std::uint32_t> values,
                  int bits) override;
  void sort_pairs(const char* label, View<std::uint64_t> keys, View<std::uint32_t> values,
                  int bits) override;
  void gather(const char* label, View<const std::uint32_t> order,
              const std::vector<Gathered>& columns) override;

  // Where launches go now: the main stream, or the one beside it.
  cudaStream_t stream() const { return streams_[lane_]; }
  void fork_aside();
  void begin_aside();
  void end_aside();
  void join_aside();
  int multiprocessors() const { return multiprocessors_; }
  // Device memory for one launch, kept between launches; at least `bytes`. Each stream has its own.
  void* scratch(std::size_t bytes);
  // Host memory that kernels can write to: how a few numbers come back without a copy.
  static constexpr std::size_t kMailboxBytes = 1 << 17;
  void* mailbox() const { return mailbox_; }
  // A number there that says which letter of download() came last.
  unsigned* letter() const {
    return reinterpret_cast<unsigned*>(static_cast<char*>(mailbox_) + kMailboxBytes);
  }
  // For kernels that count their blocks as they end (run_reduce), and for those that count items
  // (run_for_all). 0 between launches.
  unsigned* ticket() const { return counts_[lane_].ticket; }
  unsigned* item_count() const { return counts_[lane_].items; }
  // For kernels whose blocks wait for each other (compute/grid.cuh): a count of 0, and the one of
  // the next such launch. They take turns.
  struct Barriers {
    unsigned *now, *next;
  };
  Barriers take_barriers() {
    Counts& mine = counts_[lane_];
    std::swap(mine.barriers.now, mine.barriers.next);
    return mine.barriers;
  }
  // As exclusive_scan, in place and without looking at the sum: nothing waits.
  void scan_in_place(const char* label, View<std::uint32_t> counts);

 private:
  template <class Key>
  void radix_sort(View<Key> keys, View<std::uint32_t> values, int bits);

  struct Scratch {
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  struct Counts {
    unsigned *ticket, *items;
    Barriers barriers;
  };
  static constexpr int kLanes = 2;  // streams

  cudaStream_t streams_[kLanes] = {};
  int lane_ = 0;
  bool has_forked_ = false;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr, downloaded_ = nullptr;
  std::string description_;
  int multiprocessors_ = 0;
  Scratch scratch_[kLanes];
  void* mailbox_ = nullptr;
  unsigned letters_ = 0;  // that came by the mailbox from kernels
  unsigned* count_memory_ = nullptr;
  Counts counts_[kLanes];
  std::unordered_map<void*, std::size_t> sizes_;
};

// Adds the GPU time until it dies to a label, while the profiler is enabled.
class CudaTimer {
 public:
  CudaTimer(Cuda& device, const char* label);
  ~CudaTimer();
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;

 private:
  Cuda& device_;
  const char* label_;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

inline constexpr int kThreadsPerBlock = 256;

// Smaller ones for launches without a sum, so that few items spread evenly.
inline constexpr int kThreadsForEach = 128;

inline unsigned blocks_for(std::int64_t n) {
  return static_cast<unsigned>((n + kThreadsForEach - 1) / kThreadsForEach);
}
template <class Kernel>
__global__ void __launch_bounds__(kThreadsForEach) run_for_each(Kernel kernel, int n) {
  const int i = blockIdx.x * kThreadsForEach + threadIdx.x;
  if (i < n) kernel(i);
}

template <class Kernel>
void for_each(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel) {
  if (n <= 0) return;
  const CudaTimer timer(device, label);
  run_for_each<<<blocks_for(n), kThreadsForEach, 0, device.stream()>>>(kernel, static_cast<int>(n));
  check_cuda(cudaGetLastError(), label);
}

// Two kernels that do not need each other, in one launch: the first blocks see to the first.
template <class First, class Second>
__global__ void __launch_bounds__(kThreadsForEach)
    run_for_both(First first, int n, unsigned blocks, Second second, int m) {
  if (blockIdx.x < blocks) {
    const int i = blockIdx.x * kThreadsForEach + threadIdx.x;
    if (i < n) first(i);
  } else {
    const int i = (blockIdx.x - blocks) * kThreadsForEach + threadIdx.x;
    if (i < m) second(i);
  }
}
template <class First, class Second>
void for_both(Cuda& device, const char* label, std::int64_t n, const First& first, std::int64_t m,
              const Second& second) {
  const unsigned blocks = blocks_for(n), all = blocks + blocks_for(m);
  if (all == 0) return;
  const CudaTimer timer(device, label);
  run_for_both<<<all, kThreadsForEach, 0, device.stream()>>>(first, static_cast<int>(n), blocks,
                                                             second, static_cast<int>(m));
  check_cuda(cudaGetLastError(), label);
}

// Stages that do not need each other stand between these two: Grid (grid.cuh) gains by it.
inline void begin_together(Cuda&) {}
inline void end_together(Cuda&) {}
// What is launched between begin_aside and end_aside runs beside what follows them, up to
// join_aside; and beside what was launched before them, from fork_aside on, if that was said.
inline void fork_aside(Cuda& device) {
  device.fork_aside();
}
inline void begin_aside(Cuda& device) {
  device.begin_aside();
}
inline void end_aside(Cuda& device) {
  device.end_aside();
}
inline void join_aside(Cuda& device) {
  device.join_aside();
}

// Blocks of a kernel that run at once.
template <class Run>
int blocks_at_once(Cuda& device, Run* kernel, int threads, std::size_t shared_bytes = 0) {
  int blocks = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes),
             "asking how many blocks run at once");
  return blocks * device.multiprocessors();
}

// Few items: in one launch, where each block gathers its own. The order of these is the hardware's,
// which nothing depends on.
inline constexpr std::int64_t kFewItems = 1 << 18;
template <class Kernel>
__global__ void __launch_bounds__(kThreadsForEach) run_for_all_and_some(Kernel kernel, int n) {
  __shared__ int some[kThreadsForEach];
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  const int i = blockIdx.x * kThreadsForEach + threadIdx.x;
  if (i < n && kernel(i)) some[atomicAdd(&count, 1u)] = i;
  __syncthreads();
  if (threadIdx.x < count) kernel.some(some[threadIdx.x]);
}

// Many: in two launches, so that the short work of all does not wait for the registers of the long
// work of few.
template <class Kernel>
__global__ void __launch_bounds__(kThreadsPerBlock)
    run_for_all(Kernel kernel, int n, int* some, unsigned* count) {
  const int i = blockIdx.x * kThreadsPerBlock + threadIdx.x;
  const bool wanted = i < n && kernel(i);
  const unsigned warp = __ballot_sync(0xffffffffu, wanted);
  if (warp == 0) return;
  const unsigned lane = threadIdx.x % 32;
  unsigned place = 0;
  if (lane == 0) place = atomicAdd(count, static_cast<unsigned>(__popc(warp)));
  place = __shfl_sync(0xffffffffu, place, 0) + __popc(warp & ((1u << lane) - 1));
  if (wanted) some[place] = i;
}

inline constexpr int kSomeThreads = 64, kSomeBlocks = 1056;

// The last block sets the count back to 0 for the next launch.
template <class Kernel>
__global__ void __launch_bounds__(kSomeThreads)
    run_for_some(Kernel kernel, const int* some, unsigned* count, unsigned* ticket) {
  const unsigned end = *static_cast<volatile unsigned*>(count);
  for (unsigned k = blockIdx.x * kSomeThreads + threadIdx.x; k < end;
       k += kSomeBlocks * kSomeThreads) {
    kernel.some(some[k]);
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1) *count = 0;
}

template <class Kernel>
void for_each_some(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel) {
  if (n <= 0) return;
  const CudaTimer timer(device, label);
  if (n <= kFewItems) {
    run_for_all_and_some<<<blocks_for(n), kThreadsForEach, 0, device.stream()>>>(
        kernel, static_cast<int>(n));
    return check_cuda(cudaGetLastError(), label);
  }
  int* some = static_cast<int*>(device.scratch(static_cast<std::size_t>(n) * sizeof(int)));
  const auto blocks = static_cast<unsigned>((n + kThreadsPerBlock - 1) / kThreadsPerBlock);
  run_for_all<<<blocks, kThreadsPerBlock, 0, device.stream()>>>(kernel, static_cast<int>(n), some,
                                                                device.item_count());
  run_for_some<<<kSomeBlocks, kSomeThreads, 0, device.stream()>>>(kernel, some, device.item_count(),
                                                                  device.ticket());
  check_cuda(cudaGetLastError(), label);
}

template <class Op, class T>
struct CombineWith {
  __device__ T operator()(const T& a, const T& b) const { return Op::combine(a, b); }
};

// Each block leaves a partial result; the block that ends last combines them, in their order.
template <class Op, int kThreads, class T, class TreeMemory>
__device__ void finish_reduce(T sum, T* partial, unsigned* ticket, T* result, TreeMemory& memory,
                              bool& last) {
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;  // the last one sets it back to 0
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  sum = Op::identity();
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < gridDim.x; i += kThreads) {
    sum = Op::combine(sum, partial[i]);
  }
  sum = cub::BlockReduce<T, kThreads>(memory).Reduce(sum, CombineWith<Op, T>{});
  if (threadIdx.x == 0) *result = sum;
}

// A thread takes every so manieth item: the ends of blocks, where all wait for the combination,
// cost a fifth of a pass over neighbours when there is a block for each 256 items.
template <class Op, class T, class Kernel>
__global__ void __launch_bounds__(kThreadsPerBlock)
    run_reduce(Kernel kernel, int n, T* partial, unsigned* ticket, T* result) {
  using Tree = cub::BlockReduce<T, kThreadsPerBlock>;
  __shared__ typename Tree::TempStorage memory;
  __shared__ bool last;
  const auto end = static_cast<unsigned>(n);
  T sum = Op::identity();
  for (unsigned i = blockIdx.x * kThreadsPerBlock + threadIdx.x; i < end;
       i += gridDim.x * kThreadsPerBlock) {
    sum = Op::combine(sum, kernel(static_cast<int>(i)));
  }
  sum = Tree(memory).Reduce(sum, CombineWith<Op, T>{});
  finish_reduce<Op, kThreadsPerBlock>(sum, partial, ticket, result, memory, last);
}

// The result stays in the device's memory: nothing waits for it. No more blocks than run at once;
// their number depends on n and the GPU alone, and the tree inside a block is fixed: the same bits
// at every run.
template <class Op, class T, class Kernel>
void reduce_to(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel, T* result) {
  const CudaTimer timer(device, label);
  static const std::int64_t most =
      blocks_at_once(device, run_reduce<Op, T, Kernel>, kThreadsPerBlock);
  const std::int64_t wanted = n <= 0 ? 1 : (n + kThreadsPerBlock - 1) / kThreadsPerBlock;
  const auto blocks = static_cast<unsigned>(wanted < most ? wanted : most);
  run_reduce<Op, T><<<blocks, kThreadsPerBlock, 0, device.stream()>>>(
      kernel, static_cast<int>(n), static_cast<T*>(device.scratch(blocks * sizeof(T))),
      device.ticket(), result);
  check_cuda(cudaGetLastError(), label);
}

// Turns that each thread of a block takes over its items: for about as many blocks as a large GPU
// runs at once, so that those few items that need the long work fill warps.
inline constexpr int kMostTurns = 16;
inline int turns_of_block(std::int64_t n) {
  constexpr std::int64_t kBlocks = 264;
  const std::int64_t turns = n / (kBlocks * kThreadsPerBlock) + 1;
  return static_cast<int>(turns < kMostTurns ? turns : kMostTurns);
}

// The items of this block that `wanted` says yes to, in a fixed order in shared memory.
struct BlockItems {
  using Scan = cub::BlockScan<int, kThreadsPerBlock>;
  typename Scan::TempStorage memory;
  int item[kMostTurns * kThreadsPerBlock];

  // How many there are. Each of so many parts takes every so manieth group of items: those that
  // `wanted` says yes to lie side by side, and no block shall have most of them.
  template <class Wanted>
  __device__ int gather(int n, int part, int parts, int turns, const Wanted& wanted) {
    const int first = part * kThreadsPerBlock + static_cast<int>(threadIdx.x);
    const int stride = parts * kThreadsPerBlock;
    unsigned mine = 0;
#pragma unroll 4
    for (int u = 0; u < turns; ++u) {
      const int i = first + u * stride;
      if (i < n && wanted(i)) mine |= 1u << u;
    }
    int place = 0, total = 0;
    Scan(memory).ExclusiveSum(__popc(mine), place, total);
    for (; mine != 0; mine &= mine - 1) {
      item[place++] = first + (__ffs(mine) - 1) * stride;
    }
    __syncthreads();
    return total;
  }
};

template <class Kernel>
struct Counts {
  const Kernel& kernel;
  __device__ bool operator()(int i) const { return kernel.counts(i); }
};

template <class Op, class T, class Kernel>
__global__ void __launch_bounds__(kThreadsPerBlock)
    run_reduce_some(Kernel kernel, int n, int turns, T* partial, unsigned* ticket, T* result) {
  using Tree = cub::BlockReduce<T, kThreadsPerBlock>;
  __shared__ typename Tree::TempStorage memory;
  __shared__ BlockItems items;
  __shared__ bool last;
  T sum = Op::identity();
  const int parts = (n + turns * kThreadsPerBlock - 1) / (turns * kThreadsPerBlock);
  for (int part = blockIdx.x; part < parts; part += gridDim.x) {
    const int some = items.gather(n, part, parts, turns, Counts<Kernel>{kernel});
    for (int k = threadIdx.x; k < some; k += kThreadsPerBlock) {
      sum = Op::combine(sum, kernel(items.item[k]));
    }
    __syncthreads();
  }
  sum = Tree(memory).Reduce(sum, CombineWith<Op, T>{});
  finish_reduce<Op, kThreadsPerBlock>(sum, partial, ticket, result, memory, last);
}

template <class Op, class T, class Kernel>
void reduce_some_to(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel,
                    T* result) {
  const CudaTimer timer(device, label);
  static const int most = blocks_at_once(device, run_reduce_some<Op, T, Kernel>, kThreadsPerBlock);
  const int turns = turns_of_block(n);
  const std::int64_t items = std::int64_t{turns} * kThreadsPerBlock;
  const std::int64_t parts = n <= 0 ? 1 : (n + items - 1) / items;
  const auto blocks = static_cast<int>(parts < most ? parts : most);
  run_reduce_some<Op, T><<<blocks, kThreadsPerBlock, 0, device.stream()>>>(
      kernel, static_cast<int>(n), turns, static_cast<T*>(device.scratch(blocks * sizeof(T))),
      device.ticket(), result);
  check_cuda(cudaGetLastError(), label);
}

template <class Op, class Kernel>
auto reduce(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel) {
  using T = decltype(Op::identity());
  static_assert(sizeof(T) <= Cuda::kMailboxBytes);
  if (n <= 0) return Op::identity();
  T* result = static_cast<T*>(device.mailbox());
  reduce_to<Op>(device, label, n, kernel, result);
  device.wait();
  return *result;
}

}  // namespace barchan
