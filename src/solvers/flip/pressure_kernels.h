// The pressure's equations. q = p dt / (rho dx) [m/s] is what is solved for: across a face,
//     u -= q_high - q_low
// (times the lightness at the face, where materials differ: rho is the first one's), and the flow
// out of each liquid cell is to be 0, with A the open fraction of a face and w the speed of the
// solid that closes the rest (Batty, Bertails & Bridson 2007):
//     sum over faces of +-(A u + (1 - A) w) = 0
// At the surface q is 0 at the fraction theta of the way from the liquid's cell to the air's (ghost
// fluid: Gibou et al. 2002), so the difference there is q / theta.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/lanes.h"
#include "compute/view.h"
#include "math/scalar.h"
#include "solvers/flip/liquid_kernels.h"
#include "solvers/flip/material_kernels.h"
#include "spatial/poisson.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

struct Surface {
  static constexpr float kLeast = 0.05f;  // nearer surfaces would only make the equations stiff
  View<const std::uint8_t> kind;
  View<const float> depth;  // [cells]

  // From a liquid cell to the surface on the way to one of air.
  HD float theta(std::uint32_t liquid, std::uint32_t air) const {
    if (kind[air] == kDetached) return 1.0f;
    if (depth[liquid] <= 0.0f) return 0.5f;  // a drop or a sheet, thinner than the grid sees
    const float theta = depth[liquid] / (depth[liquid] - min(depth[air], 0.0f));
    return max(theta, kLeast);
  }
};

struct Equations {
  TileView tiles;
  Surface surface;
  ConstFaceView open;  // empty views: no solids
  StuffView stuff;
  FaceView face;       // out: coefficients of PoissonMatrix
  View<float> anchor;  // out

  HD float open_at(int a, std::uint32_t cell) const {
    return open.of[a].size > 0 ? open.of[a][cell] : 1.0f;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    if (surface.kind[cell] != kLiquid) {
      for (const View<float>& a : face.of) a[cell] = 0.0f;
      anchor[cell] = 0.0f;
      return;
    }
    float held = 0.0f;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t low = tiles.before(cell, a), high = tiles.behind(cell, a);
      const float at_low = open_at(a, cell);
      const bool joined = low != kNoCell && surface.kind[low] == kLiquid;
      face.of[a][cell] = joined ? at_low * stuff.lightness_between(cell, low) : 0.0f;
      if (!joined && low != kNoCell && at_low > 0.0f) held += at_low / surface.theta(cell, low);
      if (high != kNoCell && surface.kind[high] != kLiquid) {
        const float at_high = open_at(a, high);
        if (at_high > 0.0f) held += at_high / surface.theta(cell, high);
      }
    }
    anchor[cell] = held * stuff.lightness_of(cell);
  }
};

// What flows out of a cell [m/s].
struct OutFlow {
  TileView tiles;
  ConstFaceView u;
  ConstFaceView open, speed;  // empty views: no solids, or none that moves
  // Sand: cells less than half full may take in what they have room for.
  View<const float> fill = {};
  float cell_per_step = 0.0f;  // dx / dt [m/s]
  StuffView stuff = {};
  HD bool is_sand(std::uint32_t cell) const {
    return stuff.friction.size == 0 || stuff.friction[cell] > 0.0f || stuff.cohesion[cell] > 0.0f;
  }
  HD float across(int a, std::uint32_t cell) const {
    const float velocity = u.of[a][cell];
    if (open.of[a].size == 0) return velocity;
    const float share = open.of[a][cell];
    const float solid = speed.of[a].size > 0 ? speed.of[a][cell] : 0.0f;
    return share * velocity + (1.0f - share) * solid;
  }
  HD float operator()(std::uint32_t cell) const {
    float out = 0.0f;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t high = tiles.behind(cell, a);
      out += (high == kNoCell ? 0.0f : across(a, high)) - across(a, cell);
    }
    if (fill.size > 0 && is_sand(cell)) out += max(0.5f - fill[cell], 0.0f) * cell_per_step;
    return out;
  }
};

struct RightSide {
  View<const std::uint8_t> kind;
  OutFlow out_flow;
  View<float> b;  // out [m/s]
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    b[cell] = kind[cell] == kLiquid ? -out_flow(cell) : 0.0f;
  }
};

// The largest flow out of, or into, a liquid cell [m/s].
struct LargestOutFlow {
  View<const std::uint8_t> kind;
  OutFlow out_flow;
  HD float operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    return kind[cell] == kLiquid ? absolute(out_flow(cell)) : 0.0f;
  }
};

