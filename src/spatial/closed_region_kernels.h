// Kernels behind closed_regions.h, for both devices.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/reduce_ops.h"
#include "compute/view.h"
#include "spatial/level_tiles.h"
#include "spatial/poisson.h"
#include "spatial/poisson_kernels.h"

namespace barchan {

// Numbers of a row of 8 cells as the bits of a byte: byte y of a plane's word.
struct MakeBoards {
  PoissonMatrix matrix;
  View<const float> inverse;
  View<std::uint64_t> unknown, anchored, other, x, y, z;  // out; other: as anchored

  HD static void mark(View<const float> field, std::size_t row, View<std::uint64_t> board) {
    unsigned bits = 0;
    for (unsigned i = 0; i < 8; ++i) bits |= (field[row * 8 + i] > 0.0f ? 1u : 0u) << i;
    reinterpret_cast<std::uint8_t*>(board.data)[row] = static_cast<std::uint8_t>(bits);
  }
  HD void operator()(int at) const {
    const auto row = static_cast<std::size_t>(at);
    mark(inverse, row, unknown);
    mark(matrix.anchor, row, anchored);
    mark(matrix.anchor, row, other);
    mark(matrix.x, row, x);
    mark(matrix.y, row, y);
    mark(matrix.z, row, z);
  }
};

// A tile's cells that can be reached from its reached ones and from those of the tiles beside it.
struct FloodTile {
  static constexpr std::uint64_t kFirstColumn = 0x0101010101010101u, kFirstRow = 0xffu;

  LevelTiles tiles;
  View<const std::uint64_t> unknown, x, y, z;
  View<const std::uint64_t> from;
  View<std::uint64_t> to;  // out

  HD std::size_t beside(std::size_t tile, std::size_t of) const {
    return std::size_t{tiles.around[tile * 27 + of]} * 8;
  }
  // What comes in over the tile's six sides.
  HD void enter(std::size_t tile, std::uint64_t (&reached)[8]) const {
    const std::size_t here = tile * 8;
    const std::size_t left = beside(tile, kMiddle - 1), right = beside(tile, kMiddle + 1),
                      front = beside(tile, kMiddle - 3), back = beside(tile, kMiddle + 3),
                      below = beside(tile, kMiddle - 9), above = beside(tile, kMiddle + 9);
    for (std::size_t k = 0; k < 8; ++k) {
      reached[k] |= from[left + k] >> 7 & kFirstColumn & x[here + k];
      reached[k] |= (from[right + k] & x[right + k] & kFirstColumn) << 7;
      reached[k] |= from[front + k] >> 56 & y[here + k];
      reached[k] |= (from[back + k] & y[back + k] & kFirstRow) << 56;
    }
    reached[0] |= from[below + 7] & z[here];
    reached[7] |= from[above] & z[above];
  }
  // Goes on inside the tile until nothing changes.
  HD void spread(std::size_t tile, std::uint64_t (&reached)[8]) const {
    const std::size_t here = tile * 8;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t k = 0; k < 8; ++k) {
        const std::uint64_t across = x[here + k] & ~kFirstColumn, along = y[here + k];
        std::uint64_t now = reached[k];
        if (k > 0) now |= reached[k - 1] & z[here + k];
        if (k < 7) now |= reached[k + 1] & z[here + k + 1];
        now |= (now << 1 & across) | (now & across) >> 1;
        now |= (now << 8 & along) | (now & along) >> 8;
        again = again || now != reached[k];
        reached[k] = now;
      }
    }
  }
  // 1 if the tile has more reached cells than before.
  HD std::uint32_t operator()(int at) const {
    const auto tile = static_cast<std::size_t>(at);
    std::uint64_t reached[8];
    bool full = true;
    for (std::size_t k = 0; k < 8; ++k) {
      reached[k] = from[tile * 8 + k];
      full = full && reached[k] == unknown[tile * 8 + k];
    }
    if (!full) {
      enter(tile, reached);
      spread(tile, reached);
    }
    bool grown = false;
    for (std::size_t k = 0; k < 8; ++k) {
      grown = grown || reached[k] != from[tile * 8 + k];
      to[tile * 8 + k] = reached[k];
    }
    return grown ? 1 : 0;
  }
};
struct NotReached {
  View<const std::uint64_t> unknown, reached;
  HD std::uint32_t operator()(int at) const {
    const auto plane = static_cast<std::size_t>(at);
    return (unknown[plane] & ~reached[plane]) != 0 ? 1 : 0;
  }
};

