// Sums over the particles in the 27 cells around a cell of a TileGrid: how particles give to a grid
// without anyone writing where another does. compute/run_sums.h says what can be summed.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/run_sums.h"
#include "spatial/tile_grid.h"

namespace barchan {

template <class Sum>
HD inline Sums<Sum::kSums> sum_around(const TileView& tiles, std::uint32_t cell, const Sum& sum) {
  RunSums<Sum> sums(sum);
  const std::uint32_t tile = cell / kTileCells, place = cell % kTileCells;
  const int x = static_cast<int>(place % 8), y = static_cast<int>(place / 8 % 8),
            z = static_cast<int>(place / 64);
  // Three cells along x follow each other, but at a tile's border.
  const int from = x > 0 ? x - 1 : 0, to = x < 7 ? x + 1 : 7;
  for (int row = 0; row < 9; ++row) {
    const int ny = y + row % 3 - 1, nz = z + row / 3 - 1;
    const std::uint32_t first = tiles.cell(tile, from, ny, nz);
    if (first != kNoCell) {
      sums.add(tiles.start[first], tiles.start[first + static_cast<std::uint32_t>(to - from) + 1]);
    }
    if (x > 0 && x < 7) continue;
    const std::uint32_t beyond = tiles.cell(tile, x > 0 ? 8 : -1, ny, nz);
    if (beyond != kNoCell) sums.add(tiles.start[beyond], tiles.start[beyond + 1]);
  }
  return sums.totals();
}

}  // namespace barchan
