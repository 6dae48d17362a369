// Shapes to meshes: closed, oriented, near the surface, and the volume of the shape.
#include "geometry/tessellate.h"

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

TEST(Tessellate, ClosedOrientedAndOfTheShapesVolume) {
  const double cell = 0.02;
  const Shape hollow = make_difference(make_sphere({1, 2, 3}, 0.5), make_sphere({1, 2, 3}, 0.3));
  const SolidMesh ball(tessellate(hollow, cell));  // rejects what is open or turned round
  EXPECT_NEAR(ball.volume(), 4.0 / 3.0 * kPi * (0.125 - 0.027), 0.004);
  EXPECT_EQ(ball.winding({1, 2, 3}), 0);
  EXPECT_EQ(ball.winding({1.4, 2, 3}), 1);

  const SolidMesh ring(tessellate(make_torus({0, 0, 0}, {1, 1, 0}, 0.5, 0.2), cell));
  EXPECT_NEAR(ring.volume(), 2.0 * kPi * kPi * 0.5 * 0.04, 0.004);
}

TEST(Tessellate, CornersAreOnTheSurface) {
  const double cell = 0.025;
  const Shape shape = make_union(
      {make_box({0, 0, 0}, {0.5, 0.4, 0.3}), make_capsule({0.2, 0.2, 0.2}, {0.5, 0.5, 0.6}, 0.1)});
  const SdfProgram program = compile(shape);
  for (const Vec3d& v : tessellate(shape, cell).vertices) {
    EXPECT_LT(std::abs(testing::distance(program, Vec3(v)).d), 0.5 * cell);
  }
}

TEST(Tessellate, AnythingThatFillsAScene) {
  testing::Dice dice(21);
  int made = 0;
  for (int i = 0; i < 60; ++i) {
    const Shape shape = testing::random_tree(dice, 3);
    const Aabb box = bounds(shape);
    if (!box.is_bounded() || box.is_empty()) continue;
    const Mesh mesh = tessellate(shape, 0.06);
    if (mesh.triangles.empty()) continue;  // all thinner than a cell
    EXPECT_NO_THROW(SolidMesh{mesh}) << "shape " << i;
    ++made;
  }
  EXPECT_GT(made, 20);
}

TEST(Tessellate, AMeshIsItselfPlaced) {
  const Shape box = testing::mesh_shape(testing::box_mesh({0, 0, 0}, {1, 2, 3}));
  const Pose pose{{5, 0, 0}, from_axis_angle(Vec3d(0, 0, 1), 0.5 * kPi)};
  const Mesh mesh = tessellate(placed(box, pose), 0.1);
  ASSERT_EQ(mesh.triangles.size(), 12u);
  EXPECT_NEAR(mesh.vertices[7].x, 3.0, 1e-12);
  EXPECT_NEAR(mesh.vertices[7].y, 1.0, 1e-12);
  const Aabb around = bounds(placed(box, pose));
  EXPECT_NEAR(around.lo.x, 3.0, 1e-12);
  EXPECT_NEAR(around.hi.y, 1.0, 1e-12);
}

TEST(Tessellate, SaysWhyItCannot) {
  EXPECT_THROW(tessellate(make_plane({0, 0, 0}, {0, 1, 0}), 0.1), Error);
  EXPECT_THROW(tessellate(make_sphere({0, 0, 0}, 1.0), 0.0), Error);
  EXPECT_THROW(tessellate(make_sphere({0, 0, 0}, 1.0), 1e-6), Error);
  EXPECT_THROW(tessellate(make_sphere({0, 0, 0}, -1.0), 0.1), Error);
}

}  // namespace
}  // namespace barchan
