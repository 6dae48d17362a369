// The kernel behind flow probes, for both devices.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "geometry/rectangle.h"
#include "math/vec3.h"

namespace barchan {

// Mass of a particle if its straight path from `from` to `x` crosses the rectangle [kg]: positive
// along the normal. A point in the plane counts as past it, so that a path through it in two steps
// counts once.
struct CrossingMass {
  View3<const float> from, x;
  View<const std::uint8_t> material;
  View<const double> mass_of;  // by material [kg]
  Rectangle gate;

  HD double operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3d a = Vec3d(from[i]) - gate.center, b = Vec3d(x[i]) - gate.center;
    const double before = dot(a, gate.normal), after = dot(b, gate.normal);
    if ((before < 0.0) == (after < 0.0)) return 0.0;
    const Vec3d hit = a + (before / (before - after)) * (b - a);
    const bool through = std::fabs(dot(hit, gate.along)) <= gate.half_along &&
                         std::fabs(dot(hit, gate.across)) <= gate.half_across;
    if (!through) return 0.0;
    return before < 0.0 ? mass_of[material[i]] : -mass_of[material[i]];
  }
};

}  // namespace barchan
