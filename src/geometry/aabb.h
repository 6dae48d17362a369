// Axis-aligned boxes: what a shape occupies at most. Host only, double precision.
#pragma once

#include <cmath>
#include <limits>

#include "math/vec3.h"

namespace barchan {

// Nothing unless told. A side may be infinite (planes have no end). Clipping and shrinking may
// leave lo > hi: then nothing is inside, but growing it back by as much brings the box back.
struct Aabb {
  static constexpr double kEndless = std::numeric_limits<double>::infinity();

  Vec3d lo{kEndless, kEndless, kEndless};     // [m]
  Vec3d hi{-kEndless, -kEndless, -kEndless};  // [m]

  static Aabb everything() {
    return {{-kEndless, -kEndless, -kEndless}, {kEndless, kEndless, kEndless}};
  }

  bool is_empty() const { return !(lo.x <= hi.x && lo.y <= hi.y && lo.z <= hi.z); }
  bool is_bounded() const { return is_empty() || (is_finite(lo) && is_finite(hi)); }
  bool contains(const Vec3d& p) const {
    return lo.x <= p.x && p.x <= hi.x && lo.y <= p.y && p.y <= hi.y && lo.z <= p.z && p.z <= hi.z;
  }
  Vec3d extent() const { return is_empty() ? Vec3d() : hi - lo; }  // [m]
  Vec3d center() const { return 0.5 * (lo + hi); }
  // Wider by `by` [m] on all six sides; narrower if it is negative.
  Aabb grown(double by) const {
    const Vec3d d(by, by, by);
    return {lo - d, hi + d};
  }
};

// The smallest box around both, and what is in both.
inline Aabb join(const Aabb& a, const Aabb& b) {
  return {min(a.lo, b.lo), max(a.hi, b.hi)};
}
inline Aabb meet(const Aabb& a, const Aabb& b) {
  return {max(a.lo, b.lo), min(a.hi, b.hi)};
}

}  // namespace barchan
