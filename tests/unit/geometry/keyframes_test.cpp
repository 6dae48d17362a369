// Keyframed motion: poses at and between keys, many turns, and velocities as derivatives.
#include "geometry/keyframes.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "barchan/error.h"
#include "random_shapes.h"

namespace barchan {
namespace {

using testing::Dice;

const double kHalfTurn = std::acos(-1.0);

double angle_between(const Quatd& a, const Quatd& b) {
  return length(rotation_vector(a, b));
}

TEST(Motion, WithoutKeysNothingMoves) {
  const Motion none;
  EXPECT_TRUE(none.is_still());
  EXPECT_EQ(none.at(3.0), Pose());
}

TEST(Motion, IsStillBeforeTheFirstAndAfterTheLastKey) {
  const Motion motion({{1.0, {1, 0, 0}, {0, 1, 0}, 0.5}, {2.0, {3, 0, 0}, {0, 1, 0}, 1.0}});
  EXPECT_FALSE(motion.is_still());
  EXPECT_EQ(motion.at(-5.0), motion.at(1.0));
  EXPECT_EQ(motion.at(9.0), motion.at(2.0));
  EXPECT_LT(length(motion.at(1.5).position - Vec3d(2, 0, 0)), 1e-15);
  Vec3d linear, angular;
  motion.velocity(0.9, linear, angular);
  EXPECT_EQ(linear, Vec3d());
  motion.velocity(2.0, linear, angular);
  EXPECT_EQ(angular, Vec3d());
  motion.velocity(1.0, linear, angular);  // at a key: what follows
  EXPECT_LT(length(linear - Vec3d(2, 0, 0)), 1e-15);
  EXPECT_LT(length(angular - Vec3d(0, 0.5, 0)), 1e-15);
}

TEST(Motion, TurnsManyTimesBetweenTwoKeys) {
  // Three turns about z in one second; the first key has no rotation, so its axis does not count.
  const Motion motion({{0.0, {}, {1, 0, 0}, 0.0}, {1.0, {}, {0, 0, 2}, 6 * kHalfTurn}});
  for (double t = 0.0; t <= 1.0; t += 0.05) {
    const Quatd expected = from_axis_angle(Vec3d(0, 0, 1), 6 * kHalfTurn * t);
    EXPECT_LT(angle_between(motion.at(t).orientation, expected), 1e-12) << t;
  }
  Vec3d linear, angular;
  motion.velocity(0.3, linear, angular);
  EXPECT_LT(length(angular - Vec3d(0, 0, 6 * kHalfTurn)), 1e-12);
}

TEST(Motion, OppositeAxesAreOneAxis) {
  const Motion motion({{0.0, {}, {0, 1, 0}, 2.0}, {1.0, {}, {0, -1, 0}, 3.0}});
  EXPECT_LT(angle_between(motion.at(0.5).orientation, from_axis_angle(Vec3d(0, 1, 0), -0.5)),
            1e-14);
}

TEST(Motion, BetweenDifferentAxesTakesTheShortestWay) {
  const Quatd a = from_axis_angle(Vec3d(1, 0, 0), 1.0), b = from_axis_angle(Vec3d(0, 1, 0), 2.0);
  const Motion motion({{0.0, {}, {1, 0, 0}, 1.0}, {2.0, {}, {0, 1, 0}, 2.0}});
  for (double t = 0.0; t <= 2.0; t += 0.25) {
    EXPECT_LT(angle_between(motion.at(t).orientation, slerp(a, b, t / 2)), 1e-12) << t;
  }
}

TEST(Motion, RejectsKeysThatMakeNoSense) {
  EXPECT_THROW(Motion({{1.0, {}, {0, 1, 0}, 0.0}, {1.0, {}, {0, 1, 0}, 0.0}}), Error);
  EXPECT_THROW(Motion({{0.0, {}, {0, 0, 0}, 1.0}}), Error);
  EXPECT_THROW(Motion({{0.0, {std::nan(""), 0, 0}, {0, 1, 0}, 1.0}}), Error);
}

RC_GTEST_PROP(MotionProperty, VelocityIsTheDerivative, (testing::Seed seed)) {
  Dice dice(seed);
  std::vector<Keyframe> keys;
  const Vec3d shared = dice.direction();
  double time = 0.0;
  for (int i = 0; i < 5; ++i) {
    time += dice.between(0.2, 1.0);
    const Vec3d axis = dice.below(2) ? shared : dice.direction();
    keys.push_back({time, dice.in_cube(1.0), axis, dice.below(4) ? dice.between(-20, 20) : 0.0});
  }
  const Motion motion(keys);
  const double h = 1e-6;
  for (int i = 0; i < 20; ++i) {
    const double t = dice.between(0.0, time + 0.5);
    bool at_key = false;
    for (const Keyframe& key : keys) at_key = at_key || std::abs(key.time - t) < 2 * h;
    if (at_key) continue;
    const Pose before = motion.at(t - h), after = motion.at(t + h);
    Vec3d linear, angular;
    motion.velocity(t, linear, angular);
    RC_ASSERT(length((after.position - before.position) / (2 * h) - linear) < 1e-7);
    const Vec3d omega = angular_velocity(before.orientation, after.orientation, 2 * h);
    RC_ASSERT(length(omega - angular) < 1e-6);
  }
  for (const Keyframe& key : keys) {
    const Pose pose = motion.at(key.time), just_before = motion.at(key.time - 1e-12);
    RC_ASSERT(angle_between(pose.orientation, from_axis_angle(key.axis, key.angle)) < 1e-10);
    RC_ASSERT(angle_between(pose.orientation, just_before.orientation) < 1e-9);
    RC_ASSERT(length(pose.position - just_before.position) < 1e-9);
  }
}

}  // namespace
}  // namespace barchan
