// How a GPU runs the kernels that tile_rows_cpu.h speaks of: a thread a cell.
#pragma once

#include "compute/cuda.cuh"
#include "compute/reduce_ops.h"
#include "spatial/tile_layers.h"

namespace barchan {

class CellOfTile {
 public:
  using Number = float;

  __device__ CellOfTile(const TileView& tiles, std::uint32_t cell) : tiles_(tiles), cell_(cell) {}

  __device__ float here(View<const float> f) const { return f[cell_]; }
  template <int DX, int DY, int DZ>
  __device__ float near(View<const float> f) const {
    const std::uint32_t at = tiles_.beside(cell_, DX, DY, DZ);
    return at == kNoCell ? 0.0f : f[at];
  }
  __device__ void put(View<float> f, float value) const { f[cell_] = value; }

  static __device__ float inverse_sqrt(float a) { return rsqrtf(a); }
  static __device__ float absolute(float a) { return fabsf(a); }
  static __device__ float choose(bool which, float a, float b) { return which ? a : b; }

 private:
  const TileView& tiles_;
  std::uint32_t cell_;
};

template <class Kernel>
struct AskCells {
  TileView tiles;
  LayerView set;
  Kernel kernel;
  __device__ void operator()(int cell) const {
    if (set.has(static_cast<std::uint32_t>(cell))) {
      kernel(CellOfTile(tiles, static_cast<std::uint32_t>(cell)));
    }
  }
};

template <class Kernel>
void for_each_cell(Cuda& device, const char* label, const TileView& tiles, const LayerView& set,
                   const Kernel& kernel) {
  for_each(device, label, static_cast<std::int64_t>(tiles.cells()),
           AskCells<Kernel>{tiles, set, kernel});
}

template <int N>
struct CellSumsOf {
  double of[N] = {};
  HD CellSumsOf operator+(const CellSumsOf& o) const {
    CellSumsOf sum;
    for (int k = 0; k < N; ++k) sum.of[k] = of[k] + o.of[k];
    return sum;
  }
};

template <class Kernel>
struct AskSums {
  TileView tiles;
  LayerView set;
  Kernel kernel;
  __device__ CellSumsOf<Kernel::kSums> operator()(int cell) const {
    CellSumsOf<Kernel::kSums> result;
    if (!set.has(static_cast<std::uint32_t>(cell))) return result;
    float sums[Kernel::kSums] = {};
    kernel(CellOfTile(tiles, static_cast<std::uint32_t>(cell)), sums);
    for (int k = 0; k < Kernel::kSums; ++k) result.of[k] = static_cast<double>(sums[k]);
    return result;
  }
};

template <class Kernel>
void sum_cells(Cuda& device, const char* label, const TileView& tiles, const LayerView& set,
               const Kernel& kernel, double* result) {
  using Sums = CellSumsOf<Kernel::kSums>;
  reduce_to<Sum<Sums>>(device, label, static_cast<std::int64_t>(tiles.cells()),
                       AskSums<Kernel>{tiles, set, kernel}, reinterpret_cast<Sums*>(result));
}

}  // namespace barchan
