// Containment: small spheres never pass through solids, however fast they or the walls are.
//
// A sphere's centre goes straight in the world while the solids move from their pose at the start
// of the step to that at its end. Seen from a solid's frame the centre follows a curve p(u),
// u in [0, 1], and the gap d(p(u)) - radius cannot close faster than p moves, for d changes by at
// most one metre a metre. So stepping by the gap never jumps over a surface (sphere tracing, Hart
// 1996; for moving things conservative advancement, Mirtich 1996). Speed bound, with chord
// p(1) - p(0), arm y from the frame's origin (|y| is greatest at an end, y being linear in u),
// relative travel y' and turn rate omega:
//     |p'(u)| <= |p(1) - p(0)| + max|p''| / 2,   |p''| <= 2 omega |y'| + (omega^2 + |omega'|) |y|
// which is near 0 for a particle that rides on a turning wall.
//
// Close to a surface the steps would shrink to nothing; they are at least half a radius. That skips
// no wall: a sphere's centre that crosses even an infinitely thin one is nearer than the radius
// over two radii of its way. It can miss clipping a corner: touching at one sample (d = r) and on
// the way out at the next, the centre came no nearer than sqrt(r^2 - (r/2)^2) = 0.866 r to it.
// Where a step is longer than kMaxSweepSteps / 2 radii the least step is the way / kMaxSweepSteps;
// walls are still safe up to kMaxSweepSteps * 2 radii.
#pragma once

#include <cmath>

#include "base/hd.h"
#include "geometry/sdf.h"
#include "geometry/solid.h"
#include "math/quat.h"
#include "math/scalar.h"
#include "math/vec3.h"

