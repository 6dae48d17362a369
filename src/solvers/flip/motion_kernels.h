// What remains of the step beside grid and pressure: forces, what FLIP remembers, the particles'
// pressures, solids in their way.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/lanes.h"
#include "compute/view.h"
#include "geometry/containment.h"
#include "sim/measure_kernels.h"
#include "solvers/flip/contact_kernels.h"
#include "solvers/flip/pressure_kernels.h"

namespace barchan::flip {

struct AddForces {
  Vec3 push;        // dt g [m/s]
  FaceView u;       // in and out
  FaceView before;  // out: u as it was
  HD void operator()(int item) const {
    const auto face = static_cast<std::size_t>(item);
    for (int a = 0; a < 3; ++a) {
      const float velocity = u.of[a][face];
      before.of[a][face] = velocity;
      u.of[a][face] = velocity + push[a];
    }
  }
};

struct FindChange {
  ConstFaceView u;
  FaceView change;  // in: u before; out: its change
  HD void operator()(int item) const {
    const auto face = static_cast<std::size_t>(item);
    for (int a = 0; a < 3; ++a) change.of[a][face] = u.of[a][face] - change.of[a][face];
  }
};

struct CopyFaces {
  ConstFaceView from;
  FaceView to;  // out
  HD void operator()(int item) const {
    const auto face = static_cast<std::size_t>(item);
    for (int a = 0; a < 3; ++a) to.of[a][face] = from.of[a][face];
  }
};

// The slope of q in each liquid cell: the mean of what its open faces say.
struct PressureSlopes {
  Difference difference;
  ConstFaceView open;
  FaceView slope;  // out, per cell
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    if (difference.surface.kind[cell] != kLiquid) return;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t high = difference.tiles.behind(cell, a);
      const bool solids = open.of[a].size > 0;
      const bool low_open = !solids || open.of[a][cell] > 0.0f;
      const bool high_open = high != kNoCell && (!solids || open.of[a][high] > 0.0f);
      const float sum =
          (low_open ? difference(a, cell) : 0.0f) + (high_open ? difference(a, high) : 0.0f);
      slope.of[a][cell] = low_open && high_open ? 0.5f * sum : sum;
    }
  }
};

struct ParticlePressures {
  TileView tiles;
  View<const std::uint8_t> kind;
  View<const float> q;
  ConstFaceView slope;
  View3<const float> x;
  float pressure_per_q;  // rho dx / dt [kg/m^2/s]
  View<float> pressure;  // out [Pa]
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const std::uint32_t cell = tiles.cell_of[i];
    float value = 0.0f;
    if (kind[cell] == kLiquid) {
      const Vec3 s = tiles.frame.inverse_size * (x[i] - tiles.corner_of(cell));
      value = q[cell] + slope.of[0][cell] * (s.x - 0.5f) + slope.of[1][cell] * (s.y - 0.5f) +
              slope.of[2][cell] * (s.z - 0.5f);
    }
    pressure[i] = pressure_per_q * value;
  }
};

// Particles that might meet a solid on their way take it up to there, and along it. Near a wall
// they keep their distance as they do to each other (spread_kernels.h): to their mirror images.
struct KeepOut {
  Containment walls;
  static constexpr float kShare = 0.36f;  // of R: what they keep from a wall, which is walls.reach
  float reach;                            // R [m]
  float strength;                         // k
  View3<const float> from;
  View3<float> to, v;  // in and out
  TileView tiles;
  View<const float> wall;  // of the cells' middles [cells]
  float solids_way;        // no wall moves farther [m]
  float share;             // sand: keeps its distance by this share of its way; 0: no such limit

  // Far from all walls the distance of its cell's middle will do: no place is nearer to a wall than
  // that, less its distance from the middle.
  HD bool operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const Vec3 start = from[i], end = to[i];
    const std::uint32_t cell = tiles.cell_of[i];
    const float half = 0.5f * tiles.frame.size;
    const Vec3 middle = tiles.corner_of(cell) + Vec3(half, half, half);
    const float gap = wall[cell] * tiles.frame.size - walls.kHair * walls.reach - solids_way;
    const float way = max(length_squared(start - middle), length_squared(end - middle));
    if (gap > 0.0f && way < gap * gap) return false;
    return !walls.way_is_free(start, end, walls.reach);
  }
  HD_CALLED Distance nearest(const Vec3& x, int& wall) const {
    Distance near{3e38f, {}};
    for (int s = 0; s < walls.solids.count; ++s) {
      const Distance d = solid_distance_at_end(walls.solids.data[s], x);
      if (d.d < near.d) near = d, wall = s;
    }
    return near;
  }
  // In an edge of a box two walls are near, or three in a corner: each in its turn.
  HD_CALLED Vec3 keep_distance(Vec3 x, Distance near, float most) const {
    for (int k = 0; k < 3; ++k) {
      const float gap = positive(1.0f - max(near.d, walls.radius) / (kShare * reach));
      if (!(gap > 0.0f)) break;
      x += min(strength * reach * gap * gap, most) * near.gradient;
      int wall = 0;
      const Distance next = nearest(x, wall);
      if (dot(next.gradient, near.gradient) > 0.7f) break;
      near = next;
    }
    return x;
  }
  HD void some(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const Vec3 wanted = to[i];
    const bool stopped = !walls.way_is_free(from[i], wanted, walls.core) &&
                         sweep(walls.solids, from[i], wanted, 0.0f, walls.core).hit;
    Vec3 x = stopped ? walls.move(from[i], wanted) : wanted;
    int wall = 0;
    const Distance near = nearest(x, wall);
    if (!stopped && near.d < walls.radius) x = walls.push_out(x);
    to[i] = keep_distance(x, near, share > 0.0f ? share * length(x - from[i]) : 3e38f);
    // Whom a wall stopped does not keep the speed it came with; what stops at a body is left to the
    // pressure, which pushes back.
    if (!walls.solids.data[wall].dynamic && dot(x - wanted, near.gradient) > 0.0f) {
      const Vec3 slip = v[i] - velocity_at(walls.solids.data[wall], x);
      v[i] += -min(dot(slip, near.gradient), 0.0f) * near.gradient;
    }
  }
};

// What the host looks at when a step ends.
struct StepSigns {
  static constexpr int kSolids = 4;
  VitalSigns vitals;
  // On each solid, by pressure and by sand's stresses, where no more than so many are there and
  // none is moved.
  SixSums push[kSolids], rub[kSolids];
  float out_flow;         // the largest of a liquid cell [m/s]
  std::uint32_t cut_off;  // 1: a particle would have left the grid around it
};

}  // namespace barchan::flip
