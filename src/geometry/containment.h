// How a fluid particle is kept out of solids: it slides along them, and never passes through one
// however fast it is. Boundary particles keep the fluid off the walls (sim/boundary.h); this is the
// safety net under them.
#pragma once

#include "base/hd.h"
#include "geometry/sweep.h"
#include "math/vec3.h"

namespace barchan {

inline constexpr int kMostSlides = 6;  // along walls in one step, then it rides with the last

struct Containment {
  SolidsView solids;
  float radius;  // the centre keeps this distance at the end of a step [m]
  float core;    // and this one on its way [m]
  float reach;   // how near counts as near a wall [m]

  HD bool may_touch(const Vec3& from, const Vec3& to) const {
    return barchan::may_touch(solids, from, to, reach);
  }
  // Nothing is in its way, and it ends farther than `at_end` from all solids.
  static constexpr float kHair = 1.01f;  // distances are rounded: a little more is asked for
  HD bool way_is_free(const Vec3& from, const Vec3& to, float at_end) const {
    return barchan::way_is_free(solids, from, to, kHair * core, kHair * at_end);
  }
  HD_CALLED Vec3 push_out(const Vec3& x) const { return barchan::push_out(solids, x, radius); }

  // From a place at the start of the step to one at its end: there if the way is free; otherwise up
  // to the wall and along it.
  HD_CALLED Vec3 move(const Vec3& from, const Vec3& to) const {
    const auto out = [&](const Vec3& p) { return barchan::push_out<true>(solids, p, radius); };
    Vec3 x = from, target = out(to);
    float s = 0.0f;
    Hit wall;
    for (int slide = 0; slide < kMostSlides; ++slide) {
      const Hit hit = sweep(solids, x, target, s, core);
      if (!hit.hit) return out(target);
      // The rest of the way, relative to the wall, without its part into the wall.
      const Vec3 carried = carried_to_end(solids.data[hit.solid], hit.position, hit.s);
      Vec3 rest = target - carried;
      rest -= min(dot(rest, hit.normal), 0.0f) * hit.normal;
      x = hit.position;
      s = hit.s;
      wall = hit;
      target = carried + rest;
    }
    return out(carried_to_end(solids.data[wall.solid], x, s));
  }

  // The solid whose surface is nearest at the end of the step; -1 without solids.
  HD_CALLED int nearest(const Vec3& x) const {
    int best = -1;
    float least = 3e38f;
    for (int s = 0; s < solids.count; ++s) {
      const float d = solid_distance_at_end(solids.data[s], x).d;
      if (d < least) {
        least = d;
        best = s;
      }
    }
    return best;
  }
};

}  // namespace barchan
