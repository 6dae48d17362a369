// The tiles of one level of the pressure solver, as its kernels see them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"

namespace barchan {

// Tiles of a level with `edge` cells along each axis. Behind the last tile lies one more, full of
// zeros: it stands for all that do not exist, so that nobody has to ask.
struct LevelTiles {
  View<const std::uint32_t> around;  // 27 of each: the tiles around it, or the one of zeros
  View<const std::uint32_t> rows;    // two words of each: bit z * edge + y, row has unknowns
  std::size_t tiles;
};

// Which of a grid's tiles of 8^3 cells a table of them holds.
struct TileTable {
  View<const std::uint32_t> before;  // how many of it come before each of the grid's tiles
  View<const std::uint32_t> list;    // the grid's number of each

  // Where the grid's tile is in the table; behind the last one if it is not.
  HD std::uint32_t tile(std::uint32_t of) const {
    const auto none = static_cast<std::uint32_t>(list.size);
    if (of >= before.size) return none;
    const std::uint32_t place = before[of];
    return place < none && list[place] == of ? place : none;
  }
  // The same for cells.
  HD std::uint32_t cell(std::uint32_t of) const { return tile(of / 512) * 512 + of % 512; }
};

inline constexpr std::size_t kMiddle = 13;  // of the 27: the tile itself

// Cell (x, y, z) counted from the first cell of a tile, each from -edge to 2 edge - 1.
template <int E>
HD inline std::size_t cell_near(const LevelTiles& level, std::size_t tile, int x, int y, int z) {
  const int tx = (x + E) / E, ty = (y + E) / E, tz = (z + E) / E;
  const std::size_t of = level.around[tile * 27 + static_cast<std::size_t>((tz * 3 + ty) * 3 + tx)];
  const int place = ((z & (E - 1)) * E + (y & (E - 1))) * E + (x & (E - 1));
  return of * (E * E * E) + static_cast<std::size_t>(place);
}

}  // namespace barchan
