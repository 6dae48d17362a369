// The rigid motion with the momentum of a group of faces. Velocities stand on faces, one component
// each: face f across axis a, at r from the group's origin, with mass m, moves at
//     u_f = e_a . (v + w x r) = j_f . (v, w),      j_f = (e_a, r x e_a)
// Least squares over the faces,
//     (sum of m j j^T) (v, w) = sum of m u j
// is the same as keeping momentum, linear and angular: what both sides are. (Thesis eq. 2.7 divides
// the angular momentum by the mass, and has the cross product the other way round.)
#pragma once

#include "base/hd.h"
#include "math/vec3.h"

namespace barchan::flip {

// Lengths in cells, masses in those of a full cell.
struct RigidMotion {
  Vec3d velocity;  // of the group's origin [m/s]
  Vec3d spin;      // w [m/s / cell]
  HD Vec3d at(const Vec3d& r) const { return velocity + cross(spin, r); }
};

struct MotionSums {
  static constexpr int kMatrix = 21, kAll = kMatrix + 6;
  double of[kAll] = {};  // the upper triangle of the matrix, row by row, then the right side

  HD void add(double mass, const double (&j)[6], double u) {
    int k = 0;
    for (int row = 0; row < 6; ++row) {
      for (int column = row; column < 6; ++column) of[k++] += mass * j[row] * j[column];
      of[kMatrix + row] += mass * u * j[row];
    }
  }
  HD void add_face(double mass, int axis, const Vec3d& r, double u) {
    const Vec3d e(axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? 1.0 : 0.0);
    add_along(mass, e, r, u);
  }
  // The same along any direction.
  HD void add_along(double mass, const Vec3d& e, const Vec3d& r, double u) {
    const Vec3d turn = cross(r, e);
    const double j[6] = {e.x, e.y, e.z, turn.x, turn.y, turn.z};
    add(mass, j, u);
  }
  HD void push(const Vec3d& momentum) {
    for (int k = 0; k < 3; ++k) of[kMatrix + k] += momentum[k];
  }
  HD Vec3d momentum() const { return {of[kMatrix], of[kMatrix + 1], of[kMatrix + 2]}; }
  HD Vec3d mass() const { return {of[0], of[6], of[11]}; }  // of the faces across each axis
  HD MotionSums& operator+=(const MotionSums& o) {
    for (int k = 0; k < kAll; ++k) of[k] += o.of[k];
    return *this;
  }
};

// The solution; where some motion moves none of the faces (any spin of one cell, that of a line of
// cells about itself), the one without it.
RigidMotion rigid_motion(const MotionSums& sums);

}  // namespace barchan::flip
