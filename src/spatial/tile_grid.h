// A grid without a box: cubic cells in tiles of 8^3, of which only those near particles exist, in
// the order of their numbers. Cost and memory follow the particles, wherever they fly.
//
// Cells lie on one lattice for all time: cell (i, j, k) covers [i, i + 1) x ... times its size from
// the world's origin, so a grid that follows the particles does not shift under them.
//
// A cell has a number: 512 times its tile's place in the table, and its place in the tile, x
// fastest. Fields are arrays over these numbers. A tile knows the 26 around it, so all that a step
// needs is within reach of a cell: up to 8 cells along each axis.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/buffer.h"
#include "compute/view.h"
#include "math/vec3.h"

namespace barchan {

inline constexpr int kTileEdge = 8;  // cells
inline constexpr int kTileCells = kTileEdge * kTileEdge * kTileEdge;
inline constexpr std::uint32_t kNoCell = ~0u;

// Which tile and cell a point is in.
struct TileFrame {
  Vec3 origin;         // corner of tile (0, 0, 0), on the world's lattice of cells [m]
  float size;          // of a cell [m]
  float inverse_size;  // [1/m]
  int nx, ny, nz;      // tiles along each axis, one empty layer around those with particles

  // In cells from the frame's origin. Points beyond the frame, or that are no numbers, are held
  // within its inner tiles.
  HD static float hold(float c, int tiles) {
    const float lo = static_cast<float>(kTileEdge);
    const float hi = static_cast<float>((tiles - 1) * kTileEdge) - 0.001f;
    const float held = c < lo ? lo : (c > hi ? hi : c);
    return held == held ? held : lo;
  }
  HD Vec3 in_cells(const Vec3& p) const { return inverse_size * (p - origin); }
  // Tile number times kTileCells, and the place in it.
  HD std::uint64_t key(const Vec3& p) const {
    const Vec3 c = in_cells(p);
    const auto x = static_cast<std::uint32_t>(hold(c.x, nx));
    const auto y = static_cast<std::uint32_t>(hold(c.y, ny));
    const auto z = static_cast<std::uint32_t>(hold(c.z, nz));
    const std::uint64_t tile = (std::uint64_t{z / kTileEdge} * static_cast<std::uint64_t>(ny) +
                                std::uint64_t{y / kTileEdge}) *
                                   static_cast<std::uint64_t>(nx) +
                               std::uint64_t{x / kTileEdge};
    const std::uint32_t place =
        ((z % kTileEdge) * kTileEdge + y % kTileEdge) * kTileEdge + x % kTileEdge;
    return tile * kTileCells + place;
  }
  HD std::int64_t step(int dx, int dy, int dz) const {
    return (std::int64_t{dz} * ny + dy) * nx + dx;
  }
  std::uint64_t tiles() const {
    return static_cast<std::uint64_t>(nx) * static_cast<std::uint64_t>(ny) *
           static_cast<std::uint64_t>(nz);
  }

  friend bool operator==(const TileFrame&, const TileFrame&) = default;
};

struct Bounds;
TileFrame tile_frame(const Bounds& bounds, float size);

// As kernels see it.
struct TileView {
  TileFrame frame;
  View<const std::uint64_t> number;     // of each tile in the frame, ascending
  View<const std::uint32_t> around;     // 27 of each: places of the tiles around it, or kNoCell
  View<const std::uint32_t> start;      // of each cell's particles in the sorted ones; one more
  View<const std::uint32_t> cell_of{};  // each sorted particle's cell

  HD std::size_t cells() const { return number.size * kTileCells; }
  HD std::size_t particles() const { return cell_of.size; }
  // From a tile to the next one along an axis, in its 27 around.
  HD static std::size_t turn(int axis) { return axis == 0 ? 1 : (axis == 1 ? 3 : 9); }

