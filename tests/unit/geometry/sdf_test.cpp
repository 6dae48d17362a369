// Signed distances against closed forms: primitives, trees, far places, singular points.
#include "geometry/sdf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "barchan/error.h"
#include "random_shapes.h"

namespace barchan {
namespace {

using testing::distance;

void expect_at(const Shape& shape, const Vec3d& p, double d, const Vec3d& gradient) {
  const Distance got = distance(shape, p);
  EXPECT_NEAR(got.d, d, 1e-6) << p.x << " " << p.y << " " << p.z;
  EXPECT_LT(length(Vec3d(got.gradient) - gradient), 1e-5) << p.x << " " << p.y << " " << p.z;
}

const double kRoot2 = std::sqrt(0.5);

TEST(SdfPrimitives, Box) {
  const Shape box = make_box({-1, -2, -3}, {1, 2, 3});
  expect_at(box, {1.5, 0, 0}, 0.5, {1, 0, 0});
  expect_at(box, {0.75, 0, 0}, -0.25, {1, 0, 0});
  expect_at(box, {0, -1.9, 0}, -0.1, {0, -1, 0});
  expect_at(box, {1.3, 2.4, 0}, 0.5, {0.6, 0.8, 0});
  expect_at(box, {2, 3, 4}, std::sqrt(3.0), Vec3d(1, 1, 1) / std::sqrt(3.0));
  const Pose turn{{0, 0, 0}, from_axis_angle(Vec3d(0, 0, 1), std::acos(-1.0) / 4)};
  expect_at(placed(box, turn), 1.5 * Vec3d(kRoot2, kRoot2, 0), 0.5, {kRoot2, kRoot2, 0});
}

TEST(SdfPrimitives, SphereAndPlane) {
  expect_at(make_sphere({1, 0, 0}, 0.5), {1, 2, 0}, 1.5, {0, 1, 0});
  expect_at(make_sphere({1, 0, 0}, 0.5), {1, 0, 0.2}, -0.3, {0, 0, 1});
  expect_at(make_plane({0, 1, 0}, {0, 3, 0}), {5, 3, 5}, 2.0, {0, 1, 0});
  expect_at(make_plane({0, 1, 0}, {0, 3, 0}), {5, 0, 5}, -1.0, {0, 1, 0});
}

TEST(SdfPrimitives, CylinderAndCapsule) {
  const Shape cylinder = make_cylinder({0, 0, 0}, {0, 2, 0}, 1);
  expect_at(cylinder, {2, 1, 0}, 1, {1, 0, 0});
  expect_at(cylinder, {0.2, 3, 0}, 1, {0, 1, 0});
  expect_at(cylinder, {1.3, 2.4, 0}, 0.5, {0.6, 0.8, 0});
  expect_at(cylinder, {0, 1, 0.7}, -0.3, {0, 0, 1});
  expect_at(cylinder, {0, 0.1, 0.2}, -0.1, {0, -1, 0});
  const Shape capsule = make_capsule({0, 0, 0}, {0, 2, 0}, 1);
  expect_at(capsule, {2, 1, 0}, 1, {1, 0, 0});
  expect_at(capsule, {0, 3.5, 0}, 0.5, {0, 1, 0});
  expect_at(capsule, {0.6, 2.8, 0}, 0, {0.6, 0.8, 0});
}

TEST(SdfPrimitives, Cone) {
  // The side goes from (r, y) = (1, 0) to (0, 1): its normal leans by 45 degrees.
  const Shape cone = make_cone({0, 0, 0}, {0, 1, 0}, 1);
  expect_at(cone, {1, 1, 0}, kRoot2, {kRoot2, kRoot2, 0});
  expect_at(cone, {0.2, 0.1, 0}, -0.1, {0, -1, 0});
  expect_at(cone, {0.5, 0.4, 0}, -0.1 * kRoot2, {kRoot2, kRoot2, 0});
  expect_at(cone, {0, 1.5, 0}, 0.5, {0, 1, 0});
  expect_at(cone, {0, -0.5, 0.3}, 0.5, {0, -1, 0});
  expect_at(cone, {1.3, -0.4, 0}, 0.5, {0.6, -0.8, 0});
  const Shape cup = make_cone({0, 0, 0}, {0, 1, 0}, 0.5, 1);
  expect_at(cup, {1.3, 1.4, 0}, 0.5, {0.6, 0.8, 0});
  expect_at(cup, {0.9, 1.4, 0}, 0.4, {0, 1, 0});
}

TEST(SdfPrimitives, Torus) {
  const Shape torus = make_torus({0, 0, 0}, {0, 1, 0}, 1, 0.25);
  expect_at(torus, {2, 0, 0}, 0.75, {1, 0, 0});
  expect_at(torus, {1, 0.1, 0}, -0.15, {0, 1, 0});
  expect_at(torus, {1.3, 0.4, 0}, 0.25, {0.6, 0.8, 0});
}

TEST(SdfTrees, MinimaMaximaAndOffsets) {
  const Shape a = make_sphere({0, 0, 0}, 1), b = make_sphere({1, 0, 0}, 1);
  expect_at(make_union({a, b}), {3, 0, 0}, 1, {1, 0, 0});
  expect_at(make_intersection({a, b}), {1.5, 0, 0}, 0.5, {1, 0, 0});
  expect_at(make_difference(a, b), {-2, 0, 0}, 1, {-1, 0, 0});
  expect_at(make_difference(a, b), {0.9, 0, 0}, 0.9, {1, 0, 0});
  expect_at(make_offset(a, 0.5), {0, 2, 0}, 0.5, {0, 1, 0});
  // The part that is taken away needs the deeper stack, so it is compiled first.
  const Shape pair = make_union({b, make_sphere({-1, 0, 0}, 0.5)});
  expect_at(make_difference(a, pair), {0, 0, 0.9}, -0.1, {0, 0, 1});
}

TEST(SdfTrees, UnionOfAThousandParts) {
  std::vector<Shape> parts;
  for (int i = 0; i < 1000; ++i) parts.push_back(make_sphere({0.1 * i, 0, 0}, 0.05));
  const SdfProgram program = compile(make_union(parts));
  EXPECT_EQ(program.nodes.size(), 1999u);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_NEAR(distance(program, Vec3(0.1f * float(i), 0.15f, 0)).d, 0.1, 1e-5);
  }
}

// The worst tree for a stack: both sides of every pair need as much as the other.
Shape full_tree(int levels) {
  if (levels == 0) return make_sphere({0, 0, 0}, 1);
  Shape half = full_tree(levels - 1);
  Shape other = half;
  return make_union({std::move(half), std::move(other)});
}

TEST(SdfTrees, TooDeepIsRejected) {
  EXPECT_NO_THROW(compile(full_tree(8)));
  try {
    compile(full_tree(16));
    FAIL() << "a tree of depth 16 needs 17 places";
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::input);
    EXPECT_NE(std::string(e.what()).find("17 distances at once"), std::string::npos) << e.what();
  }
}

