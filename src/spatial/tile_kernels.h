// Kernels behind tile_grid.h, for both devices.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/view.h"
#include "spatial/kernels.h"
#include "spatial/tile_grid.h"

namespace barchan {

// 1 where a tile begins in the sorted keys.
template <class Key>
struct TileBegins {
  View<const Key> key;
  View<std::uint32_t> begins;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    begins[i] = at == 0 || key[i] / kTileCells != key[i - 1] / kTileCells ? 1u : 0u;
  }
};

// Where each tile with particles begins; `before` counts the beginnings before i.
template <class Key>
struct TileFirsts {
  View<const Key> key;
  View<const std::uint32_t> before;
  View<std::uint32_t> first;   // out
  View<std::uint32_t> wanted;  // out: 0
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    if (at != 0 && key[i] / kTileCells == key[i - 1] / kTileCells) return;
    first[before[i]] = static_cast<std::uint32_t>(at);
    wanted[before[i]] = 0;
  }
};

// Which of the 27 tiles around its own are within reach of a cell, as bits: those that are so along
// all three axes.
HD inline std::uint32_t tiles_in_reach(int place, int reach) {
  constexpr std::uint32_t kFirstX = 0x1249249, kFirstY = 0x1c0e07, kFirstZ = 0x1ff;
  const auto along = [&](int c, std::uint32_t first, int turn) {
    const std::uint32_t before = c - reach < 0 ? first : 0u;
    const std::uint32_t behind = c + reach >= kTileEdge ? first << (2 * turn) : 0u;
    return before | first << turn | behind;
  };
  return along(place % 8, kFirstX, 1) & along(place / 8 % 8, kFirstY, 3) &
         along(place / 64, kFirstZ, 9);
}

// Which of the 27 tiles around each are within reach of its particles.
template <class Key>
struct WantAround {
  View<const Key> key;
  View<const std::uint32_t> before;  // beginnings before i
  int reach;                         // [cells]
  View<std::uint32_t> wanted;        // in and out

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    if (at != 0 && key[i] == key[i - 1]) return;  // the first of each cell will do
    const bool begins = at == 0 || key[i] / kTileCells != key[i - 1] / kTileCells;
    set_bits(&wanted[before[i] - (begins ? 0u : 1u)],
             tiles_in_reach(static_cast<int>(key[i] % kTileCells), reach));
  }
};

// ---- Where the frame has few tiles, each has its place in a table.

template <class Key>
struct WantInFrame {
  View<const Key> key;
  int reach;                   // [cells]
  View<std::uint32_t> wanted;  // in and out, of each tile of the frame
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    if (at != 0 && key[i] == key[i - 1]) return;
    set_bits(&wanted[static_cast<std::size_t>(key[i] / kTileCells)],
             tiles_in_reach(static_cast<int>(key[i] % kTileCells), reach));
  }
};

struct FlagWanted {
  View<const std::uint32_t> wanted;
  TileFrame frame;
  View<std::uint32_t> flag;  // out: 1 where any of the tiles around wants this one; one more: 0
  HD void operator()(int tile) const {
    const auto tiles = static_cast<std::int64_t>(wanted.size);
    std::uint32_t any = 0;
    BARCHAN_UNROLLED_8
    for (int of = 0; of < 27; ++of) {
      const std::int64_t by = tile - frame.step(of % 3 - 1, of / 3 % 3 - 1, of / 9 - 1);
      const bool inside = by >= 0 && by < tiles;
      any |= inside ? wanted[static_cast<std::size_t>(by)] >> of & 1u : 0u;
    }
    flag[static_cast<std::size_t>(tile)] = tile < tiles ? any : 0u;
  }
};

struct NumberFlagged {
  View<const std::uint32_t> before;  // flagged ones before each; one more: all
  View<std::uint64_t> number;        // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    if (before[i + 1] > before[i]) number[before[i]] = static_cast<std::uint64_t>(at);
  }
};

struct NumberWanted {
  FlagWanted flag;
  View<std::uint64_t> number;  // out, of the flagged ones
  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    const auto tiles = static_cast<std::int64_t>(flag.wanted.size);
    for_each(device, "tiles: table", tiles + 1, flag);
    scan_in_place(device, flag.flag);
    for_each(device, "tiles: table", tiles, NumberFlagged{flag.flag, number});
  }
};

// ---- Elsewhere the numbers of those wanted are sorted.

struct CountBits {
  View<const std::uint32_t> bits;
  View<std::uint32_t> count;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    count[i] = static_cast<std::uint32_t>(bit_count(bits[i]));
  }
};

