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

// ---- Parts of cells, launched by the host

template <class Kernel>
struct AskParts {
  LayerView layer;
  Kernel kernel;
  __device__ bool operator()(int cell) const {
    return layer.has(static_cast<std::uint32_t>(cell)) && kernel(cell);
  }
};
// Threads of a warp do the same part of several cells. As in run_for_some, the last block sets the
// count back.
template <class Kernel>
__global__ void __launch_bounds__(kSomeThreads)
    run_parts(Kernel kernel, const int* some, unsigned* count, unsigned* ticket) {
  const unsigned cells = *static_cast<volatile unsigned*>(count);
  for (unsigned k = blockIdx.x * kSomeThreads + threadIdx.x; k < cells * Kernel::kParts;
       k += kSomeBlocks * kSomeThreads) {
    const int part = static_cast<int>(k / cells);
    kernel.parts(some[k % cells], part, part + 1);
  }
  __syncthreads();
  if (threadIdx.x == 0 && atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1) *count = 0;
}
template <class Kernel>
void for_each_part_of(Cuda& device, const char* label, const LayerView& layer,
                      const Kernel& kernel) {
  const std::size_t cells = layer.all.size * 64;
  if (cells == 0) return;
  const CudaTimer timer(device, label);
  int* some = static_cast<int*>(device.scratch(cells * sizeof(int)));
  const auto blocks = static_cast<unsigned>((cells + kThreadsPerBlock - 1) / kThreadsPerBlock);
  run_for_all<<<blocks, kThreadsPerBlock, 0, device.stream()>>>(
      AskParts<Kernel>{layer, kernel}, static_cast<int>(cells), some, device.item_count());
  run_parts<<<kSomeBlocks, kSomeThreads, 0, device.stream()>>>(kernel, some, device.item_count(),
                                                               device.ticket());
  check_cuda(cudaGetLastError(), label);
}

}  // namespace barchan
