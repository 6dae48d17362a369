// Where the liquid is, from its particles.
//
// Each cell's fill f is the particles' volume around its middle, weighted by the hat function, over
// what is open there. A plane through the middle leaves f = 1/2 whatever its slope; with a level
// surface s cells above the middle,
//     f = 1 - (1 - s)^2 / 2   (0 <= s <= 1),     f = (1 + s)^2 / 2   (-1 <= s <= 0)
// which is turned round to give the depth s. It is the liquid's signed distance, in cells, within
// one cell of the surface; beyond it is +-1.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "math/scalar.h"
#include "solvers/flip/solid_kernels.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

inline constexpr float kParticlesPerCell = 8.0f;

// What a cell is to the pressure.
enum CellKind : std::uint8_t {
  kAir,       // or solid
  kLiquid,    // its pressure is sought
  kDetached,  // liquid that has come off a wall: its pressure is that of the air
};

struct HasParticles {
  TileView tiles;
  HD bool operator()(std::uint32_t cell) const {
    return tiles.start[cell] != tiles.start[cell + 1];
  }
};

// The grid before particles are looked at: empty, open and far from everything. Most cells stay so.
struct ClearGrid {
  static constexpr float kFar = 1e6f;  // [cells]
  FaceView faces[4];
  FaceView open;
  View<float> fields[5];
  View<float> depth;
  View<float> far[2];
  View<std::uint8_t> kind;
  View<Octants> octants;
  View<bool> closed;
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item);
    for (int a = 0; a < 3; ++a) {
      for (const FaceView& of : faces) of.of[a][cell] = 0.0f;
      open.of[a][cell] = 1.0f;
    }
    for (const View<float>& field : fields) field[cell] = 0.0f;
    depth[cell] = -1.0f;
    for (const View<float>& distance : far) distance[cell] = kFar;
    kind[cell] = kAir;
    octants[cell] = kAllOpen;
    closed[cell] = false;
  }
};

HD inline float depth_of_fill(float f) {
  if (f >= 1.0f) return 1.0f;
  if (f <= 0.0f) return -1.0f;
  return f >= 0.5f ? 1.0f - std::sqrt(2.0f * (1.0f - f)) : std::sqrt(2.0f * f) - 1.0f;
}

// In a nook too few particles can be for a depth; it is as wet as what it opens to. Sand rests on a
// floor that goes down through a cell: until its particles have followed, that cell is a nook.
inline constexpr float kNoDepth = -2.0f;

struct Depths {
  static constexpr float kLeastShare = 0.1f;
  TileView tiles;
  float nook;              // cells that are less open than this are nooks
  View<const float> wall;  // [cells]; empty: no solids
  View<const Octants> octants;
  View<float> fill;   // in: sums of hats; out: f
  View<float> depth;  // out [cells]

  // The hat's weight of the open octants around a cell's middle: its integral over half cells is
  // 1/8, 3/8, 3/8, 1/8 along each axis.
  HD float open_share(std::uint32_t cell) const {
    if (wall.size == 0 || wall[cell] > 1.8f) return 1.0f;  // a hat reaches sqrt(3) cells
    float share = 0.0f;
    for (int n = 0; n < 27; ++n) {
      const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
      const float near =
          (dx == 0 ? 0.375f : 0.125f) * (dy == 0 ? 0.375f : 0.125f) * (dz == 0 ? 0.375f : 0.125f);
      const std::uint32_t at = tiles.beside(cell, dx, dy, dz);
      const Octants open = at == kNoCell ? kAllOpen : octants[at];
      if (open == 0) continue;
      for (int k = 0; k < 8; ++k) {
        const bool in_reach = (dx == 0 || (k & 1) == (dx < 0 ? 1 : 0)) &&
                              (dy == 0 || (k >> 1 & 1) == (dy < 0 ? 1 : 0)) &&
                              (dz == 0 || (k >> 2) == (dz < 0 ? 1 : 0));
        if (in_reach) share += near * open_octant(open, k);
      }
    }
    return share;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    float f = fill[cell] / kParticlesPerCell;
    const float share = f > 0.0f ? open_share(cell) : 1.0f;
    if (f > 0.0f) f /= max(share, kLeastShare);
    fill[cell] = f;
    depth[cell] = share < nook ? kNoDepth : depth_of_fill(f);
  }
};

// Liquid: cells that are more than half full; and thin parts, cells with a particle that are beside
// no such cell, so that sheets and drops keep their volume, too.
struct MarkLiquid {
  TileView tiles;
  View<const bool> closed;  // empty: no solids
  ConstFaceView open;
  View<const float> depth;
  View<std::uint8_t> kind;  // out

  HD bool beside_liquid(std::uint32_t cell) const {
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t low = tiles.before(cell, a), high = tiles.behind(cell, a);
      if (low != kNoCell && depth[low] >= 0.0f && share(a, cell) > 0.0f) return true;
      if (high != kNoCell && depth[high] >= 0.0f && share(a, high) > 0.0f) return true;
    }
    return false;
  }
  HD float share(int a, std::uint32_t face) const {
    return open.of[a].size > 0 ? open.of[a][face] : 1.0f;
  }
  HD std::uint8_t of(std::uint32_t cell) const {
    if (closed.size > 0 && closed[cell]) return kAir;
    if (depth[cell] >= 0.0f) return kLiquid;
    const bool nook = depth[cell] == kNoDepth;
    if (!nook && tiles.start[cell] == tiles.start[cell + 1]) return kAir;
    if (beside_liquid(cell) != nook) return kAir;
    return kLiquid;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    kind[cell] = of(cell);
  }
};

struct IsWet {
  View<const std::uint8_t> kind;
  HD bool operator()(std::uint32_t cell) const { return kind[cell] != kAir; }
};

}  // namespace barchan::flip