// The numbers of all wanted tiles, some of them several times.
template <class Key>
struct ListTiles {
  View<const Key> key;
  View<const std::uint32_t> first, wanted, place;  // place: where each one's list begins
  TileFrame frame;
  View<std::uint64_t> number;  // out
  View<std::uint32_t> order;   // out: 0, 1, 2 ...
  HD void operator()(int at) const {
    const auto tile = static_cast<std::size_t>(at);
    const auto middle = static_cast<std::int64_t>(key[first[tile]] / kTileCells);
    std::size_t to = place[tile];
    for (std::uint32_t bits = wanted[tile]; bits != 0; bits &= bits - 1) {
      const auto of = static_cast<int>(lowest_bit(bits));
      order[to] = static_cast<std::uint32_t>(to);
      number[to++] =
          static_cast<std::uint64_t>(middle + frame.step(of % 3 - 1, of / 3 % 3 - 1, of / 9 - 1));
    }
  }
};

struct DistinctTiles {
  View<const std::uint64_t> sorted;
  View<std::uint32_t> begins;  // out: 1 where a number is new
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    begins[i] = at == 0 || sorted[i] != sorted[i - 1] ? 1u : 0u;
  }
};

struct KeepDistinct {
  View<const std::uint64_t> sorted;
  View<const std::uint32_t> before;
  View<std::uint64_t> number;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    if (at == 0 || sorted[i] != sorted[i - 1]) number[before[i]] = sorted[i];
  }
};

struct FindAround {
  View<const std::uint64_t> number;
  TileFrame frame;
  View<std::uint32_t> around;  // out
  HD void operator()(int item) const {
    const auto at = static_cast<std::size_t>(item);
    const int of = item % 27;
    const std::int64_t wanted = static_cast<std::int64_t>(number[at / 27]) +
                                frame.step(of % 3 - 1, of / 3 % 3 - 1, of / 9 - 1);
    const std::uint32_t place = lower_bound(number, wanted);
    const bool there = place < number.size && static_cast<std::int64_t>(number[place]) == wanted;
    around[at] = there ? place : kNoCell;
  }
};

// Where each tile's particles begin; one more.
template <class Key>
struct FindTileStarts {
  View<const Key> key;
  View<const std::uint64_t> number;
  View<std::uint32_t> start;  // out
  HD void operator()(int at) const {
    const auto tile = static_cast<std::size_t>(at);
    start[tile] = tile == number.size
                      ? static_cast<std::uint32_t>(key.size)
                      : lower_bound(key, static_cast<std::int64_t>(number[tile] * kTileCells));
  }
};

// And each cell's.
template <class Key>
struct FindStarts {
  View<const Key> key;
  View<const std::uint64_t> number;
  View<const std::uint32_t> tile_start;
  View<std::uint32_t> start;  // out: one more than there are cells
  HD void operator()(int at) const {
    const auto cell = static_cast<std::size_t>(at);
    const std::size_t tile = cell / kTileCells;
    const std::uint32_t first = tile_start[tile];
    if (tile == number.size || first == tile_start[tile + 1]) {
      start[cell] = first;
      return;
    }
    const View<const Key> of{key.data + first, tile_start[tile + 1] - first};
    start[cell] =
        first +
        lower_bound(of, static_cast<std::int64_t>(number[tile] * kTileCells + cell % kTileCells));
  }
};

struct FindCells {
  View<const std::uint32_t> start;
  View<std::uint32_t> cell_of;  // out
  HD void operator()(int at) const {
    const auto cell = static_cast<std::uint32_t>(at);
    for (std::uint32_t i = start[cell]; i < start[cell + 1]; ++i) cell_of[i] = cell;
  }
};

// What a grid has beside the numbers of its tiles.
template <class Key>
struct FillTiles {
  FindAround around;
  FindTileStarts<Key> tile_starts;
  FindStarts<Key> starts;
  FindCells cells;
  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    begin_together(device);
    for_each(device, "tiles: around", static_cast<std::int64_t>(around.around.size), around);
    for_each(device, "tiles: starts", static_cast<std::int64_t>(tile_starts.start.size),
             tile_starts);
    end_together(device);
    for_each(device, "tiles: starts", static_cast<std::int64_t>(starts.start.size), starts);
    for_each(device, "tiles: starts", static_cast<std::int64_t>(starts.start.size) - 1, cells);
  }
};

}  // namespace barchan
