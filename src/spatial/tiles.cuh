// Launches over tiles (neighbours.h): the points that a kernel gathers from its neighbours are
// copied to shared memory first, for 128 particles at a time. The twin of tiles.h.
//
// A kernel has beside operator()(int i)
//     Neighbours near;
//     HD View<const Float4> gathered() const;       // what sum_pairs() reads of the neighbours
//     HD View<const Float4> gathered_more() const;  // and its second array, or an empty view
#pragma once

#include <cuda_pipeline.h>

#include <cub/block/block_reduce.cuh>

#include "compute/cuda.cuh"
#include "spatial/neighbours.h"

namespace barchan {

// Threads copy the ranges together, past the registers, so that all copies are under way at once;
// who calls it waits for them. Place 0 is far from everything, but its square is still finite.
__device__ inline void stage_tile(const TileRanges& ranges, View<const Float4> points,
                                  Float4* tile) {
  if (threadIdx.x == 0) tile[0] = {1e18f, 0.0f, 0.0f, 0.0f};
#pragma unroll
  for (int row = 0; row < 9; ++row) {
    const std::uint32_t place = ranges.place[row], size = ranges.place[row + 1] - place;
    const Float4* from = points.data + ranges.begin[row];
    for (std::uint32_t k = threadIdx.x; k < size; k += kTileParticles) {
      __pipeline_memcpy_async(tile + place + k, from + k, sizeof(Float4));
    }
  }
  __pipeline_commit();
}
__device__ inline void wait_for_tile() {
  __pipeline_wait_prior(0);
  __syncthreads();
}

// Gives the kernel its tile, if it has one that fits.
template <class Kernel>
__device__ void stage_for(Kernel& kernel, Float4* memory) {
  if (kernel.near.tiles.size == 0) return;
  __shared__ TileRanges ranges;
  constexpr int kWords = sizeof(TileRanges) / sizeof(std::uint32_t);
  if (threadIdx.x < kWords) {
    const auto* from = reinterpret_cast<const std::uint32_t*>(kernel.near.tiles.data + blockIdx.x);
    reinterpret_cast<std::uint32_t*>(&ranges)[threadIdx.x] = from[threadIdx.x];
  }
  __syncthreads();
  kernel.near.tile = &ranges;
  if (ranges.place[9] > kTileRoom) return;
  stage_tile(ranges, kernel.gathered(), memory);
  kernel.near.staged = memory;
  if (kernel.gathered_more().size > 0) {
    stage_tile(ranges, kernel.gathered_more(), memory + kTileRoom);
    kernel.near.staged_more = memory + kTileRoom;
  }
  wait_for_tile();
}

template <class Kernel>
__global__ void __launch_bounds__(kTileParticles) run_tiles(Kernel kernel, int n) {
  extern __shared__ Float4 memory[];
  stage_for(kernel, memory);
  const int i = blockIdx.x * kTileParticles + threadIdx.x;
  if (i < n) kernel(i);
}

template <class Kernel>
std::size_t tile_bytes(const Kernel& kernel) {
  return sizeof(Float4) * kTileRoom * (kernel.gathered_more().size > 0 ? 2 : 1);
}

template <class Kernel>
void for_each_tiled(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel) {
  if (n <= 0) return;
  const CudaTimer timer(device, label);
  const auto blocks = static_cast<unsigned>((n + kTileParticles - 1) / kTileParticles);
  run_tiles<<<blocks, kTileParticles, tile_bytes(kernel), device.stream()>>>(kernel,
                                                                             static_cast<int>(n));
  check_cuda(cudaGetLastError(), label);
}

template <class Op, class T, class Kernel>
__global__ void __launch_bounds__(kTileParticles)
    run_reduce_tiles(Kernel kernel, int n, T* partial, unsigned* ticket, T* result) {
  extern __shared__ Float4 memory[];
  using Tree = cub::BlockReduce<T, kTileParticles>;
  __shared__ typename Tree::TempStorage tree;
  __shared__ bool last;
  stage_for(kernel, memory);
  const int i = blockIdx.x * kTileParticles + threadIdx.x;
  const T sum = Tree(tree).Reduce(i < n ? kernel(i) : Op::identity(), CombineWith<Op, T>{});
  finish_reduce<Op, kTileParticles>(sum, partial, ticket, result, tree, last);
}

template <class Op, class T, class Kernel>
void reduce_to_tiled(Cuda& device, const char* label, std::int64_t n, const Kernel& kernel,
                     T* result) {
  const CudaTimer timer(device, label);
  const auto blocks =
      n <= 0 ? 1u : static_cast<unsigned>((n + kTileParticles - 1) / kTileParticles);
  run_reduce_tiles<Op, T><<<blocks, kTileParticles, tile_bytes(kernel), device.stream()>>>(
      kernel, static_cast<int>(n), static_cast<T*>(device.scratch(blocks * sizeof(T))),
      device.ticket(), result);
  check_cuda(cudaGetLastError(), label);
}

}  // namespace barchan