// A face has a velocity of the liquid where it is open and beside a liquid cell. Three sets, one an
// axis.
struct HasVelocity {
  TileView tiles;
  View<const std::uint8_t> kind;
  ConstFaceView open;
  HD bool operator()(std::uint32_t face) const {
    const auto cells = static_cast<std::uint32_t>(tiles.cells());
    const int axis = static_cast<int>(face / cells);
    const std::uint32_t cell = face % cells;
    const std::uint8_t here = kind[cell], low = kind[tiles.neighbour(cell, axis, -1).cell];
    const bool is_open = open.of[axis].size == 0 || open.of[axis][cell] > 0.0f;
    return (here != kAir || low != kAir) && is_open;
  }
};

// The difference of q across a cell's low face along an axis, times the lightness there; 0 where
// neither side is liquid.
struct Difference {
  TileView tiles;
  Surface surface;
  View<const float> q;
  StuffView stuff = {};
  HD float operator()(int a, std::uint32_t cell) const {
    const std::uint32_t low = tiles.before(cell, a);
    const bool here = surface.kind[cell] == kLiquid;
    const bool there = low != kNoCell && surface.kind[low] == kLiquid;
    if (here && there) return (q[cell] - q[low]) * stuff.lightness_between(cell, low);
    if (here && low == kNoCell) return 0.0f;
    if (here) return q[cell] / surface.theta(cell, low) * stuff.lightness_of(cell);
    if (there) return -q[low] / surface.theta(low, cell) * stuff.lightness_of(low);
    return 0.0f;
  }
};

struct SubtractGradient {
  Difference difference;
  ConstFaceView open;
  FaceView u;  // in and out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    for (int a = 0; a < 3; ++a) {
      if (open.of[a].size > 0 && !(open.of[a][cell] > 0.0f)) continue;
      u.of[a][cell] -= difference(a, cell);
    }
  }
};

// Walls push, they do not pull: a cell at a wall whose pressure would be negative comes off it, and
// comes back where the liquid would flow into it. Sand does not pull anywhere.
struct Separate {
  TileView tiles;
  ConstFaceView open;
  View<const float> q;
  OutFlow out_flow;  // of u before the pressure
  Difference difference;
  float least;      // q above minus this does not pull [m/s]
  bool everywhere;  // not only at walls
  View<const std::uint8_t> kind;
  View<std::uint8_t> next;  // out

  HD bool may_part(std::uint32_t cell) const {
    if (everywhere && out_flow.is_sand(cell)) return true;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t high = tiles.behind(cell, a);
      if (share(a, cell) < 1.0f || (high != kNoCell && share(a, high) < 1.0f)) return true;
    }
    return false;
  }
  HD float share(int a, std::uint32_t face) const {
    return open.of[a].size > 0 ? open.of[a][face] : 1.0f;
  }
  // What flows out once the pressure has acted.
  HD float flow(std::uint32_t cell) const {
    float out = 0.0f;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t high = tiles.behind(cell, a);
      out += share(a, cell) * difference(a, cell);
      if (high != kNoCell) out -= share(a, high) * difference(a, high);
    }
    return out + out_flow(cell);
  }
  // Whether it changed.
  HD std::uint32_t operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint8_t was = kind[cell];
    std::uint8_t is = was;
    if (was == kLiquid && q[cell] < -least && may_part(cell)) is = kDetached;
    if (was == kDetached && flow(cell) < -least) is = kLiquid;
    next[cell] = is;
    return is != was ? 1 : 0;
  }
};

// ---- Particles that neither clump nor leave holes: where a cell is too full or too empty, they
// are moved apart or together by the gradient of another such q, now in cells.
struct CrowdedRightSide {
  static constexpr float kClump = 0.25f;  // what is too much anywhere
  TileView tiles;
  View<const std::uint8_t> kind;
  View<const float> fill;
  View<const bool> closed;  // empty: no solids
  float share;              // of the error that is mended in this step
  float slack;              // errors up to this are left: sand at rest is to stay where it is
  View<float> b;            // out [cells]

  HD bool amid_liquid(std::uint32_t cell) const {
    for (int k = 0; k < 27; ++k) {
      const std::uint32_t at = tiles.beside(cell, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      if (at != kNoCell && closed.size > 0 && closed[at]) continue;
      if (at == kNoCell || fill[at] < 0.5f) return false;
    }
    return true;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    float wanted = 0.0f;
    if (kind[cell] == kLiquid) {
      // At the surface some cells are less than full, and noise would only ever push it outward.
      const float over = fill[cell] - 1.0f;
      if (over > kClump || amid_liquid(cell)) wanted = over - clamp(over, -slack, slack);
    }
    b[cell] = share * clamp(wanted, -0.5f, 0.5f);
  }
};

struct ShiftFaces {
  static constexpr float kMost = 0.1f;  // [cells]
  Difference difference;
  ConstFaceView open;
  FaceView shift;  // out [cells]
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    for (int a = 0; a < 3; ++a) {
      const bool closed = open.of[a].size > 0 && !(open.of[a][cell] > 0.0f);
      shift.of[a][cell] = closed ? 0.0f : clamp(-difference(a, cell), -kMost, kMost);
    }
  }
};

}  // namespace barchan::flip
