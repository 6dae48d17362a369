// Layers of cells around a set of cells: those beside the set, those beside these, and so on. Sets
// are bits, a word for each plane of a tile (bit y * 8 + x), so that a layer costs next to nothing
// and work on it follows the number of its cells. Several sets may lie behind each other: then cell
// c of set s has the number s times the grid's cells + c.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/buffer.h"
#include "compute/device.h"
#include "spatial/tile_grid.h"

namespace barchan {

inline constexpr int kTilePlanes = kTileEdge;

// The cells of one layer: in `all`, but not in `inner`.
struct LayerView {
  View<const std::uint64_t> all, inner;  // inner empty: nothing is left out
  HD std::uint64_t word(std::size_t plane) const {
    return inner.size > 0 ? all[plane] & ~inner[plane] : all[plane];
  }
  HD bool has(std::uint32_t cell) const { return word(cell / 64) >> (cell % 64) & 1u; }
};

// A set with all cells that share a face with one of it.
struct GrowSet {
  View<const std::uint32_t> around;  // of TileView
  View<const std::uint64_t> from;
  View<std::uint64_t> to;  // out

  HD std::uint64_t plane(std::size_t tile, int turn, std::size_t z) const {
    const std::size_t tiles = around.size / 27;
    const std::uint32_t of = around[tile % tiles * 27 + static_cast<std::size_t>(13 + turn)];
    return of == kNoCell ? 0 : from[(tile / tiles * tiles + of) * kTilePlanes + z];
  }
  HD void operator()(int item) const {
    constexpr std::uint64_t kFirstX = 0x0101010101010101u, kLastX = kFirstX << 7;
    const auto at = static_cast<std::size_t>(item);
    const std::size_t tile = at / kTilePlanes, z = at % kTilePlanes;
    const std::uint64_t here = from[at];
    std::uint64_t all =
        here | (here & ~kLastX) << 1 | (here & ~kFirstX) >> 1 | here << 8 | here >> 8;
    all |= (plane(tile, -1, z) & kLastX) >> 7 | (plane(tile, 1, z) & kFirstX) << 7;
    all |= plane(tile, -3, z) >> 56 | plane(tile, 3, z) << 56;
    all |= z > 0 ? from[at - 1] : plane(tile, -9, kTilePlanes - 1);
    all |= z + 1 < kTilePlanes ? from[at + 1] : plane(tile, 9, 0);
    to[at] = all;
  }
};

// A set with all cells that share a face, an edge or a corner with one of it.
struct GrowSetAround {
  View<const std::uint32_t> around;
  View<const std::uint64_t> from;
  View<std::uint64_t> to;  // out

  // A plane of the tile that many tiles further, grown along x.
  HD std::uint64_t row(std::size_t tile, int turn, std::size_t z) const {
    constexpr std::uint64_t kFirstX = 0x0101010101010101u, kLastX = kFirstX << 7;
    const auto word = [&](int of) -> std::uint64_t {
      const std::size_t tiles = around.size / 27;
      const std::uint32_t at = around[tile % tiles * 27 + static_cast<std::size_t>(13 + of)];
      return at == kNoCell ? 0 : from[(tile / tiles * tiles + at) * kTilePlanes + z];
    };
    const std::uint64_t here = word(turn);
    return here | (here & ~kLastX) << 1 | (here & ~kFirstX) >> 1 | (word(turn - 1) & kLastX) >> 7 |
           (word(turn + 1) & kFirstX) << 7;
  }
  // Grown along y as well.
  HD std::uint64_t plane(std::size_t tile, int turn, std::size_t z) const {
    const std::uint64_t here = row(tile, turn, z);
    return here | here << 8 | here >> 8 | row(tile, turn - 3, z) >> 56 |
           row(tile, turn + 3, z) << 56;
  }
  HD void operator()(int item) const {
    const auto at = static_cast<std::size_t>(item);
    const std::size_t tile = at / kTilePlanes, z = at % kTilePlanes;
    std::uint64_t all = plane(tile, 0, z);
    all |= z > 0 ? plane(tile, 0, z - 1) : plane(tile, -9, kTilePlanes - 1);
    all |= z + 1 < kTilePlanes ? plane(tile, 0, z + 1) : plane(tile, 9, 0);
    to[at] = all;
  }
};

// The cells that a test is true of: test(cell). A row of cells at a time: a byte of its word.
template <class Test>
struct MarkSet {
  Test test;
  View<std::uint64_t> set;  // out
  HD void operator()(int item) const {
    unsigned bits = 0;
    BARCHAN_UNROLLED_8
    for (unsigned k = 0; k < 8; ++k) {
      if (test(static_cast<std::uint32_t>(item) * 8 + k)) bits |= 1u << k;
    }
    reinterpret_cast<std::uint8_t*>(set.data)[item] = static_cast<std::uint8_t>(bits);
  }
};

// A set of a grid's cells, as kernels over the cells of tiles have it (tile_rows_cpu.h,
// tile_cells.cuh). A CPU goes by the bits, a GPU by a list.
struct CellSet {
  TileView tiles;
  LayerView bits;
  View<const std::uint32_t>
      before{};  // each plane's first cell in the list; one more: their number
  View<const std::uint32_t> list{};
};
// What kernel(at, sums) adds up.
template <int N>
struct CellSums {
  double of[N] = {};
  HD CellSums operator+(const CellSums& o) const {
    CellSums sum;
    for (int k = 0; k < N; ++k) sum.of[k] = of[k] + o.of[k];
    return sum;
  }
};
// Such a kernel where nobody asks for its sums.
template <class Kernel>
struct WithoutSums {
  Kernel kernel;
  template <class At>
  HD_INLINE HD void operator()(const At& at) const {
    typename At::Number unused[Kernel::kSums] = {};
    kernel(at, unused);
  }
};

// A set and the layers around it, and how they are made.
struct LayerSets {
  std::uint64_t* sets = nullptr;
  std::size_t planes = 0;  // words of each set

