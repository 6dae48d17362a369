// The host's shapes: faults are named, bounds hold, inequalities agree with distances.
#include "geometry/shape.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "geometry/aabb.h"
#include "random_shapes.h"

namespace barchan {
namespace {

using testing::Dice;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_fault(const Shape& shape, const std::string& words) {
  const std::string fault = describe_fault(shape);
  EXPECT_NE(fault.find(words), std::string::npos) << "'" << fault << "' lacks '" << words << "'";
}

TEST(Aabb, StartsEmptyAndGrowsByJoining) {
  Aabb box;
  EXPECT_TRUE(box.is_empty());
  EXPECT_EQ(box.extent(), Vec3d());
  box = join(box, {{1, 2, 3}, {1, 2, 3}});
  EXPECT_FALSE(box.is_empty());
  EXPECT_TRUE(box.contains({1, 2, 3}));
  box = join(box, {{0, 0, 0}, {1, 1, 1}});
  EXPECT_EQ(box.extent(), Vec3d(1, 2, 3));
  EXPECT_TRUE(box.grown(0.5).contains({-0.4, 2.4, 3.4}));
  EXPECT_TRUE(box.is_bounded());
  EXPECT_FALSE(Aabb::everything().is_bounded());
  EXPECT_TRUE(meet(box, {{5, 5, 5}, {6, 6, 6}}).is_empty());
}

TEST(Pose, InverseUndoesAndComposeChains) {
  Dice dice(7);
  const Pose a = dice.pose(2.0), b = dice.pose(2.0);
  const Vec3d p(0.3, -0.7, 1.1);
  EXPECT_LT(length(a.to_local(a.to_world(p)) - p), 1e-14);
  EXPECT_LT(length(inverse(a).to_world(p) - a.to_local(p)), 1e-14);
  EXPECT_LT(length(compose(a, b).to_world(p) - a.to_world(b.to_world(p))), 1e-14);
}

TEST(ShapeFault, SoundShapesHaveNone) {
  EXPECT_EQ(describe_fault(make_box({0, 0, 0}, {1, 1, 1})), "");
  EXPECT_EQ(describe_fault(make_cone({0, 0, 0}, {0, 1, 0}, 0.0, 0.5)), "");
  EXPECT_EQ(describe_fault(make_plane({0, 0, 0}, {0, 2, 0})), "");
}

TEST(ShapeFault, NamesWhatIsWrong) {
  const Shape ball = make_sphere({0, 0, 0}, 1);
  expect_fault(make_box({0, 0, 0}, {1, 0, 1}), "empty along y");
  expect_fault(make_sphere({0, 0, 0}, 0), "radius is 0 m");
  expect_fault(make_sphere({0, 0, 0}, -1), "radius is -1 m");
  expect_fault(make_sphere({kNan, 0, 0}, 1), "not finite");
  expect_fault(make_sphere({0, 0, 0}, kNan), "not finite");
  expect_fault(make_sphere({0, 0, std::numeric_limits<double>::infinity()}, 1), "not finite");
  expect_fault(make_cylinder({1, 0, 0}, {1, 0, 0}, 1), "same point (1, 0, 0)");
  expect_fault(make_cylinder({1, 0, 0}, {2, 0, 0}, 0), "the cylinder's radius");
  expect_fault(make_capsule({1, 0, 0}, {1, 0, 0}, 1), "the capsule's from and to");
  expect_fault(make_cone({0, 0, 0}, {0, 1, 0}, 0, 0), "both radii");
  expect_fault(make_cone({0, 0, 0}, {0, 1, 0}, 1, -1), "neither may be negative");
  expect_fault(make_torus({0, 0, 0}, {0, 0, 0}, 1, 0.1), "axis of length 0");
  expect_fault(make_torus({0, 0, 0}, {0, 1, 0}, 1, 1), "must be below its major radius");
  expect_fault(make_plane({0, 0, 0}, {0, 0, 0}), "normal of length 0");
  expect_fault(make_union({}), "the union has no parts");
  expect_fault(make_intersection({}), "the intersection has no parts");
  expect_fault(make_intersection({ball, make_sphere({3, 0, 0}, 1)}), "do not meet");
  expect_fault(make_offset(ball, -2), "leaves nothing");
  expect_fault(make_union({ball, make_sphere({0, 0, 0}, -1)}), "part 2 of the union: the sphere's");
  Shape deep = ball;
  for (int i = 0; i < 100; ++i) deep = make_offset(deep, 0.01);
  expect_fault(deep, "nested more than 64 deep");
}

TEST(ShapeBounds, AreTightForPrimitives) {
  const Aabb cylinder = bounds(make_cylinder({0, 0, 0}, {0, 2, 0}, 0.5));
  EXPECT_LT(length(cylinder.lo - Vec3d(-0.5, 0, -0.5)), 1e-15);
  EXPECT_LT(length(cylinder.hi - Vec3d(0.5, 2, 0.5)), 1e-15);
  const Pose quarter{{1, 0, 0}, from_axis_angle(Vec3d(0, 0, 1), std::acos(-1.0) / 2)};
  const Aabb box = bounds(placed(make_box({0, 0, 0}, {2, 1, 1}), quarter));
  EXPECT_LT(length(box.lo - Vec3d(0, 0, 0)), 1e-15);
  EXPECT_LT(length(box.hi - Vec3d(1, 2, 1)), 1e-15);
}

TEST(ShapeBounds, PlanesAreUnboundedUnlessCut) {
  const Shape floor = make_plane({0, 0.5, 0}, {0, 1, 0});
  EXPECT_FALSE(bounds(floor).is_bounded());
  const Aabb cut = bounds(make_intersection({make_box({0, 0, 0}, {1, 1, 1}), floor}));
  EXPECT_TRUE(cut.is_bounded());
  EXPECT_EQ(cut.hi.y, 0.5);
}

RC_GTEST_PROP(ShapeBounds, HoldAllThatIsInside, (testing::Seed seed)) {
  Dice dice(seed);
  const Shape shape = testing::random_tree(dice, 3);
  const Aabb box = bounds(shape).grown(1e-9);
  for (int i = 0; i < 200; ++i) {
    const Vec3d p = dice.in_cube(2.5);
    if (deeper_than(shape, p, 0.0)) RC_ASSERT(box.contains(p));
  }
}

// Two ways to the same answer: inequalities in double, the compiled program in float.
RC_GTEST_PROP(DeeperThan, AgreesWithTheSignedDistance, (testing::Seed seed)) {
  Dice dice(seed);
  const Shape shape = testing::random_tree(dice, 3);
  const SdfProgram program = compile(shape);
  for (int i = 0; i < 100; ++i) {
    const Vec3 p(dice.in_cube(1.5));
    const double margin = dice.below(3) ? dice.between(0.0, 0.3) : 0.0;
    const double d = testing::distance(program, p).d;
    if (std::abs(d + margin) > 1e-5) {
      RC_ASSERT(deeper_than(shape, Vec3d(p), margin) == (d < -margin));
    }
    if (std::abs(d - margin) > 1e-5) {
      RC_ASSERT(farther_than(shape, Vec3d(p), margin) == (d > margin));
    }
  }
}

TEST(DeeperThan, SurfacesAreNeitherInsideNorOutside) {
  const Shape box = make_box({0, 0, 0}, {1, 1, 1});
  const Shape hollow = make_difference(box, make_box({0.25, 0.25, 0.25}, {0.75, 0.75, 0.75}));
  for (const Vec3d p : {Vec3d(1, 0.5, 0.5), Vec3d(0.25, 0.5, 0.5)}) {
    EXPECT_FALSE(deeper_than(hollow, p, 0.0));
    EXPECT_FALSE(farther_than(hollow, p, 0.0));
  }
  EXPECT_TRUE(deeper_than(hollow, {0.1, 0.5, 0.5}, 0.09));
  EXPECT_FALSE(deeper_than(hollow, {0.1, 0.5, 0.5}, 0.11));
}

}  // namespace
}  // namespace barchan
