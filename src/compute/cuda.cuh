// The CUDA device and its launches: the twin of compute/cpu.h, included from .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <cub/block/block_reduce.cuh>

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

  std::uint32_t exclusive_scan(const char* label, View<const std::uint32_t> in,
                               View<std::uint32_t> out) override;
  void sort_pairs(const char* label, View<std::uint32_t> keys, View<std::uint32_t> values,
                  int bits) override;
  void sort_pairs(const char* label, View<std::uint64_t> keys, View<std::uint32_t> values,
                  int bits) override;
  void gather(const char* label, std::size_t element_bytes, const void* in,
              View<const std::uint32_t> order, void* out) override;

  cudaStream_t stream() const { return stream_; }
  // Device memory for one launch, kept between launches; at least `bytes`.
  void* scratch(std::size_t bytes);

 private:
  template <class Key>
  void radix_sort(View<Key> keys, View<std::uint32_t> values, int bits);

  cudaStream_t stream_ = nullptr;
  std::string description_;
  void* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
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

template <class Kernel>
__global__ void __launch_bounds__(kThreadsPerBlock) run_for_each(Kernel kernel, int n) {
  const int i = blockIdx.x * kThreadsPerBlock + threadIdx.x;
  if (i < n) kernel(i);
}

template <class Kernel>
void for_each(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel) {
  if (n <= 0) return;
  const CudaTimer timer(device, label);
  const auto blocks = static_cast<unsigned>((n + kThreadsPerBlock - 1) / kThreadsPerBlock);
  run_for_each<<<blocks, kThreadsPerBlock, 0, device.stream()>>>(kernel, static_cast<int>(n));
  check_cuda(cudaGetLastError(), label);
}

// A fixed number of items a block, a fixed tree inside it: the same bits at every run.
inline constexpr int kItemsPerReduceBlock = 4096;

template <class Op, class T>
struct CombineWith {
  __device__ T operator()(const T& a, const T& b) const { return Op::combine(a, b); }
};

template <class Op, class T, class Kernel>
__global__ void __launch_bounds__(kThreadsPerBlock)
    run_reduce(Kernel kernel, int n, int items_per_block, T* partial) {
  using Tree = cub::BlockReduce<T, kThreadsPerBlock>;
  __shared__ typename Tree::TempStorage memory;
  const int begin = blockIdx.x * items_per_block;
  const int end = n < begin + items_per_block ? n : begin + items_per_block;
  T sum = Op::identity();
  for (int i = begin + static_cast<int>(threadIdx.x); i < end; i += kThreadsPerBlock) {
    sum = Op::combine(sum, kernel(i));
  }
  sum = Tree(memory).Reduce(sum, CombineWith<Op, T>{});
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

template <class T>
struct ReadPartial {
  const T* partial;
  __device__ T operator()(int i) const { return partial[i]; }
};

// Two launches: `partial` has room for one result a block, and for one more behind them.
template <class Op, class T, class Kernel>
void launch_reduce(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel,
                   T* partial, T* result) {
  const CudaTimer timer(device, label);
  const auto blocks = static_cast<int>((n + kItemsPerReduceBlock - 1) / kItemsPerReduceBlock);
  if (blocks > 0) {
    run_reduce<Op, T><<<blocks, kThreadsPerBlock, 0, device.stream()>>>(
        kernel, static_cast<int>(n), kItemsPerReduceBlock, partial);
  }
  run_reduce<Op, T><<<1, kThreadsPerBlock, 0, device.stream()>>>(ReadPartial<T>{partial}, blocks,
                                                                 blocks, result);
  check_cuda(cudaGetLastError(), label);
}

template <class T>
T* reduce_scratch(Cuda& device, std::int64_t n) {
  const std::int64_t blocks = (n + kItemsPerReduceBlock - 1) / kItemsPerReduceBlock;
  return static_cast<T*>(device.scratch(static_cast<std::size_t>(blocks + 1) * sizeof(T)));
}

// The result stays in the device's memory: nothing waits for it.
template <class Op, class T, class Kernel>
void reduce_to(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel, T* result) {
  launch_reduce<Op>(device, label, n, kernel, reduce_scratch<T>(device, n), result);
}

template <class Op, class Kernel>
auto reduce(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel) {
  using T = decltype(Op::identity());
  if (n <= 0) return Op::identity();
  T* memory = reduce_scratch<T>(device, n);
  launch_reduce<Op>(device, label, n, kernel, memory + 1, memory);
  T result;
  device.download(&result, memory, sizeof(T));
  return result;
}

}  // namespace barchan
