// Whole flights: nothing leaves a tumbling container, passes a thin partition or sinks at rest; and
// what a bounce does to the velocity.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "geometry/solid.h"
#include "geometry/sweep.h"
#include "random_shapes.h"
#include "test_meshes.h"
#include "unit/geometry/fly_and_bounce.h"

namespace barchan {
namespace {

using testing::Dice;

constexpr float kRadius = 0.01f;
constexpr float kStep = 1.0f / 240;

std::vector<Keyframe> tumbling() {
  return {{0.0, {0, 0, 0}, {1, 2, 3}, 0.0},
          {0.4, {0.5, 0, -0.2}, {1, 2, 3}, 6.0},
          {0.8, {-0.5, 0.5, 0.4}, {3, -1, 1}, 2.0},
          {1.2, {0, 0, 0}, {3, -1, 1}, -6.0}};
}

Solid container(const Shape& shape, bool inside_out) {
  Solid solid;
  solid.shape = shape;
  solid.inside_out = inside_out;
  solid.friction = 0.3;
  solid.restitution = 0.8;
  solid.drive = SolidDrive::keyframes;
  solid.motion = Motion(tumbling());
  return solid;
}

// Flies many spheres at up to 30 m/s for `steps` steps. Calls check(set, time, start, x) after
// each step; positions are in the world, start is in the solids' common frame.
template <class Check>
void fly(SolidSet& set, double half, int spheres, int steps, const Check& check) {
  Dice dice(3);
  for (int n = 0; n < spheres; ++n) {
    Vec3d start = dice.in_cube(half);
    if (std::abs(start.x) < 0.05) start.x = 0.05;
    Vec3 x(start), v(dice.between(0, 30) * dice.direction());
    for (int i = 0; i < steps; ++i) {
      const double t0 = i * double(kStep), t1 = (i + 1) * double(kStep);
      const Bounce now = fly_and_bounce(set.moving(t0, t1), x, v, kStep, kRadius, 0.05f, 8);
      x = now.x;
      v = now.v + kStep * Vec3(0, -9.81f, 0);
      ASSERT_TRUE(is_finite(x) && is_finite(v));
      check(set, t1, start, Vec3d(x));
      if (::testing::Test::HasFatalFailure() || ::testing::Test::HasNonfatalFailure()) return;
    }
  }
}

TEST(Containment, NothingLeavesATumblingBox) {
  const auto device = make_cpu_device(1);
  const Shape inside = make_box({-0.3, -0.2, -0.25}, {0.3, 0.2, 0.25});
  SolidSet set({container(inside, true)}, *device);
  fly(set, 0.15, 100, 300, [&](const SolidSet& s, double t, const Vec3d&, const Vec3d& x) {
    EXPECT_TRUE(deeper_than(inside, s.pose(0, t).to_local(x), 0.98 * kRadius)) << t;
    EXPECT_FALSE(s.buried(0, x, t, 0.0));
  });
}

TEST(Containment, NothingLeavesATumblingShellNorEntersIt) {
  // A hollow ball whose wall is a fifth of a radius, as a solid of its own, not inside out.
  const auto device = make_cpu_device(1);
  const Shape shell = make_difference(make_sphere({0, 0, 0}, 0.302), make_sphere({0, 0, 0}, 0.3));
  SolidSet set({container(shell, false)}, *device);
  fly(set, 0.15, 60, 300, [&](const SolidSet& s, double t, const Vec3d&, const Vec3d& x) {
    EXPECT_LT(length(s.pose(0, t).to_local(x)), 0.3 - 0.98 * kRadius) << t;
  });
}

TEST(Containment, NothingPassesAThinPartition) {
  // A blade of 0.2 radii from wall to wall; both tumble. Each sphere stays on its own side.
  const auto device = make_cpu_device(1);
  const Shape inside = make_box({-0.3, -0.2, -0.25}, {0.3, 0.2, 0.25});
  const Shape blade = make_box({-0.1 * kRadius, -0.3, -0.3}, {0.1 * kRadius, 0.3, 0.3});
  SolidSet set({container(inside, true), container(blade, false)}, *device);
  fly(set, 0.15, 100, 300, [&](const SolidSet& s, double t, const Vec3d& start, const Vec3d& x) {
    const Vec3d local = s.pose(0, t).to_local(x);
    EXPECT_GT(local.x * (start.x > 0 ? 1 : -1), 0.98 * kRadius) << t;
    EXPECT_TRUE(deeper_than(inside, local, 0.9 * kRadius)) << t;
  });
}

TEST(Containment, ControlPushingOutAloneLetsThemThrough) {
  // The same partition with the end-of-step net alone: this must fail, or the test above is empty.
  const auto device = make_cpu_device(1);
  const Shape blade = make_box({-0.1 * kRadius, -9, -9}, {0.1 * kRadius, 9, 9});
  SolidSet set({container(blade, false)}, *device);
  const Vec3 x(-0.05f, 0, 0), v(30, 0, 0);
  EXPECT_GT(push_out(set.moving(0, kStep), x + kStep * v, kRadius).x, 0.0f);
  EXPECT_LT(fly_and_bounce(set.moving(0, kStep), x, v, kStep, kRadius, 0.05f, 8).x.x, 0.0f);
}

// A tumbling hollow box as a mesh, its wall two spacings (four radii) thick and its voxels half a
// spacing, as a scene would have it.
const Vec3d kRoom(0.3, 0.2, 0.25);  // half the room in it [m]
SolidSet mesh_container(Device& device) {
  const Mesh shell = testing::box_shell_mesh(-kRoom, kRoom, 4.0 * kRadius);
  return SolidSet({container(testing::mesh_shape(shell), false)}, device, kRadius);
}
bool in_room(const SolidSet& set, double time, const Vec3d& x) {
  const Vec3d local = set.pose(0, time).to_local(x);
  return Aabb{-kRoom, kRoom}.contains(local);
}

TEST(Containment, NothingLeavesATumblingMesh) {
  const auto device = make_cpu_device(1);
  SolidSet set = mesh_container(*device);
  double nearest = 1.0;
  fly(set, 0.15, 100, 300, [&](const SolidSet& s, double t, const Vec3d&, const Vec3d& x) {
    EXPECT_TRUE(in_room(s, t, x)) << t;
    EXPECT_FALSE(s.buried(0, x, t, 0.0)) << t;
    const Vec3d local = s.pose(0, t).to_local(x);
    nearest = std::min(nearest, s[0].shape.mesh->nearest(local).distance);
  });
  // Flat walls are exact, and the room's edges err towards its middle.
  EXPECT_GT(nearest, 0.98 * kRadius);
  EXPECT_LT(nearest, 1.05 * kRadius);  // they did reach the walls
}

TEST(Containment, ControlTheMeshLeaksWithoutTheSweep) {
  const auto device = make_cpu_device(1);
  SolidSet set = mesh_container(*device);
  Dice dice(3);
  int leaks = 0;
  for (int n = 0; n < 100; ++n) {
    Vec3 x(dice.in_cube(0.15)), v(dice.between(0, 30) * dice.direction());
    for (int i = 0; i < 60; ++i) {
      x = push_out(set.moving(i * double(kStep), (i + 1) * double(kStep)), x + kStep * v, kRadius);
    }
    if (!in_room(set, 60 * double(kStep), Vec3d(x))) ++leaks;
  }
  EXPECT_GT(leaks, 50);
}

TEST(Containment, RestingSpheresDoNotSinkNorRise) {
  const auto device = make_cpu_device(1);
  for (const double far : {0.0, 300.0}) {
    Solid floor;
    floor.shape = make_box({far - 1, far - 1, -1}, {far + 1, far, 1});
    floor.restitution = 0.4;
    floor.friction = 0.5;
    SolidSet set({floor}, *device);
    Vec3 x(Vec3d(far, far + 0.1, 0)), v(0.5f, 0, 0);
    for (int i = 0; i < 4000; ++i) {
      v += kStep * Vec3(0, -9.81f, 0);
      const Bounce now = fly_and_bounce(set.moving(0, kStep), x, v, kStep, kRadius, 0.1f, 8);
      x = now.x, v = now.v;
      EXPECT_GT(x.y - far, kRadius * 0.99 - 4e-8 * far);
      if (i < 500) continue;
      EXPECT_LT(x.y - far, kRadius * 1.01 + 2e-7 * far);
    }
    EXPECT_LT(length(v), 1e-3f);
  }
}

// ---- bounce ----

TEST(BounceVelocity, ClosedForms) {
  const Vec3 up(0, 1, 0), still(0, 0, 0);
  EXPECT_LT(length(bounce({1, -2, 0}, still, up, 0.5f, 0.0f, 0.1f) - Vec3(1, 1, 0)), 1e-6f);
  // Friction takes 0.2 * (1 + 0.5) * 2 of the slip.
  EXPECT_LT(length(bounce({1, -2, 0}, still, up, 0.5f, 0.2f, 0.1f) - Vec3(0.4f, 1, 0)), 1e-6f);
  // More friction stops it and no more.
  EXPECT_LT(length(bounce({1, -2, 0}, still, up, 0.5f, 5.0f, 0.1f) - Vec3(0, 1, 0)), 1e-6f);
  // Slower than rest_speed: no hop.
  EXPECT_LT(length(bounce({0, -0.05f, 0}, still, up, 0.5f, 0.0f, 0.1f)), 1e-7f);
  // Moving out: nothing happens.
  EXPECT_EQ(bounce({1, 2, 0}, still, up, 0.5f, 0.5f, 0.1f), Vec3(1, 2, 0));
  // A wall that moves: the same in its frame.
  EXPECT_LT(length(bounce({1, 0, 0}, {0, 2, 0}, up, 1.0f, 0.0f, 0.1f) - Vec3(1, 4, 0)), 1e-6f);
}

RC_GTEST_PROP(BounceVelocity, NeverAddsEnergyNorReversesSliding, (testing::Seed seed)) {
  Dice dice(seed);
  const Vec3 n(dice.direction()), wall(dice.in_cube(3.0)), v(dice.in_cube(30.0));
  const float e = float(dice.between(0, 1)), mu = float(dice.between(0, 2));
  const Vec3 before = v - wall, after = bounce(v, wall, n, e, mu, 0.1f) - wall;
  RC_ASSERT(length_squared(after) <= length_squared(before) * 1.00001f);
  RC_ASSERT(dot(after, n) >= std::min(dot(before, n), 0.0f) * e - 1e-4f);
  RC_ASSERT(dot(after, n) > -1e-4f);
  const Vec3 slip = before - dot(before, n) * n, slip_after = after - dot(after, n) * n;
  RC_ASSERT(dot(slip, slip_after) > -1e-3f);
  RC_ASSERT(length(slip_after) <= length(slip) + 1e-4f);
}

}  // namespace
}  // namespace barchan