TEST(SdfTrees, DegenerateShapesAreRejected) {
  EXPECT_THROW(compile(make_sphere({0, 0, 0}, 0)), Error);
  EXPECT_THROW(compile(make_union({})), Error);
}

TEST(SdfPrecision, SmallAndFarFromTheOrigin) {
  // A grain of a millimetre at a kilometre: relative to its middle it is as good as at home.
  const Vec3d far(1000.1, -2000.2, 3000.3);
  const Shape grain = make_box(far - Vec3d(1e-3, 1e-3, 1e-3), far + Vec3d(1e-3, 1e-3, 1e-3));
  const SdfProgram near = compile(grain, natural_origin(grain));
  EXPECT_NEAR(distance(near, Vec3(1.5e-3f, 0, 0)).d, 5e-4, 1e-9);
  EXPECT_NEAR(distance(near, Vec3(0.9e-3f, 0, 0)).d, -1e-4, 1e-9);

  // In world coordinates the only error left is that of the float point itself.
  const SdfProgram world = compile(grain);
  for (int i = -3; i <= 3; ++i) {
    const Vec3 p(Vec3d(far.x + 5e-4 * i, far.y, far.z));
    const Vec3d q = Vec3d(p) - far;
    const Vec3d out(std::abs(q.x) - 1e-3, std::abs(q.y) - 1e-3, std::abs(q.z) - 1e-3);
    const double inside = std::max({out.x, out.y, out.z});
    const double exact = inside < 0 ? inside : length(max(out, Vec3d()));
    EXPECT_NEAR(distance(world, p).d, exact, 1e-9);
  }
}

TEST(SdfGradient, IsAUnitVectorAtSingularPoints) {
  const Vec3d o(0, 0, 0), x(1, 0, 0), y(0, 1, 0), tilt(1, 2, -3);
  const std::vector<std::pair<Shape, Vec3d>> cases = {
      {make_sphere(o, 1), o},
      {make_box({-1, -1, -1}, {1, 1, 1}), o},
      {make_box(o, {1, 1, 1}), o},
      {make_cylinder(-x, x, 1), o},
      {make_cylinder(o, tilt, 1), o},
      {make_cylinder(o, tilt, 1), 0.5 * tilt},
      {make_capsule(-tilt, tilt, 1), o},
      {make_capsule(o, tilt, 1), 2.0 * tilt},
      {make_cone(o, y, 1), o},
      {make_cone(o, y, 1), y},
      {make_cone(o, y, 1), 2.0 * y},
      {make_torus(o, tilt, 2, 1), o},
      {make_torus(o, y, 2, 1), 2.0 * x},
      {make_torus(o, y, 2, 1), 3.0 * x},
      {make_cylinder(o, y, 1), x},
      {make_cylinder(o, y, 1), x + y},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Distance at = distance(cases[i].first, cases[i].second);
    EXPECT_NEAR(length(at.gradient), 1.0f, 1e-5f) << "case " << i;
    EXPECT_TRUE(std::isfinite(at.d)) << "case " << i;
  }
}

}  // namespace
}  // namespace barchan