// Means over the cells of each region: what every chunk of cells has, then what every region has,
// then what is to be taken off.
struct ChunkSums {
  View<const std::uint32_t> cells, start;
  View<const float> field;
  View<double> sums;  // out
  HD void operator()(int at) const {
    const auto chunk = static_cast<std::size_t>(at);
    double sum = 0.0;
    for (std::size_t i = start[chunk]; i < start[chunk + 1]; ++i) {
      sum += static_cast<double>(field[cells[i]]);
    }
    sums[chunk] = sum;
  }
};
struct RegionSums {
  View<const std::uint32_t> first;  // chunk of each region; one more
  View<const double> chunks;
  View<double> sums;  // out
  HD void operator()(int at) const {
    const auto region = static_cast<std::size_t>(at);
    double sum = 0.0;
    for (std::size_t c = first[region]; c < first[region + 1]; ++c) sum += chunks[c];
    sums[region] = sum;
  }
};
struct RegionParts {
  View<const std::uint32_t> start, region;
  View<const double> weight, sums;
  View<double> parts;  // out
  HD void operator()(int at) const {
    const auto of = static_cast<std::size_t>(at);
    double part = 0.0;
    for (std::size_t i = start[of]; i < start[of + 1]; ++i) part += weight[i] * sums[region[i]];
    parts[of] = part;
  }
};
struct TakeOffParts {
  View<const std::uint32_t> cells, start, region;
  View<const double> parts;
  View<float> field;  // in and out
  HD void operator()(int at) const {
    const auto chunk = static_cast<std::size_t>(at);
    const auto part = static_cast<float>(parts[region[chunk]]);
    for (std::size_t i = start[chunk]; i < start[chunk + 1]; ++i) field[cells[i]] -= part;
  }
};

// ---- Schedules

// From the anchors over all open faces, back and forth between two boards until the way back brings
// nothing: then both are the same.
struct FloodAll {
  static constexpr int kThreads = 512;  // the planes of a tile take many registers
  MakeBoards boards;
  FloodTile there, back;
  View<std::uint32_t> left;  // out: 1 if there are cells that cannot be reached

  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    const char* label = "poisson: closed";
    for_each(device, label, static_cast<std::int64_t>(there.unknown.size) * 8, boards);
    const auto tiles = static_cast<std::int64_t>(there.tiles.tiles);
    for (std::uint32_t again = 1; again != 0;) {
      for_each(device, label, tiles, there);
      again = reduce<Largest<std::uint32_t>>(device, label, tiles, back);
    }
    const std::uint32_t any =
        reduce<Largest<std::uint32_t>>(device, label, static_cast<std::int64_t>(there.unknown.size),
                                       NotReached{there.unknown, there.from});
    for_each(device, label, 1, SetTo<std::uint32_t>{any, left});
  }
};

// Takes a field's mean off in each closed region, but for constants that move bodies.
struct Balance {
  std::int64_t regions = 0, chunks = 0;
  View<const std::uint32_t> cells, chunk_start, chunk_region, region_chunk;
  View<const std::uint32_t> weight_start, weight_region;
  View<const double> weights;
  View<double> chunk_sums, sums, parts;  // of chunks, of regions, what is taken off

  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device, View<float> field) const {
    if (regions == 0) return;
    const char* label = "poisson: closed";
    for_each(device, label, chunks, ChunkSums{cells, chunk_start, field, chunk_sums});
    for_each(device, label, regions, RegionSums{region_chunk, chunk_sums, sums});
    for_each(device, label, regions,
             RegionParts{weight_start, weight_region, weights, sums, parts});
    for_each(device, label, chunks, TakeOffParts{cells, chunk_start, chunk_region, parts, field});
  }
};

}  // namespace barchan