  HD View<std::uint64_t> set(int k) const {
    return {sets + planes * static_cast<std::size_t>(k), planes};
  }
  // Layer 0 is the set itself.
  HD LayerView layer(int k) const {
    return {set(k), k > 0 ? View<const std::uint64_t>(set(k - 1)) : View<const std::uint64_t>{}};
  }
  // The set with its first k layers.
  HD LayerView within(int k) const { return {set(k), {}}; }

  HD_SCHEDULE
  template <class Device, class Test>
  HD void mark(Device& device, const char* label, const Test& test) const {
    for_each(device, label, static_cast<std::int64_t>(planes) * kTileEdge,
             MarkSet<Test>{test, set(0)});
  }
  // Layer k, after the one before: cells that share a face, or (GrowSetAround) also those that
  // share an edge or a corner.
  HD_SCHEDULE
  template <class Grow, class Device>
  HD void grow(Device& device, const char* label, const TileView& tiles, int k) const {
    for_each(device, label, static_cast<std::int64_t>(planes),
             Grow{tiles.around, set(k - 1), set(k)});
  }
};

template <class Grow, class Test>
struct BuildLayers {
  TileView tiles;
  LayerSets sets;
  Test test;
  int count;
  const char* label;
  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    sets.mark(device, label, test);
    for (int k = 1; k <= count; ++k) sets.grow<Grow>(device, label, tiles, k);
  }
};

template <class Device>
class TileLayers {
 public:
  explicit TileLayers(Device& device) : device_(device), memory_(device) {}

  // Room for `count` layers around each of `sets` sets.
  LayerSets room(const TileView& tiles, int count, std::size_t sets = 1) {
    const std::size_t planes = tiles.number.size * kTilePlanes * sets;
    memory_.resize(planes * static_cast<std::size_t>(count + 1));
    return sets_ = {memory_.data(), planes};
  }
  // The set that a test is true of, and `count` layers around it.
  template <class Grow = GrowSet, class Test>
  void build(const char* label, const TileView& tiles, const Test& test, int count) {
    const LayerSets sets = room(tiles, count);
    in_one_launch(device_, label, static_cast<std::int64_t>(sets.planes) * kTileEdge,
                  BuildLayers<Grow, Test>{tiles, sets, test, count, label});
  }
  LayerView layer(int k) const { return sets_.layer(k); }
  LayerView within(int k) const { return sets_.within(k); }

 private:
  Device& device_;
  Buffer<std::uint64_t> memory_;
  LayerSets sets_;
};

// The cells that a test is true of, listed where the device wants a list.
template <class Device>
class TileCells {
 public:
  explicit TileCells(Device& device)
      : device_(device), layers_(device), before_(device), list_(device) {}
  template <class Test>
  void build(const char* label, const TileView& tiles, const Test& test) {
    layers_.build(label, tiles, test, 0);
    list_cells(device_, label, layers_.within(0), before_, list_);
  }
  CellSet set(const TileView& tiles) const {
    return {tiles, layers_.within(0), before_.view(), list_.view()};
  }

 private:
  Device& device_;
  TileLayers<Device> layers_;
  Buffer<std::uint32_t> before_, list_;
};

// kernel(cell) of each cell of a layer, in any order. A CPU walks over the bits; a GPU has a thread
// for each cell.
template <class Kernel>
struct WalkBits {
  LayerView layer;
  Kernel kernel;
  void range(int begin, int end) const {
    for (int plane = begin; plane < end; ++plane) {
      for (std::uint64_t bits = layer.word(static_cast<std::size_t>(plane)); bits != 0;
           bits &= bits - 1) {
        kernel(plane * 64 + __builtin_ctzll(bits));
      }
    }
  }
};
template <class Kernel>
struct AskBits {
  LayerView layer;
  Kernel kernel;
  HD void operator()(int cell) const {
    if (layer.has(static_cast<std::uint32_t>(cell))) kernel(cell);
  }
};
HD_SCHEDULE
template <class Device, class Kernel>
HD void for_each_of(Device& device, const char* label, const LayerView& layer,
                    const Kernel& kernel) {
  const auto planes = static_cast<std::int64_t>(layer.all.size);
  if constexpr (std::is_same_v<Device, Cpu>) {
    for_each_range(device, label, planes, 64, WalkBits<Kernel>{layer, kernel});
  } else {
    for_each(device, label, planes * 64, AskBits<Kernel>{layer, kernel});
  }
}

// Two of them that do not need each other. Inside a launch (tile_layers.cuh) they are one.
template <class KernelA, class KernelB>
void for_each_of_both(Cpu& device, const char* label, const LayerView& a, const KernelA& kernel_a,
                      const LayerView& b, const KernelB& kernel_b) {
  for_each_of(device, label, a, kernel_a);
  for_each_of(device, label, b, kernel_b);
}

// The same for long work that few of the cells need: kernel(cell) says whether this one does, and
// then kernel.parts(cell, begin, end) does that of its Kernel::kParts parts, in any order. A GPU
// (tile_layers.cuh) has a thread for each part.
template <class Kernel>
struct AllParts {
  Kernel kernel;
  void operator()(int cell) const {
    if (kernel(cell)) kernel.parts(cell, 0, Kernel::kParts);
  }
};
template <class Kernel>
void for_each_part_of(Cpu& device, const char* label, const LayerView& layer,
                      const Kernel& kernel) {
  for_each_of(device, label, layer, AllParts<Kernel>{kernel});
}

}  // namespace barchan