  // Cell (x, y, z) counted from the first cell of a tile, each from -8 to 15; kNoCell: no tile.
  HD std::uint32_t cell(std::uint32_t tile, int x, int y, int z) const {
    const int tx = (x + kTileEdge) / kTileEdge, ty = (y + kTileEdge) / kTileEdge,
              tz = (z + kTileEdge) / kTileEdge;
    const std::uint32_t of =
        around[std::size_t{tile} * 27 + static_cast<std::size_t>((tz * 3 + ty) * 3 + tx)];
    if (of == kNoCell) return kNoCell;
    const int place = ((z & 7) * kTileEdge + (y & 7)) * kTileEdge + (x & 7);
    return of * kTileCells + static_cast<std::uint32_t>(place);
  }
  // Corner of a cell [m].
  HD Vec3 corner_of(std::uint32_t cell_number) const {
    int x, y, z;
    corner(cell_number / kTileCells, x, y, z);
    const auto place = static_cast<int>(cell_number % kTileCells);
    return frame.origin + frame.size * Vec3(static_cast<float>(x + place % 8),
                                            static_cast<float>(y + place / 8 % 8),
                                            static_cast<float>(z + place / 64));
  }
  // The cell that many further; kNoCell where there is no tile.
  HD std::uint32_t beside(std::uint32_t cell_number, int dx, int dy, int dz) const {
    const std::uint32_t place = cell_number % kTileCells;
    return cell(cell_number / kTileCells, static_cast<int>(place % 8) + dx,
                static_cast<int>(place / 8 % 8) + dy, static_cast<int>(place / 64) + dz);
  }
  // The cell before or behind it along an axis; kNoCell where there is no tile.
  HD std::uint32_t before(std::uint32_t cell_number, int axis) const {
    const std::uint32_t stride = 1u << (3 * axis);
    if ((cell_number / stride) % 8 != 0) return cell_number - stride;
    const std::uint32_t of = around[std::size_t{cell_number / kTileCells} * 27 + 13u - turn(axis)];
    return of == kNoCell ? kNoCell : of * kTileCells + cell_number % kTileCells + 7 * stride;
  }
  HD std::uint32_t behind(std::uint32_t cell_number, int axis) const {
    const std::uint32_t stride = 1u << (3 * axis);
    if ((cell_number / stride) % 8 != 7) return cell_number + stride;
    const std::uint32_t of = around[std::size_t{cell_number / kTileCells} * 27 + 13u + turn(axis)];
    return of == kNoCell ? kNoCell : of * kTileCells + cell_number % kTileCells - 7 * stride;
  }
  // The same for those who do not ask first whether it is there: the cell itself if it is not.
  struct Neighbour {
    std::uint32_t cell;
    bool there;
  };
  HD Neighbour neighbour(std::uint32_t cell_number, int axis, int way) const {
    const std::uint32_t stride = 1u << (3 * axis);
    const bool leaves = (cell_number / stride) % 8 == (way > 0 ? 7u : 0u);
    const int by = (leaves ? -7 * way : way) * static_cast<int>(stride);
    if (asking_pays() && !leaves) return {cell_number + static_cast<std::uint32_t>(by), true};
    const int towards = leaves ? way * static_cast<int>(turn(axis)) : 0;
    const std::size_t tile = cell_number / kTileCells;
    const std::uint32_t of = around[tile * 27 + static_cast<std::size_t>(13 + towards)];
    const std::uint32_t next =
        of * kTileCells + cell_number % kTileCells + static_cast<std::uint32_t>(by);
    return {of == kNoCell ? cell_number : next, of != kNoCell};
  }
  // Of a tile's first cell, in cells from the frame's origin.
  HD void corner(std::uint32_t tile, int& x, int& y, int& z) const {
    const std::uint64_t n = number[tile];
    const auto nx = static_cast<std::uint64_t>(frame.nx), ny = static_cast<std::uint64_t>(frame.ny);
    x = static_cast<int>(n % nx) * kTileEdge;
    y = static_cast<int>(n / nx % ny) * kTileEdge;
    z = static_cast<int>(n / nx / ny) * kTileEdge;
  }
};

template <class Device>
class TileGrid {
 public:
  explicit TileGrid(Device& device);

  // Sorts the particles by tile and cell, and lays tiles around them: every cell within `reach`
  // cells (at most 8) of one that holds a particle is there. `size` of a cell [m].
  void build(View3<const float> x, float size, int reach);

  // Sorted place i holds what was particle order()[i]; those of one cell keep their order.
  View<const std::uint32_t> order() const { return order_.view(); }
  TileView view() const;

 private:
  template <class Key>
  void sort(Buffer<Key>& keys, View3<const float> x, int bits);
  template <class Key>
  void number_in_frame(View<const Key> key, int reach);
  template <class Key>
  void number_by_sorting(View<const Key> key, int reach);
  template <class Key>
  void lay_tiles(const Buffer<Key>& keys, int reach);

  Device& device_;
  TileFrame frame_{};
  Buffer<std::uint32_t> order_, keys32_;
  Buffer<std::uint64_t> keys64_;
  Buffer<std::uint32_t> flags_, first_, wanted_;  // tiles with particles: where they begin, around
  Buffer<std::uint64_t> candidates_, number_;
  Buffer<std::uint32_t> scratch_, around_, tile_start_, start_, cell_of_;
};

}  // namespace barchan
