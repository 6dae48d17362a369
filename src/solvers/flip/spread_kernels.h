// Particles keep their distance: within a cell the pressure does not see them, so the flow would
// draw them out into threads. Those nearer to each other than a spacing R are moved apart, after
// Ando & Tsuruno 2011,
//     dx_i = k c R sum_j (1 - r/R)^2 (x_i - x_j) / r
// with c from 0 to 1 as the sum of (1 - r/R)^2 goes from what it is in an even crowd to what is
// too much, so that what is even enough is left alone. Not out of the liquid: at its surface only
// along it.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/lanes.h"
#include "compute/view.h"
#include "math/vec3.h"
#include "solvers/flip/liquid_kernels.h"
#include "spatial/cell_sums.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

inline float spread_strength(double dt) {
  constexpr double kPerSecond = 40.0;
  return static_cast<float>(kPerSecond * dt < 0.5 ? kPerSecond * dt : 0.5);
}

struct Repulsion {
  static constexpr int kSums = 4;
  View3<const float> x;  // sorted by cell
  Vec3 at;               // of the particle itself, which pushes itself nowhere [m]
  float inverse_reach;   // 1 / R [1/m]
  template <class T>
  HD void operator()(const Particles<T>& j, T* sums) const {
    const T dx = at.x - j(x.x), dy = at.y - j(x.y), dz = at.z - j(x.z);
    const T r2 = (dx * dx + dy * dy + dz * dz) * (inverse_reach * inverse_reach) + 1e-6f;
    const T inverse_r = inverse_sqrt(r2);
    const T near = positive(1.0f - r2 * inverse_r) * j.there;
    const T push = near * near * inverse_r * inverse_reach;
    sums[0] += push * dx;
    sums[1] += push * dy;
    sums[2] += push * dz;
    sums[3] += near * near;
  }
};

struct Spread {
  static constexpr float kCalm = 0.06f, kRange = 0.05f;  // c = 0, and how much more is c = 1
  TileView tiles;
  View3<const float> x;
  View<const float> depth;  // [cells]
  float reach;              // R [m]
  float strength;           // k
  float most;               // [m]
  float share;              // sand: at most this share of the way it went; 0: no such limit
  int turn;                 // 0 or 1: which half of the blocks below moves in this step
  View3<float> to;          // in and out: moved on

  // Blocks of 8^3 cells, like the squares of a chessboard: it is enough that each moves in every
  // second step. Counted from the world's origin to both sides, so that scenes that are turned or
  // mirrored stay alike.
  HD int block(float coordinate) const {
    return static_cast<int>(absolute(coordinate) * (0.125f * tiles.frame.inverse_size));
  }
  // Out of the liquid, not normalised; 0 amid it.
  HD Vec3 outward(std::uint32_t cell) const {
    if (depth[cell] >= 0.999f) return {};
    Vec3 slope;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t low = tiles.before(cell, a), high = tiles.behind(cell, a);
      slope[a] = (low == kNoCell ? -1.0f : depth[low]) - (high == kNoCell ? -1.0f : depth[high]);
    }
    return slope;
  }
  HD_INLINE void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const Vec3 at = x[i];
    if ((block(at.x) + block(at.y) + block(at.z) + turn) % 2 != 0) return;
    const std::uint32_t cell = tiles.cell_of[i];
    const Vec3 place = tiles.frame.inverse_size * (at - tiles.corner_of(cell));
    const auto sums = sum_near(tiles, cell, place, Repulsion{x, at, 1.0f / reach});
    const float crowd = sums[3] - 1.0f;  // its own is 1
    Vec3 way =
        (strength * reach * clamp((crowd - kCalm) * (1.0f / kRange), 0.0f, 1.0f)) * sums.vector(0);
    const Vec3 n = outward(cell);
    const float n2 = length_squared(n);
    if (n2 > 0.25f) way -= (max(dot(way, n), 0.0f) / n2) * n;
    const float size = length(way);
    const float limit = share > 0.0f ? min(most, share * length(to[i] - at)) : most;
    if (size > limit) way = (limit / size) * way;
    to[i] += way;
  }
};

}  // namespace barchan::flip
