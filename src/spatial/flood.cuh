// The flood of closed_regions.h on a GPU, where there are few tiles: one launch, and no host in it.
#pragma once

#include "compute/cuda.cuh"
#include "spatial/closed_region_kernels.h"

namespace barchan {

inline constexpr int kFloodThreads = 512;
template <>
inline constexpr std::size_t kFewTiles<Cuda> = 1024;

// Whether any tile of the block has more than before.
__device__ inline bool flood_in_block(const FloodTile& flood, int tiles) {
  bool grown = false;
  for (auto tile = static_cast<int>(threadIdx.x); tile < tiles; tile += kFloodThreads) {
    grown = flood(tile) || grown;
  }
  return __syncthreads_or(grown) != 0;
}

// Back and forth between two boards, until neither way brings anything: then both are the same.
static __global__ void __launch_bounds__(kFloodThreads)
    run_flood(FloodTile there, FloodTile back, int tiles) {
  bool again = true;
  while (again) {
    again = flood_in_block(there, tiles);
    again = flood_in_block(back, tiles) || again;
  }
}

inline void flood_few(Cuda& device, const char* label, std::size_t tiles, const FloodTile& there,
                      const FloodTile& back) {
  const CudaTimer timer(device, label);
  run_flood<<<1, kFloodThreads, 0, device.stream()>>>(there, back, static_cast<int>(tiles));
  check_cuda(cudaGetLastError(), label);
}

}  // namespace barchan
