// A rectangle in space from two opposite corners and what is across it. Corners and normal leave
// one freedom, how it is turned about the normal; here two of its sides are level.
#pragma once

#include <cmath>

#include "math/vec3.h"

namespace barchan {

struct Rectangle {
  Vec3d center;                            // [m]
  Vec3d normal;                            // unit
  Vec3d along, across;                     // its sides' directions, unit; `along` is level
  double half_along = 0, half_across = 0;  // half its sides [m]

  double area() const { return 4.0 * half_along * half_across; }  // [m^2]
};

// `normal` of any length but 0, `up` a coordinate axis. The corners' difference along the normal is
// left out: the rectangle is the one seen along it.
inline Rectangle level_rectangle(const Vec3d& from, const Vec3d& to, const Vec3d& normal,
                                 const Vec3d& up) {
  Rectangle made;
  made.center = 0.5 * (from + to);
  made.normal = normalized(normal);
  // A level rectangle has no steepest direction: its sides go along the coordinate axes.
  const Vec3d level = cross(up, made.normal);
  made.along = length(level) > 1e-6 ? normalized(level) : Vec3d(1, 0, 0);
  made.across = cross(made.normal, made.along);
  made.half_along = 0.5 * std::abs(dot(to - from, made.along));
  made.half_across = 0.5 * std::abs(dot(to - from, made.across));
  return made;
}

}  // namespace barchan
