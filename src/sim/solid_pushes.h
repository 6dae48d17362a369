// What fluid particles do to the solids that pushed them: the opposite, to the last bit of
// momentum. One kernel for all solvers whose boundary is made of samples (sim/boundary.h).
#pragma once

#include <vector>

#include "base/hd.h"
#include "compute/view.h"
#include "geometry/containment.h"
#include "math/vec3.h"
#include "sim/boundary.h"
#include "sim/solver.h"

namespace barchan {

inline constexpr int kSolidsPerPass = 2;  // are summed in one pass

struct Pushes {
  Vec3d impulse[kSolidsPerPass];          // on each solid [N s]
  Vec3d angular_impulse[kSolidsPerPass];  // about the world's origin [N m s]
};
struct JoinPushes {
  static HD Pushes identity() { return {}; }
  static HD Pushes combine(const Pushes& a, const Pushes& b) {
    Pushes sum;
    for (int s = 0; s < kSolidsPerPass; ++s) {
      sum.impulse[s] = a.impulse[s] + b.impulse[s];
      sum.angular_impulse[s] = a.angular_impulse[s] + b.angular_impulse[s];
    }
    return sum;
  }
};

// A particle that solids pushed by dx got m dx / dt from them; they get the opposite. Pushes of
// boundary samples point along the pair, so they have the same moment at either end.
//
// Near several solids, pressure says each one's part: solid s with g_s = sum a grad W over its
// samples gets about `scale` p g_s, p the particle's pressure in the solver's own terms. What that
// leaves of the whole is shared by the samples' number. All together they get the opposite of what
// the particle got. So a particle squeezed between a body and a floor, which pushes both and gets
// nothing, holds them apart.
template <class Kernel>
struct PushSolids {
  BoundaryView walls;
  View<const Float4> points;  // x, w
  View<const std::uint8_t> near_wall;
  View3<const float> pushed;   // of those near a wall or with samples near [m]
  View<const float> pressure;  // p
  float scale;                 // of p grad W, to an impulse
  Kernel W;
  Containment solids;
  float mass, dt;  // of a particle with w = 1 [kg], [s]
  int first_solid;

  HD void give(Pushes& out, int solid, const Vec3& x, const Vec3d& J) const {
    for (int s = 0; s < kSolidsPerPass; ++s) {  // by compare: a run-time index would spill
      if (solid == first_solid + s) {
        out.impulse[s] += J;
        out.angular_impulse[s] += cross(Vec3d(x), J);
      }
    }
  }
  HD Vec3 pull_of(std::uint32_t sample, const Vec3& x) const {
    const Float4 b = packed(walls.points, sample);
    const Vec3 r = x - Vec3(b.x, b.y, b.z);
    return (b.w * W.grad_factor(length(r))) * r;
  }
  // The solid that all samples near i belong to; -1: there are several, or none.
  HD int only_solid(int i, int count) const {
    if (solids.solids.count == 1) return 0;
    if (count == 0) return -1;
    const std::uint32_t first = walls.solid_of[walls.near(i, 0)];
    for (int n = 1; n < count; ++n) {
      if (walls.solid_of[walls.near(i, n)] != first) return -1;
    }
    return static_cast<int>(first);
  }
  HD void share_out(Pushes& out, int i, int count, const Vec3& x, const Vec3d& J) const {
    const double kappa =
        static_cast<double>(scale) * static_cast<double>(pressure[static_cast<std::size_t>(i)]);
    Vec3d rest = J;
    for (int n = 0; n < count; ++n) rest -= kappa * Vec3d(pull_of(walls.near(i, n), x));
    for (int n = 0; n < count; ++n) {
      const std::uint32_t sample = walls.near(i, n);
      give(out, static_cast<int>(walls.solid_of[sample]), x,
           kappa * Vec3d(pull_of(sample, x)) + rest / static_cast<double>(count));
    }
  }
  // A particle that is still too near to a body at the end of the step is caught between it and
  // another solid: it pushes as if to undo a fifth of the overlap.
  HD_CALLED void hold_apart(Pushes& out, const Vec3& x, double m) const {
    for (int s = 0; s < solids.solids.count; ++s) {
      if (!solids.solids.data[s].dynamic) continue;
      const Distance near = solid_distance_at_end(solids.solids.data[s], x);
      const float depth = solids.radius - near.d;
      if (!(depth > 0.05f * solids.radius)) continue;
      give(out, s, x, (-0.2 * m * static_cast<double>(depth / dt)) * Vec3d(near.gradient));
    }
  }

  HD bool counts(int i) const {
    const auto at = static_cast<std::size_t>(i);
    return (near_wall[at] != 0) | (walls.slot_of[at] != ~0u);
  }
  HD Pushes operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    Pushes out;
    const Vec3 dx = pushed[at];
    const int count = walls.near.count(i);
    if (count == 0 && dx == Vec3{}) return out;
    const Float4 me = points[at];
    const Vec3 x(me.x, me.y, me.z);
    const double m = static_cast<double>(mass) / static_cast<double>(me.w);
    const Vec3d J = (-m / static_cast<double>(dt)) * Vec3d(dx);
    const int only = only_solid(i, count);
    if (only >= 0) {
      give(out, only, x, J);
    } else if (count == 0) {
      give(out, solids.nearest(x), x, J);
    } else {
      share_out(out, i, count, x, J);
      if (solids.solids.some_dynamic) hold_apart(out, x, m);
    }
    return out;
  }
};

// The sums of all passes, about each solid's own origin where the step ends.
template <class Results>
void report_pushes(const std::vector<Results>& results, const std::vector<BodyState>& bodies,
                   BodyImpulses& out) {
  for (std::size_t solid = 0; solid < out.linear.size(); ++solid) {
    const Pushes& sums = results[solid / kSolidsPerPass].pushes;
    const std::size_t s = solid % kSolidsPerPass;
    out.linear[solid] = sums.impulse[s];
    out.angular[solid] = sums.angular_impulse[s] - cross(bodies[solid].position, sums.impulse[s]);
  }
}

}  // namespace barchan
