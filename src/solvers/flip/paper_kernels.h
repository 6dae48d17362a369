// The papers' rule for friction (Zhu & Bridson 2005, eq. 2, 3 and 5, with the signs, the radius and
// the stencils of stress_kernels.h): in each cell by itself the stress that would stop all shear
// within the step,
//     s_rigid = rho dx^2 D / dt
// which is D' itself in units of rho dx / dt, as velocities are differences over a cell. Where it
// is beyond the yield surface, the sand slides with the point of the surface that lies in its
// direction.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "solvers/flip/stress_kernels.h"
#include "solvers/flip/wall_kernels.h"

namespace barchan::flip {

// w = 1 wherever there is stress: TryStress from 0 is s_rigid then.
struct WholePace {
  View<const std::uint8_t> roles;
  PaceView pace;  // out, but for `give`
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item);
    const std::uint8_t here = roles[cell];
    pace.normal[cell] = here & role::kStressed ? 1.0f : 0.0f;
    for (int a = 0; a < 3; ++a) pace.shear[a][cell] = here & role::shears(a) ? 1.0f : 0.0f;
  }
};

// Cells that connect to rigid groups: strictly, and well, inside their yield surface, so that a
// bridge of single cells that hardly hold does not weld a clump to a heap.
struct WellInside {
  static constexpr float kWell = 0.9f;
  View<const std::uint8_t> roles;
  View<const float> radius, scale;  // of kWell of the yield surface
  HD bool operator()(std::uint32_t cell) const {
    return roles[cell] & role::kStressed && radius[cell] > 0.0f && scale[cell] >= 1.0f;
  }
};

// How much friction each wall cell has at most, mu times the whole normal impulse: the pressure's,
// and what the sand below the cell's middle adds to it.
struct FindLimits {
  YieldAtWalls how;
  View<float> limit;  // out [m/s]
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    limit[i] = how.most(how.walls[i]);
  }
};

// u_T <- max(0, 1 - mu |dv_n| / |u_T|) u_T                                           eq. 4
struct StopAtWalls {
  WallFlow flow;
  View<const WallCell> walls;
  View<const float> limit;
  View3<float> t;  // out
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const WallCell& wall = walls[i];
    const Vec3 slip = WallFlow::along(wall, flow.mean(wall) - wall.velocity);
    const float size = length(slip), stops = wall.pace / FindPace::kWallPace;
    t[i] = size * stops > limit[i] ? -(limit[i] / size) * slip : -stops * slip;
  }
};

// What was changed since `from` is added to `to`.
struct AddChange {
  ConstFaceView from, to;
  FaceView u;  // in and out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item);
    for (int a = 0; a < 3; ++a) u.of[a][cell] += to.of[a][cell] - from.of[a][cell];
  }
};

}  // namespace barchan::flip
