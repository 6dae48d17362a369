// Which tiles the coarse levels of poisson.h have. The tiles of one storey are the cells of the
// next; there are few of them, so the host works it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spatial/tile_grid.h"

namespace barchan {

inline constexpr std::size_t kLastCells = 512;  // that many tiles at most need no storey above them

// All tables in one array, to go to the device at once. Behind the last tile of a storey stands the
// one of zeros, for all that do not exist.
struct StoreyTables {
  struct Storey {
    std::size_t tiles = 0;
    // Where they begin in `words`; the finest storey has only the last two, and that not if it is
    // the last one as well.
    std::size_t around = 0;   // 27 of each tile
    std::size_t tile_of = 0;  // which tile each cell of the next storey is
    std::size_t cell_of = 0;  // which cell of the next storey each tile is
  };
  std::vector<std::uint32_t> words;
  std::size_t before = 0, list = 0;  // of the finest storey, as in TileTable
  std::vector<Storey> storeys;       // up to one of at most kLastCells tiles
  int extent = 0;                    // of that one: tiles along the axis where it is longest
};

// found: of each of the grid's tiles, twice its number, and one more where it has unknowns.
StoreyTables storey_tables(const TileFrame& frame, const std::vector<std::uint64_t>& found);

}  // namespace barchan
