// Where a thing is and how it is turned: local points are rotated, then moved. Double precision;
// kernels get poses as floats relative to a near origin (solid.h).
#pragma once

#include "base/hd.h"
#include "math/quat.h"
#include "math/vec3.h"

namespace barchan {

struct Pose {
  Vec3d position;     // of the local origin, in the world [m]
  Quatd orientation;  // unit; local to world

  HD Vec3d to_world(const Vec3d& p) const { return rotate(orientation, p) + position; }
  HD Vec3d to_local(const Vec3d& p) const { return inverse_rotate(orientation, p - position); }

  friend HD bool operator==(const Pose& a, const Pose& b) {
    return a.position == b.position && a.orientation == b.orientation;
  }
};

// First by `inner`, then by `outer`. Normalised, so that long chains stay rotations.
HD inline Pose compose(const Pose& outer, const Pose& inner) {
  return {outer.to_world(inner.position), normalized(outer.orientation * inner.orientation)};
}

HD inline Pose inverse(const Pose& a) {
  return {-inverse_rotate(a.orientation, a.position), conjugate(a.orientation)};
}

}  // namespace barchan
