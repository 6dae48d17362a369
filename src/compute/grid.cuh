// All threads of one launch as a device of their own. A schedule, which is a template over the
// device, says for_each and reduce one after the other; in_one_launch() makes a single launch of
// it, with barriers between the stages. They take a microsecond: a launch takes several.
#pragma once

#include <algorithm>
#include <cuda/atomic>

#include "compute/cuda.cuh"

namespace barchan {

// Of a block, if a schedule does not say otherwise by its kThreads: with fewer, each has more
// registers.
inline constexpr int kGridThreads = 1024;

// Threads of one block: its barrier is cheap, so short stages are left to it.
class Block {
 public:
  __device__ static unsigned first_item() { return threadIdx.x; }
  __device__ static unsigned threads() { return blockDim.x; }
  __device__ static void wait() { __syncthreads(); }
};

// Threads of all blocks.
class Grid {
 public:
  static constexpr std::size_t kPartBytes = 32;  // a block's part of what is reduced

  // What a launch needs. Two launches never count in the same place: each clears the next one's.
  struct Memory {
    unsigned *arrived, *next;
    char* parts;
  };

  __device__ explicit Grid(const Memory& memory) : arrived_(memory.arrived), parts_(memory.parts) {
    if (first() == 0) *memory.next = 0;
  }

  __device__ static unsigned first() { return blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ static unsigned threads() { return gridDim.x * blockDim.x; }
  // Threads take items in groups that are spread over all blocks: where there are few items, no
  // multiprocessor has many of them.
  static constexpr unsigned kGroup = 64;
  __device__ static unsigned first_item() {
    return (threadIdx.x / kGroup * gridDim.x + blockIdx.x) * kGroup + threadIdx.x % kGroup;
  }
  // All blocks run at once, or they would wait forever: launch_at_once sees to it.
  __device__ void wait() {
    if (together_) return;
    __syncthreads();
    if (threadIdx.x == 0) {
      const cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrived(*arrived_);
      goal_ += gridDim.x;
      arrived.fetch_add(1, cuda::memory_order_release);
      while (arrived.load(cuda::memory_order_acquire) < goal_) {
      }
    }
    __syncthreads();
  }
  // Stages that do not need each other share one barrier.
  __device__ void begin_together() { together_ = true; }
  __device__ void end_together() {
    together_ = false;
    wait();
  }
  // One part a block. They take turns: a block may leave its next part while others still read.
  template <class T>
  __device__ T* parts() {
    static_assert(sizeof(T) <= kPartBytes);
    turn_ = !turn_;
    return reinterpret_cast<T*>(parts_ + (turn_ ? gridDim.x * kPartBytes : 0));
  }

 private:
  unsigned* arrived_;
  unsigned goal_ = 0;
  char* parts_;
  bool turn_ = false, together_ = false;
};

template <class Threads, class Kernel>
__device__ void each_item(Threads& all, std::int64_t n, const Kernel& kernel) {
  const auto end = static_cast<unsigned>(n);
  for (unsigned i = all.first_item(); i < end; i += all.threads()) kernel(static_cast<int>(i));
  all.wait();
}
template <class Kernel>
__device__ void for_each(Block& block, const char*, std::int64_t n, const Kernel& kernel) {
  each_item(block, n, kernel);
}
template <class Kernel>
__device__ void for_each(Grid& grid, const char*, std::int64_t n, const Kernel& kernel) {
  each_item(grid, n, kernel);
}
__device__ inline void begin_together(Grid& grid) {
  grid.begin_together();
}
__device__ inline void end_together(Grid& grid) {
  grid.end_together();
}

// Over the threads of a block; the first one gets the result.
template <class Op, class T>
__device__ T reduce_block(T value) {
  using Tree = cub::WarpReduce<T>;
  __shared__ typename Tree::TempStorage memory[32];
  __shared__ T warps[32];
  const unsigned warp = threadIdx.x / 32;
  value = Tree(memory[warp]).Reduce(value, CombineWith<Op, T>{});
  if (threadIdx.x % 32 == 0) warps[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : Op::identity();
    value = Tree(memory[0]).Reduce(value, CombineWith<Op, T>{});
  }
  return value;
}

// Over all threads; every one gets the result. Same bits at every run of the same GPU.
template <class Op, class T>
__device__ T reduce_of_all(Grid& grid, T sum) {
  __shared__ T all;
  sum = reduce_block<Op>(sum);
  T* part = grid.parts<T>();
  if (threadIdx.x == 0) part[blockIdx.x] = sum;
  grid.wait();
  sum = Op::identity();
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum = Op::combine(sum, part[b]);
  sum = reduce_block<Op>(sum);
  if (threadIdx.x == 0) all = sum;
  __syncthreads();
  return all;
}
template <class Op, class Kernel>
__device__ auto reduce(Grid& grid, const char*, std::int64_t n, const Kernel& kernel) {
  const auto end = static_cast<unsigned>(n);
  auto sum = Op::identity();
  for (unsigned i = grid.first_item(); i < end; i += grid.threads()) {
    sum = Op::combine(sum, kernel(static_cast<int>(i)));
  }
  return reduce_of_all<Op>(grid, sum);
}
// `result` is memory that every block has for itself.
template <class Op, class T, class Kernel>
__device__ void reduce_to(Grid& grid, const char* label, std::int64_t n, const Kernel& kernel,
                          T* result) {
  const T all = reduce<Op>(grid, label, n, kernel);
  if (threadIdx.x == 0) *result = all;
  __syncthreads();
}

// The sum of the values of the threads before this one; `total` of them all. Each block for itself.
__device__ inline unsigned sum_before(unsigned value, unsigned& total) {
  __shared__ unsigned warps[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned sum = value;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned below = __shfl_up_sync(0xffffffffu, sum, step);
    if (lane >= step) sum += below;
  }
  if (lane == 31) warps[warp] = sum;
  __syncthreads();
  unsigned before = 0;
  total = 0;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) {
    if (w == warp) before = total;
    total += warps[w];
  }
  __syncthreads();
  return before + sum - value;
}

// Each count becomes the sum of those before it.
__device__ inline void scan_in_place(Grid& grid, View<std::uint32_t> counts) {
  const auto size = static_cast<unsigned>(counts.size);
  const unsigned each = (size + grid.threads() - 1) / grid.threads(), first = each * grid.first();
  const unsigned end = first + each < size ? first + each : size;
  unsigned mine = 0, total = 0;
  for (unsigned i = first; i < end; ++i) mine += counts[i];
  unsigned before = sum_before(mine, total);
  auto* part = grid.parts<unsigned>();
  if (threadIdx.x == 0) part[blockIdx.x] = total;
  grid.wait();
  unsigned blocks_before = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += blockDim.x) blocks_before += part[b];
  sum_before(blocks_before, total);
  before += total;
  for (unsigned i = first; i < end; ++i) {
    const unsigned count = counts[i];
    counts[i] = before;
    before += count;
  }
  grid.wait();
}

