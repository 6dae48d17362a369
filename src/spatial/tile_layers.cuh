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
  int first_of_b;
  std::uint16_t cells[kPlanesAtOnce * 64];
};
// The same for all kernels of a launch.
__device__ inline LayerRoom& layer_room() {
  __shared__ LayerRoom room;
  return room;
}

// The planes of a layer that a block sees to in one turn.
struct PlanesOfBlock {
  unsigned planes, share;
  __device__ explicit PlanesOfBlock(const LayerView& layer, unsigned most)
      : planes(static_cast<unsigned>(layer.all.size)) {
    const unsigned even = (planes + gridDim.x - 1) / gridDim.x;
    share = even < most ? even : most;
  }
  __device__ unsigned first(unsigned turn) const { return (turn * gridDim.x + blockIdx.x) * share; }
  __device__ unsigned turns() const {
    return share == 0 ? 0 : (planes + gridDim.x * share - 1) / (gridDim.x * share);
  }
  // What thread k of those has.
  __device__ std::uint64_t word(const LayerView& layer, unsigned turn, unsigned k) const {
    const unsigned plane = first(turn) + k;
    return k < share && turn < turns() && plane < planes ? layer.word(plane) : 0;
  }
};

// The cells of a first layer are listed before those of a second.
template <class KernelA, class KernelB>
__device__ void for_each_of_both(Grid& grid, const char*, const LayerView& a,
                                 const KernelA& kernel_a, const LayerView& b,
                                 const KernelB& kernel_b) {
  LayerRoom& room = layer_room();
  const std::size_t all = a.all.size + b.all.size;
  if (all == 0) return grid.wait();
  const auto most_b = static_cast<unsigned>((kPlanesAtOnce - 1) * b.all.size / all);
  const PlanesOfBlock of_a(a, kPlanesAtOnce - 1 - most_b), of_b(b, most_b + 1);
  const unsigned turns = of_a.turns() > of_b.turns() ? of_a.turns() : of_b.turns();
  for (unsigned turn = 0; turn < turns; ++turn) {
    const bool is_a = threadIdx.x < of_a.share;
    std::uint64_t bits =
        is_a ? of_a.word(a, turn, threadIdx.x) : of_b.word(b, turn, threadIdx.x - of_a.share);
    const unsigned plane = is_a ? threadIdx.x : threadIdx.x - of_a.share;
    int place = 0, count = 0;
    LayerRoom::Scan(room.scan).ExclusiveSum(__popcll(bits), place, count);
    if (threadIdx.x == of_a.share) room.first_of_b = place;
    for (; bits != 0; bits &= bits - 1) {
      room.cells[place++] = static_cast<std::uint16_t>(plane * 64 + lowest_bit(bits));
    }
    __syncthreads();
    const int first_of_b = room.first_of_b;
    for (int i = threadIdx.x; i < count; i += kGridThreads) {
      if (i < first_of_b) {
        kernel_a(static_cast<int>(of_a.first(turn) * 64 + room.cells[i]));
      } else {
        kernel_b(static_cast<int>(of_b.first(turn) * 64 + room.cells[i]));
      }
    }
    __syncthreads();
  }
  grid.wait();
}

struct NoKernel {
  __device__ void operator()(int) const {}
};
template <class Kernel>
__device__ void for_each_of(Grid& grid, const char* label, const LayerView& layer,
                            const Kernel& kernel) {
  for_each_of_both(grid, label, layer, kernel, LayerView{}, NoKernel{});
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
