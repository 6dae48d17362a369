#include "rigid/rigid_body.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "math/eigen3.h"

namespace barchan {

namespace {

Vec3d divide(const Vec3d& a, const Vec3d& b) {
  return {a.x / b.x, a.y / b.y, a.z / b.z};
}

// A free body's orientation q (principal axes to world) and its angular momentum m in the principal
// axes. Its energy is a sum of three, H = m1^2/2I1 + m2^2/2I2 + m3^2/2I3, and under each alone the
// body turns about one axis at the steady rate m_k/I_k while the world sees m stand still.
struct FreeTop {
  Quatd q;
  Vec3d m;        // [N m s]
  Vec3d moments;  // [kg m^2]

  void turn_about(int k, double dt) {
    Vec3d axis;
    axis[k] = 1.0;
    const Quatd turn = from_axis_angle(axis, dt * m[k] / moments[k]);
    q = q * turn;
    m = inverse_rotate(turn, m);
  }
  // The three in turn and back again: second order, symplectic (Reich 1994; McLachlan 1993).
  void step(double dt) {
    turn_about(0, 0.5 * dt);
    turn_about(1, 0.5 * dt);
    turn_about(2, dt);
    turn_about(1, 0.5 * dt);
    turn_about(0, 0.5 * dt);
  }
};

}  // namespace

RigidBody::RigidBody(double mass_, const Sym3d& inertia) : mass(mass_) {
  // Where the axes are principal already they stay as they are, in their order.
  if (inertia.xy == 0.0 && inertia.xz == 0.0 && inertia.yz == 0.0) {
    moments = {inertia.xx, inertia.yy, inertia.zz};
    axes = Quatd::identity();
    return;
  }
  const Eigen3<double> e = eigen_symmetric(inertia);
  moments = {e.values[0], e.values[1], e.values[2]};
  axes = from_rotation_matrix(e.vectors);
}

Vec3d RigidBody::half_axes() const {
  // For an ellipsoid I1 = m (b^2 + c^2)/5, and likewise round; so a^2 = 5 (I2 + I3 - I1)/(2m).
  const double sum = moments.x + moments.y + moments.z;
  std::array<double, 3> half{};
  for (int k = 0; k < 3; ++k) {
    half[static_cast<std::size_t>(k)] =
        std::sqrt(std::max(0.0, 2.5 * (sum - 2.0 * moments[k]) / mass));
  }
  std::sort(half.begin(), half.end());
  return {half[0], half[1], half[2]};
}

Vec3d RigidBody::angular_momentum(const Quatd& orientation, const Vec3d& angular_velocity) const {
  const Quatd q = orientation * axes;
  return rotate(q, multiply(moments, inverse_rotate(q, angular_velocity)));
}

Vec3d RigidBody::angular_velocity(const Quatd& orientation, const Vec3d& angular_momentum) const {
  const Quatd q = orientation * axes;
  return rotate(q, divide(inverse_rotate(q, angular_momentum), moments));
}

double RigidBody::kinetic_energy(const BodyMotion& motion) const {
  const Vec3d L = angular_momentum(motion.pose.orientation, motion.angular_velocity);
  return 0.5 * (mass * length_squared(motion.velocity) + dot(L, motion.angular_velocity));
}

void RigidBody::turn(double dt, BodyMotion& motion) const {
  // Fourth order from three steps of the second (Yoshida 1990), a tenth of a radian each at most.
  const double outer = 1.0 / (2.0 - std::cbrt(2.0)), inner = 1.0 - 2.0 * outer;
  const double rate = length(motion.angular_velocity);
  const int steps = std::max(1, static_cast<int>(std::ceil(std::min(rate * dt / 0.1, 1e4))));
  const double h = dt / steps;
  const Quatd q = motion.pose.orientation * axes;
  FreeTop top{q, multiply(moments, inverse_rotate(q, motion.angular_velocity)), moments};
  for (int k = 0; k < steps; ++k) {
    top.step(outer * h);
    top.step(inner * h);
    top.step(outer * h);
  }
  motion.pose.orientation = normalized(top.q * conjugate(axes));
  motion.angular_velocity = rotate(top.q, divide(top.m, moments));
}

void RigidBody::kick(const Vec3d& impulse, const Vec3d& angular_impulse, BodyMotion& motion) const {
  motion.velocity += impulse / mass;
  motion.angular_velocity += angular_velocity(motion.pose.orientation, angular_impulse);
}

}  // namespace barchan
