// One dynamic body: what resists being moved and turned, and how it moves when nothing touches it.
#pragma once

#include "geometry/pose.h"
#include "math/quat.h"
#include "math/sym3.h"
#include "math/vec3.h"

namespace barchan {

// How a body moves: its own origin is the centre of mass.
struct BodyMotion {
  Pose pose;
  Vec3d velocity;          // of the centre of mass [m/s]
  Vec3d angular_velocity;  // world axes [rad/s]
};

struct RigidBody {
  double mass = 0.0;  // [kg]
  Vec3d moments;      // of inertia about the principal axes [kg m^2]
  Quatd axes;         // principal axes to the body's own frame

  // `inertia` about the centre of mass, in the body's own axes [kg m^2].
  RigidBody(double mass_, const Sym3d& inertia);

  // Half axes of the ellipsoid of the same mass and moments, ascending [m]: the body's size.
  Vec3d half_axes() const;

  // I omega and I^-1 L in world axes, for a body turned by `orientation`.
  Vec3d angular_momentum(const Quatd& orientation, const Vec3d& angular_velocity) const;
  Vec3d angular_velocity(const Quatd& orientation, const Vec3d& angular_momentum) const;

  double kinetic_energy(const BodyMotion& motion) const;  // [J]

  // Free rotation for dt [s]: angular momentum is kept to rounding, energy to fourth order.
  void turn(double dt, BodyMotion& motion) const;
  // An impulse [N s] on the centre of mass and an angular impulse [N m s].
  void kick(const Vec3d& impulse, const Vec3d& angular_impulse, BodyMotion& motion) const;
};

}  // namespace barchan