template <class Schedule>
constexpr int threads_for() {
  if constexpr (requires { Schedule::kThreads; }) {
    return Schedule::kThreads;
  } else {
    return kGridThreads;
  }
}

template <class Schedule>
__global__ void __launch_bounds__(threads_for<Schedule>())
    run_schedule(const __grid_constant__ Schedule schedule, Grid::Memory memory) {
  Grid grid(memory);
  schedule(grid);
}

// How a kernel whose blocks wait for each other is launched: kernel(argument, memory), by no more
// blocks than the GPU runs at once. A kernel that can do with blocks of fewer threads says how few.
template <class Argument>
struct AtOnce {
  void (*kernel)(Argument, Grid::Memory);
  int threads, least_threads;
  std::size_t shared_bytes;
  int most_blocks;

  AtOnce(Cuda& device, void (*run)(Argument, Grid::Memory), int block_threads, std::size_t shared)
      : AtOnce(device, run, block_threads, block_threads, shared) {}
  AtOnce(Cuda& device, void (*run)(Argument, Grid::Memory), int block_threads, int least,
         std::size_t shared)
      : kernel(run), threads(block_threads), least_threads(least), shared_bytes(shared) {
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared)),
               "asking for shared memory");
    most_blocks = blocks_at_once(device, kernel, threads, shared);
  }
  // `items` of the largest stage. Few of them are spread over all multiprocessors, or over a share
  // of these.
  void launch(Cuda& device, const char* label, std::int64_t items, const Argument& argument,
              double share = 1.0) const {
    const CudaTimer timer(device, label);
    const auto part_of = [&](int all) { return static_cast<std::int64_t>(share * all); };
    const std::int64_t even =
        (items / part_of(device.multiprocessors()) + Grid::kGroup) / Grid::kGroup * Grid::kGroup;
    const auto these = static_cast<int>(std::clamp<std::int64_t>(even, least_threads, threads));
    const auto blocks = static_cast<unsigned>(std::min(items / these + 1, part_of(most_blocks)));
    const Cuda::Barriers barriers = device.take_barriers();
    Grid::Memory memory{barriers.now, barriers.next,
                        static_cast<char*>(device.scratch(2 * blocks * Grid::kPartBytes))};
    void* arguments[] = {const_cast<Argument*>(&argument), &memory};
    check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), blocks, these,
                                           arguments, shared_bytes, device.stream()),
               label);
  }
};

template <class Schedule>
void in_one_launch(Cuda& device, const char* label, std::int64_t items, const Schedule& schedule) {
  static const AtOnce<Schedule> how(device, run_schedule<Schedule>, threads_for<Schedule>(), 0);
  how.launch(device, label, items, schedule);
}

}  // namespace barchan