namespace barchan {

inline constexpr int kMaxSweepSteps = 4096;  // evaluations per solid at most, plus kMaxRefinements
inline constexpr int kMaxRefinements = 24;
inline constexpr float kContactSlack = 1e-3f;  // of the radius: how far off the wall a hit ends
inline constexpr float kParallel = 2e-5f;      // slopes below this are neither in nor out
inline constexpr float kPushOutSlack = 1e-4f;  // of the radius
inline constexpr int kPushOutRounds = 8;

struct Hit {
  bool hit = false;
  float s = 1.0f;      // when: fraction of the step
  Vec3 position;       // of the sphere's centre then [m]
  Vec3 normal;         // of the wall, towards the sphere
  Vec3 wall_velocity;  // of the wall's material there [m/s]
  int solid = -1;
};

namespace sweeping {

// The way of the sphere's centre relative to one solid, from s0 to the end of the step.
struct Way {
  Vec3 arm;        // from the frame's origin to the centre at the start, in world axes [m]
  Vec3 change;     // of the arm until the end [m]
  float s0, span;  // s = s0 + u span
  float longest;   // bound on |p'(u)|, so also on the length of the way in the solid's frame [m]
};

HD inline Vec3 arm_on(const Way& way, float u) {
  return way.arm + u * way.change;
}

HD inline Distance distance_on(const SolidView& solid, const Way& way, float u) {
  const Quat q = !solid.turned  ? Quat::identity()
                 : !solid.moves ? solid.end_orientation
                                : orientation_at(solid, way.s0 + u * way.span);
  return distance_at_arm<true>(solid, arm_on(way, u), q);
}

HD inline Way make_way(const SolidView& solid, const Vec3& x0, const Vec3& x1, float s0) {
  Way way;
  way.s0 = s0;
  way.span = 1.0f - s0;
  way.arm = arm_at(solid, x0, s0);
  way.change = (x1 - x0) - way.span * solid.travel;
  if (!(solid.turn_rate > 0.0f)) {
    way.longest = length(way.change);
    return way;
  }
  const Vec3 last = arm_on(way, 1.0f);
  const Vec3 chord = inverse_rotate(solid.end_orientation, last) -
                     inverse_rotate(orientation_at(solid, s0), way.arm);
  const float reach = std::sqrt(max(length_squared(way.arm), length_squared(last)));
  const float bend = 2.0f * solid.turn_rate * way.span * length(way.change) +
                     solid.turn_acceleration * way.span * way.span * reach;
  way.longest = length(chord) + 0.5f * bend;
  return way;
}

struct Sample {
  float u;
  float gap;  // d - radius [m]
  Vec3 normal;
  bool blocked;  // in contact and moving in
};

HD inline Sample sample(const SolidView& solid, const Way& way, float radius, float u) {
  const Distance at = distance_on(solid, way, u);
  // Relative to the wall the centre moves by change - span turn x arm per unit of u.
  const Vec3 slip = way.change - way.span * cross(solid.turn, arm_on(way, u));
  const float gap = at.d - radius;
  const bool inward = dot(slip, at.gradient) < -kParallel * way.longest;
  return {u, gap, at.gradient, gap <= 0.0f && inward};
}

// Narrows the moment of contact between a free sample and a blocked one down to kContactSlack.
// Guesses where the gap would vanish if it shrank steadily, a little before and a little after in
// turn; every third guess is the middle, so that it ends for any shape. Leaves the free side in
// `before`, and in `after` the wall that stops the sphere.
HD inline void refine(const SolidView& solid, const Way& way, float radius, Sample& before,
                      Sample& after) {
  const float slack = kContactSlack * radius;
  for (int k = 0; k < kMaxRefinements; ++k) {
    const float width = after.u - before.u;
    if (width * way.longest <= slack) return;
    float share = 0.5f;
    const float drop = before.gap - after.gap;
    if (k % 3 != 2 && drop > 0.0f) {
      const float target = (k % 3 == 0 ? 0.25f : -0.25f) * slack;
      share = clamp((before.gap - target) / drop, 0.0f, 1.0f);
    }
    const float u = before.u + share * width;
    if (!(u > before.u && u < after.u)) continue;
    const Sample now = sample(solid, way, radius, u);
    if (now.blocked) {
      after = now;
    } else {
      before = now;
    }
  }
}

// The first contact with one solid before u = limit: sets u and the normal, or returns false.
HD inline bool trace(const SolidView& solid, const Way& way, float radius, float limit, float& u,
                     Vec3& normal) {
  if (out_of_reach(solid, way.arm, radius, limit * way.longest)) return false;
  Sample now = sample(solid, way, radius, 0.0f);
  if (now.gap > limit * way.longest || !(way.longest > 0.0f)) return false;

  const float least = max(0.5f * radius, way.longest / kMaxSweepSteps);
  Sample before = now;
  // In a hollow the distance on a straight way is concave: free at both ends is free, and one that
  // ends in the wall meets it once.
  if (solid.hollow && !(solid.turn_rate > 0.0f) && now.gap > 0.0f) {
    const Sample last = sample(solid, way, radius, limit);
    if (last.gap > 0.0f) return false;
    if (last.blocked) now = last;
  }
  for (int k = 0; k <= kMaxSweepSteps && !now.blocked; ++k) {
    if (now.u >= limit) return false;
    before = now;
    now = sample(solid, way, radius, min(now.u + max(now.gap, least) / way.longest, limit));
  }
  // Out of steps, which the least step forbids but for rounding: stop here rather than pass.
  if (now.blocked && now.u > 0.0f) refine(solid, way, radius, before, now);
  u = before.u;
  normal = now.normal;
  return true;
}

}  // namespace sweeping

// The first contact of a sphere that goes straight from x0, where it is at fraction s0 of the step,
// to x1, where it would be at its end, with any of the solids. A sphere already in contact that
// moves in hits at once; one that moves out or along the wall is left alone. The solid number
// `except` is not looked at.
HD inline Hit sweep(const SolidsView& solids, const Vec3& x0, const Vec3& x1, float s0,
                    float radius, int except = -1) {
  Hit first;
  float limit = 1.0f;
  for (int i = 0; i < solids.count; ++i) {
    if (i == except) continue;
    const SolidView& solid = solids.data[i];
    const sweeping::Way way = sweeping::make_way(solid, x0, x1, s0);
    float u;
    Vec3 normal;
    if (!sweeping::trace(solid, way, radius, limit, u, normal)) continue;
    limit = u;
    first.hit = true;
    first.solid = i;
    first.s = s0 + u * way.span;
    first.position = x0 + u * (x1 - x0);
    first.normal = normal;
    first.wall_velocity = solid.velocity + cross(solid.angular_velocity, sweeping::arm_on(way, u));
  }
  return first;
}

// Whether sweep() over a whole step could hit anything: one distance a solid, without its gradient.
// False is certain; most particles in flight can be done with it.
HD inline bool may_touch(const SolidsView& solids, const Vec3& x0, const Vec3& x1, float radius) {
  for (int i = 0; i < solids.count; ++i) {
    const SolidView& solid = solids.data[i];
    const sweeping::Way way = sweeping::make_way(solid, x0, x1, 0.0f);
    if (out_of_reach(solid, way.arm, radius, way.longest)) continue;
    const Vec3 local = solid.turned ? inverse_rotate(solid.start_orientation, way.arm) : way.arm;
    const float d = solid.sign * distance_only(solid.begin, solid.end, local);
    if (!(d - radius > way.longest)) return true;
  }
  return false;
}

// Whether sweep() over a whole step certainly hits nothing and the sphere's centre ends farther
// than `at_end` from all solids: two distances a solid, without their gradients. From either end
// the distance falls by at most a metre a metre, so it is never less than (d0 + d1 - way) / 2; and
// in a hollow, whose distance is concave, never less than at the nearer end of a straight way.
HD inline bool way_is_free(const SolidsView& solids, const Vec3& x0, const Vec3& x1, float radius,
                           float at_end) {
  for (int i = 0; i < solids.count; ++i) {
    const SolidView& solid = solids.data[i];
    const sweeping::Way way = sweeping::make_way(solid, x0, x1, 0.0f);
    if (out_of_reach(solid, way.arm, max(radius, at_end), way.longest)) continue;
    const auto distance = [&](const Vec3& arm, const Quat& turn) {
      const Vec3 local = solid.turned ? inverse_rotate(turn, arm) : arm;
      return solid.sign * distance_only(solid.begin, solid.end, local);
    };
    const float d1 = distance(sweeping::arm_on(way, 1.0f), solid.end_orientation);
    if (!(d1 > at_end)) return false;
    const float d0 = distance(way.arm, solid.start_orientation);
    const bool straight = !(solid.turn_rate > 0.0f);
    const float least = solid.hollow && straight ? min(d0, d1) : 0.5f * (d0 + d1 - way.longest);
    if (!(least > radius)) return false;
  }
  return true;
}

// The safety net at the end of a step: x moved out of all solids, where they are then, until it is
// `radius` from each, as far as a few rounds get it (a sphere wedged between walls that are nearer
// than its diameter cannot be).
template <bool kShared = false>
HD inline Vec3 push_out(const SolidsView& solids, Vec3 x, float radius) {
  for (int round = 0; round < kPushOutRounds; ++round) {
    bool moved = false;
    for (int i = 0; i < solids.count; ++i) {
      const SolidView& solid = solids.data[i];
      const Vec3 arm = (x - solid.end_position) - solid.end_low;
      if (out_of_reach(solid, arm, radius, 0.0f)) continue;
      const Distance at = distance_at_arm<kShared>(solid, arm, solid.end_orientation);
      if (at.d >= radius) continue;
      x += (radius * (1.0f + kPushOutSlack) - at.d) * at.gradient;
      moved = true;
    }
    if (!moved) break;
  }
  return x;
}

// Velocity after an impact. Relative to the wall: the normal part turns round, times restitution
// (slower than rest_speed [m/s] it just ends, or things at rest would never stop hopping); the
// tangential part loses what Coulomb friction takes with the same normal impulse, friction times
// the change of the normal part, and at most stops. Never adds energy in the wall's frame.
HD inline Vec3 bounce(const Vec3& v, const Vec3& wall_velocity, const Vec3& normal,
                      float restitution, float friction, float rest_speed) {
  const Vec3 relative = v - wall_velocity;
  const float inward = -dot(relative, normal);
  if (!(inward > 0.0f)) return v;
  const float kept = inward < rest_speed ? 0.0f : restitution;
  const Vec3 along = relative + inward * normal;
  const float slip = length(along);
  const float lost = friction * (1.0f + kept) * inward;
  const float slide = slip > lost ? 1.0f - lost / slip : 0.0f;
  return wall_velocity + slide * along + (kept * inward) * normal;
}

// Where a point that is at `world` at fraction s is at the end, if it goes along with the solid.
HD inline Vec3 carried_to_end(const SolidView& solid, const Vec3& world, float s) {
  if (!solid.moves) return world;
  const Vec3 arm = arm_at(solid, world, s);
  const Vec3 local = inverse_rotate(orientation_at(solid, s), arm);
  // world + (what the origin travels) + (what the arm turns): small changes to a large number.
  return world + (1.0f - s) * solid.travel + (rotate(solid.end_orientation, local) - arm);
}

}  // namespace barchan
