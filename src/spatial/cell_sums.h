// Sums over the particles in the 27 cells around a cell of a TileGrid: how particles give to a grid
// without anyone writing where another does.
//
// What is summed is a struct
//     static constexpr int kSums = 6;
//     template <class T> HD void operator()(const Particles<T>& at, T* sums) const;
// whose arithmetic runs on one particle (a GPU's thread) or on sixteen at once (CPU): at(array)
// gives their numbers, at.there is 1, or 0 for lanes without a particle, to be multiplied in.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/lanes.h"
#include "compute/pair_sums.h"
#include "spatial/tile_grid.h"

namespace barchan {

#if defined(__CUDACC__)
inline namespace for_cuda {
#else
inline namespace for_cpu {
#endif

template <class T>
struct Particles {
  std::uint32_t first;
  int count;
  T there;
  HD T operator()(const float* numbers) const {
#if defined(__CUDACC__)
    return numbers[first];
#else
    return load_first(numbers + first, count);
#endif
  }
};

template <class Sum, class T>
HD inline void add_run(std::uint32_t begin, std::uint32_t end, const Sum& sum, T* sums) {
#if defined(__CUDACC__)
  for (std::uint32_t i = begin; i < end; ++i) sum(Particles<T>{i, 1, 1.0f}, sums);
#else
  for (std::uint32_t i = begin; i < end; i += kLanes) {
    const auto count = static_cast<int>(end - i);
    sum(Particles<T>{i, count, keep_first(Lanes{} + 1.0f, count, 0.0f)}, sums);
  }
#endif
}

template <class Sum>
HD inline Sums<Sum::kSums> sum_around(const TileView& tiles, std::uint32_t cell, const Sum& sum) {
#if defined(__CUDACC__)
  using Number = float;
#else
  using Number = Lanes;
#endif
  Number sums[Sum::kSums] = {};
  const std::uint32_t tile = cell / kTileCells, place = cell % kTileCells;
  const int x = static_cast<int>(place % 8), y = static_cast<int>(place / 8 % 8),
            z = static_cast<int>(place / 64);
  for (int row = 0; row < 9; ++row) {
    const int ny = y + row % 3 - 1, nz = z + row / 3 - 1;
    // Three cells along x follow each other, but at a tile's border.
    const int from = x > 0 ? x - 1 : 0, to = x < 7 ? x + 1 : 7;
    const std::uint32_t first = tiles.cell(tile, from, ny, nz);
    if (first != kNoCell) {
      add_run(tiles.start[first], tiles.start[first + static_cast<std::uint32_t>(to - from) + 1],
              sum, sums);
    }
    if (x > 0 && x < 7) continue;
    const std::uint32_t beyond = tiles.cell(tile, x > 0 ? 8 : -1, ny, nz);
    if (beyond != kNoCell) add_run(tiles.start[beyond], tiles.start[beyond + 1], sum, sums);
  }
  Sums<Sum::kSums> result;
  for (int k = 0; k < Sum::kSums; ++k) {
#if defined(__CUDACC__)
    result.value[k] = sums[k];
#else
    result.value[k] = sum_of(sums[k]);
#endif
  }
  return result;
}

}  // inline namespace

}  // namespace barchan
