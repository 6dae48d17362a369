// Solids as kernels see them: poses and velocities of a step, precision, what is uploaded when.
#include "geometry/solid.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include "barchan/error.h"
#include "random_shapes.h"
#include "test_meshes.h"

namespace barchan {
namespace {

using testing::Dice;

Solid fixed(const std::string& name, const Shape& shape) {
  Solid solid;
  solid.name = name;
  solid.shape = shape;
  return solid;
}

Solid keyed(const Shape& shape, const std::vector<Keyframe>& keys) {
  Solid solid = fixed("keyed", shape);
  solid.drive = SolidDrive::keyframes;
  solid.motion = Motion(keys);
  return solid;
}

TEST(SolidSet, NamesTheSolidWithTheBadShape) {
  const auto device = make_cpu_device(1);
  try {
    SolidSet({fixed("floor", make_box({0, 0, 0}, {1, 1, 1})), fixed("ball", make_sphere({}, -1))},
             *device);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("solid 'ball': the sphere's radius"), std::string::npos);
  }
}

TEST(SolidSet, StaticSolidsAreUploadedOnce) {
  const auto device = make_cpu_device(1);
  Solid tank = fixed("tank", make_box({-1, 0, -1}, {1, 2, 1}));
  tank.inside_out = true;
  tank.friction = 0.5;
  tank.restitution = 0.25;
  SolidSet set({tank, fixed("ball", make_sphere({5, 0, 0}, 1))}, *device);
  const SolidsView first = set.moving(0.0, 0.1), second = set.moving(0.1, 0.2);
  EXPECT_EQ(first.data, second.data);
  ASSERT_EQ(first.count, 2);
  EXPECT_EQ(set.find("ball"), 1);
  EXPECT_EQ(set.find("cube"), -1);
  EXPECT_FALSE(first.data[0].moves);
  EXPECT_FALSE(first.data[0].turned);
  EXPECT_EQ(first.data[0].friction, 0.5f);
  EXPECT_EQ(first.data[0].restitution, 0.25f);

  // Inside out: positive inside, and the gradient points inwards.
  const Distance at = solid_distance_at_end(first.data[0], {0.75f, 1.0f, 0.0f});
  EXPECT_NEAR(at.d, 0.25f, 1e-6f);
  EXPECT_EQ(at.gradient, Vec3(-1, 0, 0));
  EXPECT_TRUE(set.buried(0, {1.2, 1, 0}, 0.0, 0.1));
  EXPECT_FALSE(set.buried(0, {1.2, 1, 0}, 0.0, 0.3));
  EXPECT_FALSE(set.buried(0, {0, 1, 0}, 0.0, 0.1));
  EXPECT_TRUE(set.buried(1, {5, 0, 0}, 0.0, 0.9));
}

TEST(SolidSet, DynamicSolidsGoFromPoseToPose) {
  const auto device = make_cpu_device(1);
  Solid body = fixed("body", make_box({-1, -1, -1}, {1, 1, 1}));
  body.drive = SolidDrive::dynamic;
  SolidSet set({body}, *device);
  const Quatd turned = from_axis_angle(Vec3d(0, 0, 1), 1.0);
  set.set_dynamic(0, 2.0, {{10, 0, 0}, Quatd::identity()}, 2.5, {{10.5, 0, 0}, turned});
  EXPECT_LT(length(set.pose(0, 2.25).position - Vec3d(10.25, 0, 0)), 1e-15);
  EXPECT_EQ(set.pose(0, 3.0).position, Vec3d(10.5, 0, 0));
  const SolidsView view = set.moving(2.0, 2.5);
  EXPECT_TRUE(view.data[0].moves);
  EXPECT_LT(length(view.data[0].velocity - Vec3(1, 0, 0)), 1e-6f);
  EXPECT_LT(length(view.data[0].angular_velocity - Vec3(0, 0, 2)), 1e-5f);
  EXPECT_LT(length(velocity_at(view.data[0], {10.5f, 1, 0}) - Vec3(-1, 0, 0)), 1e-5f);
  EXPECT_THROW(SolidSet({fixed("wall", body.shape)}, *device).set_dynamic(0, 0, {}, 1, {}), Error);
}

RC_GTEST_PROP(SolidProperty, DistanceFollowsTheMotion, (testing::Seed seed)) {
  Dice dice(seed);
  const auto device = make_cpu_device(1);
  const Shape shape = testing::random_tree(dice, 2);
  const Vec3d axis = dice.direction();
  const std::vector<Keyframe> keys = {{0.0, dice.in_cube(1.0), axis, dice.between(-3, 3)},
                                      {1.0, dice.in_cube(1.0), axis, dice.between(-3, 3)}};
  SolidSet set({keyed(shape, keys)}, *device);
  const double t0 = dice.between(0.0, 0.9), t1 = t0 + 0.1;
  const SolidView view = set.moving(t0, t1).data[0];
  const SdfProgram program = compile(shape);
  for (int i = 0; i < 20; ++i) {
    const Vec3 x(dice.in_cube(1.0));
    const auto exact = [&](double t) {
      return testing::distance(program, Vec3(set.pose(0, t).to_local(Vec3d(x)))).d;
    };
    RC_ASSERT(std::abs(solid_distance_at_end(view, x).d - exact(t1)) < 4e-6f);
    RC_ASSERT(std::abs(solid_distance(view, x, 1.0f).d - exact(t1)) < 4e-6f);
    RC_ASSERT(std::abs(solid_distance(view, x, 0.0f).d - exact(t0)) < 4e-6f);
    // Between, origins go straight: half a turn a second bends the way by r (0.3)^2 / 8.
    const float middle = solid_distance(view, x, 0.5f).d;
    RC_ASSERT(std::abs(middle - exact(0.5 * (t0 + t1))) < 0.1f);
  }
}

TEST(SolidPrecision, SlowWallsFarAwayStillMove) {
  const auto device = make_cpu_device(1);
  // A micrometre a step at a kilometre, where floats are 61 micrometres apart.
  const Shape wall = make_box({1000, 0, 0}, {1001, 1, 1});
  SolidSet set({keyed(wall, {{0.0, {0, 0, 0}, {0, 1, 0}, 0}, {1.0, {1e-3, 0, 0}, {0, 1, 0}, 0}})},
               *device);
  const SolidView view = set.moving(0.5, 0.501).data[0];
  const Vec3 x(999.9f, 0.5f, 0.5f);
  const float before = solid_distance(view, x, 0.0f).d, after = solid_distance_at_end(view, x).d;
  EXPECT_NEAR(after - before, 1e-6f, 3e-7f);
  EXPECT_NEAR(before, 1000.0005 - double(x.x), 1e-6);
  EXPECT_NEAR(view.velocity.x, 1e-3f, 1e-9f);
}

TEST(SolidVelocity, OfAMomentWhereTheStepHasNoLength) {
  const auto device = make_cpu_device(1);
  const Shape ball = make_sphere({1, 0, 0}, 0.1);
  SolidSet set({keyed(ball, {{0.0, {}, {0, 0, 1}, 0}, {1.0, {1, 0, 0}, {0, 0, 1}, 2}})}, *device);
  const SolidView view = set.moving(0.0, 0.0).data[0];
  // The ball is carried round the origin and along x.
  EXPECT_LT(length(view.velocity - Vec3(1, 2, 0)), 1e-6f);
  EXPECT_LT(length(velocity_at(view, {1, 0.5f, 0}) - Vec3(0, 2, 0)), 1e-6f);
}

TEST(SolidSet, MeshesAreUploadedOnceAndAnswerAsTheHostsProgram) {
  const auto device = make_cpu_device(1);
  const double voxel = 0.02;
  const Shape torus = testing::mesh_shape(testing::torus_mesh(0.5, 0.2, 48, 24));
  const Pose aside{{3, 0, 0}, from_axis_angle(Vec3d(1, 0, 0), 1.0)};
  const Shape both = make_union({torus, placed(torus, aside)});
  const std::size_t field = torus.mesh->field(voxel, kBandVoxels * voxel)->bytes();

  const std::size_t before = device->allocated();
  SolidSet set({fixed("one", torus), fixed("two", both)}, *device, voxel);
  EXPECT_GE(device->allocated() - before, field);
  EXPECT_LT(device->allocated() - before, field + field / 2);

  const SdfProgram program = compile(both, {}, voxel);
  SolidSet now = std::move(set);  // the nodes still point to the fields
  Dice dice(1);
  for (int i = 0; i < 200; ++i) {
    const Vec3d p = dice.in_cube(1.0) + Vec3d(1.5, 0, 0);
    const Distance at = solid_distance(now.moving(0, 0.1).data[1], Vec3(p), 0.0f);
    EXPECT_NEAR(at.d, testing::distance(program, Vec3(p)).d, 2e-6);
  }
}

}  // namespace
}  // namespace barchan
