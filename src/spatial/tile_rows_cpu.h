// How the CPU runs kernels over the cells of a TileView that are templates over the place they work
// at: a row of a tile's eight cells along x is one vector. A kernel says
//     template <class At> HD void operator()(const At& at) const
// and reads at.here(field), at.near<dx, dy, dz>(field) (0 where there is no tile), and writes
// at.put(field, value), once a field, which it does not read after that; numbers are At::Number.
// tile_cells.cuh is the same for a GPU. Rows with a cell of the set are walked whole.
#pragma once

#include <cmath>
#include <cstring>
#include <vector>

#include "compute/cpu.h"
#include "compute/eight.h"
#include "spatial/tile_layers.h"

namespace barchan {

class RowOfTile {
 public:
  typedef float Number __attribute__((vector_size(kTileEdge * sizeof(float))));

  BARCHAN_INLINE RowOfTile(const TileView& tiles, std::size_t tile, int y, int z)
      : around_(tiles.around.data + tile * 27), y_(y), z_(z) {}

  BARCHAN_INLINE Number here(View<const float> f) const { return near<0, 0, 0>(f); }
  template <int DX, int DY, int DZ>
  BARCHAN_INLINE Number near(View<const float> f) const {
    const Number middle = row<0, DY, DZ>(f);
    if constexpr (DX > 0) {
      return __builtin_shufflevector(middle, row<1, DY, DZ>(f), 1, 2, 3, 4, 5, 6, 7, 8);
    } else if constexpr (DX < 0) {
      return __builtin_shufflevector(row<-1, DY, DZ>(f), middle, 7, 8, 9, 10, 11, 12, 13, 14);
    } else {
      return middle;
    }
  }
  BARCHAN_INLINE void put(View<float> f, const Number& value) const {
    std::memcpy(f.data + start<0, 0, 0>(), &value, sizeof(value));
  }

  BARCHAN_INLINE static Number inverse_sqrt(const Number& a) { return 1.0f / square_root(a); }
  BARCHAN_INLINE static Number absolute(const Number& a) { return a < 0.0f ? -a : a; }
  template <class Mask>
  BARCHAN_INLINE static Number choose(const Mask& which, const Number& a, const Number& b) {
    return which ? a : b;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  // Where the row of the tile DX further, and DY, DZ rows further, begins.
  template <int DX, int DY, int DZ>
  BARCHAN_INLINE std::size_t start() const {
    const int y = y_ + DY, z = z_ + DZ;
    const int ty = DY == 0 ? 0 : (y < 0 ? -1 : (y >= kTileEdge ? 1 : 0));
    const int tz = DZ == 0 ? 0 : (z < 0 ? -1 : (z >= kTileEdge ? 1 : 0));
    const std::uint32_t of = around_[13 + DX + 3 * ty + 9 * tz];
    if (of == kNoCell) return kNone;
    return std::size_t{of} * kTileCells +
           static_cast<std::size_t>(((z & 7) * kTileEdge + (y & 7)) * kTileEdge);
  }
  template <int DX, int DY, int DZ>
  BARCHAN_INLINE Number row(View<const float> f) const {
    const std::size_t first = start<DX, DY, DZ>();
    Number value{};
    if (first != kNone) std::memcpy(&value, f.data + first, sizeof(value));
    return value;
  }

  const std::uint32_t* around_;
  int y_, z_;
};

// Tiles of a block of work: fixed, so that sums are the same bytes on any number of threads.
inline constexpr std::int64_t kRowTiles = 4;

// Calls f(row) for the rows of a tile with a cell of the set.
template <class F>
BARCHAN_INLINE void each_row_of(const TileView& tiles, const LayerView& set, std::size_t tile,
                                const F& f) {
  for (int z = 0; z < kTileEdge; ++z) {
    const std::uint64_t plane = set.word(tile * kTilePlanes + static_cast<std::size_t>(z));
    for (int y = 0; y < kTileEdge; ++y) {
      if ((plane >> (8 * y) & 0xffu) != 0) f(RowOfTile(tiles, tile, y, z));
    }
  }
}

template <class Kernel>
struct WalkRows {
  TileView tiles;
  LayerView set;
  Kernel kernel;
  void range(int begin, int end) const {
    const Kernel mine = kernel;
    for (int tile = begin; tile < end; ++tile) {
      each_row_of(tiles, set, static_cast<std::size_t>(tile),
                  [&](const RowOfTile& row) { mine(row); });
    }
  }
};

// How a device goes over the cells of a set, for as long as a schedule runs.
inline const CellSet& cells_for(Cpu&, const CellSet& set) {
  return set;
}
inline void list_cells(Cpu&, const char*, const LayerView&, Buffer<std::uint32_t>&,
                       Buffer<std::uint32_t>&) {}

template <class Kernel>
void for_each_cell(Cpu& device, const char* label, const CellSet& set, const Kernel& kernel) {
  for_each_range(device, label, static_cast<std::int64_t>(set.tiles.number.size), kRowTiles,
                 WalkRows<Kernel>{set.tiles, set.bits, kernel});
}
// kernel(cell): one by one.
template <class Kernel>
void for_each_of(Cpu& device, const char* label, const CellSet& set, const Kernel& kernel) {
  for_each_of(device, label, set.bits, kernel);
}

// The same for a kernel that adds to kernel(at, sums), Kernel::kSums of them.
template <class Kernel>
struct SumRows {
  TileView tiles;
  LayerView set;
  Kernel kernel;
  CellSums<Kernel::kSums>* partial;
  void range(int begin, int end) const {
    const Kernel mine = kernel;
    RowOfTile::Number sums[Kernel::kSums] = {};
    for (int tile = begin; tile < end; ++tile) {
      each_row_of(tiles, set, static_cast<std::size_t>(tile),
                  [&](const RowOfTile& row) { mine(row, sums); });
    }
    CellSums<Kernel::kSums>& part = partial[begin / kRowTiles];
    for (int s = 0; s < Kernel::kSums; ++s) {
      double all = 0.0;
      for (int k = 0; k < kTileEdge; ++k) all += static_cast<double>(sums[s][k]);
      part.of[s] = all;
    }
  }
};

template <class Kernel>
CellSums<Kernel::kSums> sum_cells(Cpu& device, const char* label, const CellSet& set,
                                  const Kernel& kernel) {
  const auto count = static_cast<std::int64_t>(set.tiles.number.size);
  std::vector<CellSums<Kernel::kSums>> partial(
      static_cast<std::size_t>((count + kRowTiles - 1) / kRowTiles));
  for_each_range(device, label, count, kRowTiles,
                 SumRows<Kernel>{set.tiles, set.bits, kernel, partial.data()});
  CellSums<Kernel::kSums> sums;
  for (const auto& part : partial) sums = sums + part;
  return sums;
}

}  // namespace barchan
