// All threads of one launch as a device of their own. A schedule, which is a template over the
// device, says for_each and reduce one after the other; in_one_launch() makes a single launch of
// it, with barriers between the stages. They take a microsecond: a launch takes several.
#pragma once

#include <cuda/atomic>

#include "compute/cuda.cuh"

namespace barchan {

inline constexpr int kGridThreads = 1024;  // of a block

// Threads of one block: its barrier is cheap, so short stages are left to it.
class Block {
 public:
  __device__ static unsigned first() { return threadIdx.x; }
  __device__ static unsigned threads() { return kGridThreads; }
  __device__ static void wait() { __syncthreads(); }
};

// Threads of all blocks.
class Grid {
 public:
  static constexpr std::size_t kPartBytes = 16;  // a block's part of what is reduced

  // What a launch needs. Two launches never count in the same place: each clears the next one's.
  struct Memory {
    unsigned *arrived, *next;
    char* parts;
  };

  __device__ explicit Grid(const Memory& memory) : arrived_(memory.arrived), parts_(memory.parts) {
    if (first() == 0) *memory.next = 0;
  }

  __device__ static unsigned first() { return blockIdx.x * kGridThreads + threadIdx.x; }
  __device__ static unsigned threads() { return gridDim.x * kGridThreads; }
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
  for (unsigned i = all.first(); i < end; i += all.threads()) kernel(static_cast<int>(i));
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

// Every thread gets the result. Same bits at every run of the same GPU.
template <class Op, class Kernel>
__device__ auto reduce(Grid& grid, const char*, std::int64_t n, const Kernel& kernel) {
  using T = decltype(Op::identity());
  using Tree = cub::BlockReduce<T, kGridThreads>;
  __shared__ typename Tree::TempStorage memory;
  __shared__ T all;
  const auto end = static_cast<unsigned>(n);
  T sum = Op::identity();
  for (unsigned i = grid.first(); i < end; i += grid.threads()) {
    sum = Op::combine(sum, kernel(static_cast<int>(i)));
  }
  sum = Tree(memory).Reduce(sum, CombineWith<Op, T>{});
  T* part = grid.parts<T>();
  if (threadIdx.x == 0) part[blockIdx.x] = sum;
  grid.wait();
  sum = Op::identity();
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kGridThreads) sum = Op::combine(sum, part[b]);
  sum = Tree(memory).Reduce(sum, CombineWith<Op, T>{});
  if (threadIdx.x == 0) all = sum;
  __syncthreads();
  return all;
}
// `result` is memory that every block has for itself.
template <class Op, class T, class Kernel>
__device__ void reduce_to(Grid& grid, const char* label, std::int64_t n, const Kernel& kernel,
                          T* result) {
  const T all = reduce<Op>(grid, label, n, kernel);
  if (threadIdx.x == 0) *result = all;
  __syncthreads();
}

template <class Schedule>
__global__ void __launch_bounds__(kGridThreads)
    run_schedule(const __grid_constant__ Schedule schedule, Grid::Memory memory) {
  Grid grid(memory);
  schedule(grid);
}

// How many blocks of a kernel with that much shared memory all run at once.
template <class Kernel>
int blocks_at_once(Cuda& device, Kernel* kernel, std::size_t shared_bytes) {
  int blocks = 0;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(shared_bytes)),
             "asking for shared memory");
  check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, kGridThreads, shared_bytes),
      "asking how many blocks run at once");
  return blocks * device.multiprocessors();
}

// kernel(argument, memory) by as many blocks as `items` need and the GPU runs at once.
template <class Argument>
void launch_at_once(Cuda& device, const char* label, std::int64_t items, std::size_t shared_bytes,
                    void (*kernel)(Argument, Grid::Memory), int most_blocks,
                    const Argument& argument) {
  const CudaTimer timer(device, label);
  const std::int64_t wanted = (items + kGridThreads - 1) / kGridThreads;
  const auto blocks = static_cast<unsigned>(wanted < 1             ? 1
                                            : wanted < most_blocks ? wanted
                                                                   : most_blocks);
  unsigned* counts = device.next_barrier();
  Grid::Memory memory{counts, device.other_barrier(counts),
                      static_cast<char*>(device.scratch(2 * blocks * Grid::kPartBytes))};
  void* arguments[] = {const_cast<Argument*>(&argument), &memory};
  check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), blocks, kGridThreads,
                                         arguments, shared_bytes, device.stream()),
             label);
}

template <class Schedule>
void in_one_launch(Cuda& device, const char* label, std::int64_t items, const Schedule& schedule) {
  static const int most = blocks_at_once(device, run_schedule<Schedule>, 0);
  launch_at_once<Schedule>(device, label, items, 0, run_schedule<Schedule>, most, schedule);
}

}  // namespace barchan
