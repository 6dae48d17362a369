// A single free body against closed forms.
#include "rigid/rigid_body.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace barchan {
namespace {

// A box of 0.2 x 0.2 x 0.4 m and 16 kg, its symmetry axis along z.
RigidBody symmetric_top() {
  const double I1 = 16.0 / 12 * (0.04 + 0.16), I3 = 16.0 / 12 * 0.08;
  return {16.0, Sym3d::diagonal({I1, I1, I3})};
}

// The spin axis of a free symmetric top goes round the angular momentum at L/I1; seen from the body
// omega goes round the axis at (I3 - I1) w3/I1. 100 turns, against the closed form.
TEST(RigidBody, ATorqueFreeTopPrecessesAsItShould) {
  const RigidBody top = symmetric_top();
  const double w1 = 3.0, w3 = 2.0 * std::numbers::pi;
  BodyMotion motion{{}, {}, {w1, 0.0, w3}};
  const Vec3d L0 = top.angular_momentum(motion.pose.orientation, motion.angular_velocity);
  const double energy = top.kinetic_energy(motion);

  const double dt = 1.0 / 240.0, rate = (top.moments.z - top.moments.x) * w3 / top.moments.x;
  const int steps = 100 * 240;
  for (int k = 1; k <= steps; ++k) {
    top.turn(dt, motion);
    if (k % 2400 != 0) continue;
    const Vec3d L = top.angular_momentum(motion.pose.orientation, motion.angular_velocity);
    EXPECT_LT(length(L - L0), 1e-9 * length(L0));
    EXPECT_NEAR(top.kinetic_energy(motion), energy, 1e-8 * energy);
    const Vec3d body = inverse_rotate(motion.pose.orientation, motion.angular_velocity);
    const double phase = rate * k * dt;
    EXPECT_LT(length(body - Vec3d(w1 * std::cos(phase), w1 * std::sin(phase), w3)), 1e-4 * w3);
  }
}

// The middle axis is unstable: a small disturbance grows, and the body turns over. That must come
// out of the integration, energy and momentum kept.
TEST(RigidBody, TheMiddleAxisIsUnstable) {
  const RigidBody body(1.0, Sym3d::diagonal({3.0, 2.0, 1.0}));
  BodyMotion motion{{}, {}, {1e-3, 5.0, 0.0}};
  const double energy = body.kinetic_energy(motion);
  double lowest = 1.0;
  for (int k = 0; k < 4000; ++k) {
    body.turn(0.005, motion);
    lowest = std::min(lowest, rotate(motion.pose.orientation, Vec3d(0, 1, 0)).y);
  }
  EXPECT_LT(lowest, -0.9);
  EXPECT_NEAR(body.kinetic_energy(motion), energy, 1e-7 * energy);
}

TEST(RigidBody, SkewInertiaIsTurnedToItsPrincipalAxes) {
  const Mat3d turn = to_matrix(from_axis_angle(Vec3d(1, 2, 3), 0.7));
  const Sym3d straight = Sym3d::diagonal({3.0, 2.5, 1.0});
  const RigidBody skew(2.0, symmetric_part(turn * to_matrix(straight) * transpose(turn)));
  const Vec3d w(0.3, -1.0, 2.0);
  const Vec3d L = skew.angular_momentum(Quatd::identity(), w);
  const Vec3d expected = turn * (straight * (transpose(turn) * w));
  EXPECT_LT(length(L - expected), 1e-12);
  EXPECT_LT(length(skew.angular_velocity(Quatd::identity(), L) - w), 1e-12);
}

TEST(RigidBody, KnowsItsSize) {
  // A solid ellipsoid with half axes 1, 2, 3.
  const RigidBody egg(5.0, Sym3d::diagonal({4.0 + 9.0, 1.0 + 9.0, 1.0 + 4.0}));
  EXPECT_LT(length(egg.half_axes() - Vec3d(1, 2, 3)), 1e-12);
}

TEST(RigidBody, AKickChangesMomentumByTheImpulse) {
  const RigidBody top = symmetric_top();
  BodyMotion motion{{{1, 2, 3}, from_axis_angle(Vec3d(1, 1, 0), 0.4)}, {1, 0, 0}, {0, 2, 1}};
  const Vec3d L0 = top.angular_momentum(motion.pose.orientation, motion.angular_velocity);
  top.kick({16.0, -8.0, 0.0}, {0.1, 0.2, 0.3}, motion);
  EXPECT_LT(length(motion.velocity - Vec3d(2.0, -0.5, 0.0)), 1e-14);
  const Vec3d L = top.angular_momentum(motion.pose.orientation, motion.angular_velocity);
  EXPECT_LT(length(L - L0 - Vec3d(0.1, 0.2, 0.3)), 1e-14);
}

}  // namespace
}  // namespace barchan
