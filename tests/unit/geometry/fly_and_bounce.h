// A whole step of one sphere, made of sweep(), bounce(), carried_to_end() and push_out() as solvers
// make it: what the tests of containment throw against walls.
#pragma once

#include "geometry/sweep.h"

namespace barchan {

struct Bounce {
  Vec3 x;  // at the end of the step [m]
  Vec3 v;  // [m/s]
  int bounces = 0;
};

// Flies from x with velocity v for dt [s], bounces up to `most` times, and ends outside all solids.
// A sphere that has used up its bounces (it is in a corner, or walls close in on it) goes along
// with the wall it touched last, or that wall would pass through it in the rest of the step; other
// walls may take it over, and if those are too many as well the last one keeps it.
HD inline Bounce fly_and_bounce(const SolidsView& solids, const Vec3& x, const Vec3& v, float dt,
                                float radius, float rest_speed, int most) {
  Bounce now{x, v, 0};
  float s = 0.0f;
  int carrier = -1;
  for (int k = 0; k < 2 * most; ++k) {
    const Vec3 goal = carrier < 0 ? now.x + ((1.0f - s) * dt) * now.v
                                  : carried_to_end(solids.data[carrier], now.x, s);
    const Hit hit = sweep(solids, now.x, goal, s, radius, carrier);
    now.x = hit.hit ? hit.position : goal;
    s = hit.s;
    if (!hit.hit) break;
    const SolidView& wall = solids.data[hit.solid];
    now.v =
        bounce(now.v, hit.wall_velocity, hit.normal, wall.restitution, wall.friction, rest_speed);
    ++now.bounces;
    if (now.bounces >= most) carrier = hit.solid;
  }
  if (carrier >= 0) now.x = carried_to_end(solids.data[carrier], now.x, s);
  now.x = push_out(solids, now.x, radius);
  return now;
}

}  // namespace barchan
