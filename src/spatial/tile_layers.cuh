// Cells of a layer inside one launch (compute/grid.cuh).
#pragma once

#include "compute/grid.cuh"
#include "spatial/tile_layers.h"

namespace barchan {

// A block gathers the cells of its planes first: layers are thin, and a thread would else come by
// many cells that are none of them, waiting for each that is.
inline constexpr unsigned kPlanesAtOnce = 256;

struct LayerRoom {
  using Scan = cub::BlockScan<int, kGridThreads>;
  typename Scan::TempStorage scan;
  std::uint16_t cells[kPlanesAtOnce * 64];
};
// The same for all kernels of a launch.
__device__ inline LayerRoom& layer_room() {
  __shared__ LayerRoom room;
  return room;
}

template <class Kernel>
__device__ void for_each_of(Grid& grid, const char*, const LayerView& layer, const Kernel& kernel) {
  LayerRoom& room = layer_room();
  const auto planes = static_cast<unsigned>(layer.all.size);
  const unsigned even = (planes + gridDim.x - 1) / gridDim.x;
  const unsigned share = even < kPlanesAtOnce ? even : kPlanesAtOnce;
  for (unsigned first = blockIdx.x * share; first < planes; first += gridDim.x * share) {
    std::uint64_t bits = 0;
    if (threadIdx.x < share && first + threadIdx.x < planes) bits = layer.word(first + threadIdx.x);
    int place = 0, count = 0;
    LayerRoom::Scan(room.scan).ExclusiveSum(__popcll(bits), place, count);
    for (; bits != 0; bits &= bits - 1) {
      room.cells[place++] = static_cast<std::uint16_t>(threadIdx.x * 64 + lowest_bit(bits));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += kGridThreads) {
      kernel(static_cast<int>(first * 64 + room.cells[i]));
    }
    __syncthreads();
  }
  grid.wait();
}

}  // namespace barchan
