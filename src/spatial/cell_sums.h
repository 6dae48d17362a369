// Sums over the particles in the 27 cells around a cell of a TileGrid: how particles give to a grid
// without anyone writing where another does. compute/run_sums.h says what can be summed.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/run_sums.h"
#include "spatial/tile_grid.h"

namespace barchan {

template <int kThreads = 1, class Sum>
HD inline Sums<Sum::kSums> sum_around(const TileView& tiles, std::uint32_t cell, const Sum& sum) {
  RunSums<Sum, kThreads> sums(sum);
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

// Of the particles within half a cell of a place, and others: of the eight cells nearest to it.
// `place` in cells from the cell's low corner.
template <class Sum>
HD inline Sums<Sum::kSums> sum_near(const TileView& tiles, std::uint32_t cell, const Vec3& place,
                                    const Sum& sum) {
  RunSums<Sum> sums(sum);
  const std::uint32_t tile = cell / kTileCells, at = cell % kTileCells;
  const int x = static_cast<int>(at % 8) - (place.x < 0.5f ? 1 : 0);
  const int y = static_cast<int>(at / 8 % 8) - (place.y < 0.5f ? 1 : 0);
  const int z = static_cast<int>(at / 64) - (place.z < 0.5f ? 1 : 0);
  for (int row = 0; row < 4; ++row) {
    const int ny = y + (row & 1), nz = z + (row >> 1);
    if (x >= 0 && x < 7) {  // two cells that follow each other
      const std::uint32_t first = tiles.cell(tile, x, ny, nz);
      if (first != kNoCell) sums.add(tiles.start[first], tiles.start[first + 2]);
      continue;
    }
    for (int nx = x; nx < x + 2; ++nx) {
      const std::uint32_t one = tiles.cell(tile, nx, ny, nz);
      if (one != kNoCell) sums.add(tiles.start[one], tiles.start[one + 1]);
    }
  }
  return sums.totals();
}

}  // namespace barchan
