// Coverings: no gaps, even spacing, on the surface; measured here by closed forms and exact meshes,
// not by what made them.
#include "geometry/covering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "random_shapes.h"
#include "test_meshes.h"

namespace barchan {
namespace {

using testing::Dice;

// What every covering promises.
CoveringStatistics check(const Shape& shape, double radius, double offset = 0.0) {
  const Covering covering = cover(shape, radius, 5, offset);
  const CoveringStatistics found = measure(covering, shape, offset);
  EXPECT_EQ(found.count, covering.points.size());
  EXPECT_LE(found.worst_gap, kCoveringGap);
  EXPECT_GT(found.worst_gap, 0.577 * kCoveringSpacing);  // no lattice is closer
  EXPECT_LT(found.nearest_cv, 0.15);
  EXPECT_LT(found.worst_off_surface, 0.05);
  EXPECT_NEAR(found.nearest_mean, 1.25, 0.1);
  // Neither inside nor outside by a twentieth of a radius, by the plain inequalities.
  const Shape moved = offset == 0.0 ? shape : make_offset(shape, offset);
  for (const Vec3d& p : covering.points) {
    EXPECT_FALSE(deeper_than(moved, p, 0.05 * radius));
    EXPECT_FALSE(farther_than(moved, p, 0.05 * radius));
  }
  return found;
}

TEST(Covering, ASphere) {
  const CoveringStatistics found = check(make_sphere({1, 2, 3}, 0.5), 0.03);
  // sqrt(3)/2 s^2 of the surface each, s = kCoveringSpacing r.
  const double each = 0.5 * std::sqrt(3.0) * std::pow(kCoveringSpacing * 0.03, 2);
  EXPECT_NEAR(double(found.count), kPi / each, 0.04 * kPi / each);
}

TEST(Covering, ABoxUpToItsCorners) {
  const double radius = 0.03;
  const Shape box = make_box({0, 0, 0}, {0.5, 0.35, 0.25});
  check(box, radius);
  const Covering covering = cover(box, radius, 5);
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d c(corner & 1 ? 0.5 : 0, corner & 2 ? 0.35 : 0, corner & 4 ? 0.25 : 0);
    double gap = 9.0;
    for (const Vec3d& p : covering.points) gap = std::min(gap, length(p - c));
    EXPECT_LE(gap, kCoveringGap * radius);
  }
}

TEST(Covering, ATorus) {
  check(make_torus({0, 0, 0}, {1, 0, 1}, 0.5, 0.2), 0.04);
}

TEST(Covering, AUnionAndADifference) {
  const Shape box = make_box({0, 0, 0}, {0.5, 0.35, 0.25});
  const Shape ball = make_sphere({0.5, 0.35, 0.25}, 0.15);
  check(make_union({box, ball}), 0.025);
  check(make_difference(box, ball), 0.025);
}

TEST(Covering, BothSidesOfAMeshsWall) {
  const double radius = 0.03, wall = 0.06;
  const Shape shell =
      testing::mesh_shape(testing::box_shell_mesh({-0.3, -0.2, -0.25}, {0.3, 0.2, 0.25}, wall));
  const Pose pose{{1, 0, 0}, from_axis_angle(Vec3d(0, 1, 0), 0.4)};
  check(placed(shell, pose), radius);
  // Any point of the surface, drawn here: within the stated gap.
  const Covering covering = cover(shell, radius, 5);
  Dice dice(3);
  for (int i = 0; i < 300; ++i) {
    const Vec3d on = shell.mesh->nearest(dice.in_cube(0.35)).point;
    double gap = 9.0;
    for (const Vec3d& p : covering.points) gap = std::min(gap, length(p - on));
    EXPECT_LE(gap, kCoveringGap * radius);
  }
}

TEST(Covering, AnOffsetMovesItOut) {
  const Shape ball = testing::mesh_shape(testing::sphere_mesh({0, 0, 0}, 0.3, 48, 24));
  const Covering covering = cover(ball, 0.04, 5, 0.1);
  for (const Vec3d& p : covering.points) EXPECT_NEAR(length(p), 0.4, 0.003);
  check(make_sphere({0, 0, 0}, 0.3), 0.04, -0.05);
}

TEST(Covering, TheSameForTheSameSeed) {
  const Shape ball = make_sphere({0, 0, 0}, 0.3);
  const Covering a = cover(ball, 0.04, 7), b = cover(ball, 0.04, 7), c = cover(ball, 0.04, 8);
  EXPECT_EQ(a.points, b.points);
  EXPECT_NE(a.points, c.points);
}

TEST(Covering, ThingsSmallerThanASphereGetAtLeastOne) {
  EXPECT_GE(cover(testing::mesh_shape(testing::box_mesh({0, 0, 0}, {1e-3, 1e-3, 1e-3})), 0.1, 1)
                .points.size(),
            1u);
}

TEST(Covering, SaysWhyItCannot) {
  EXPECT_THROW(cover(make_plane({0, 0, 0}, {0, 1, 0}), 0.1, 1), Error);
  EXPECT_THROW(cover(make_sphere({0, 0, 0}, 1.0), 0.0, 1), Error);
  EXPECT_THROW(cover(make_sphere({0, 0, 0}, -1.0), 0.1, 1), Error);
}

TEST(CoveringStatistics, SeeWhatIsWrong) {
  // A control: half the sphere bare, and one point off it by half a radius.
  const double radius = 0.04;
  const Shape ball = make_sphere({0, 0, 0}, 0.3);
  Covering covering = cover(ball, radius, 5);
  std::erase_if(covering.points, [](const Vec3d& p) { return p.x > 0.0; });
  covering.points[0] *= 1.0 + 0.5 * radius / 0.3;
  const CoveringStatistics found = measure(covering, ball);
  EXPECT_GT(found.worst_gap, 3.0);
  EXPECT_NEAR(found.worst_off_surface, 0.5, 0.01);
}

}  // namespace
}  // namespace barchan
