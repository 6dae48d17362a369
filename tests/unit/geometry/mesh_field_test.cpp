// The baked distance of meshes against the exact one, which shares no code with it.
#include "geometry/mesh_field.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "random_shapes.h"
#include "test_meshes.h"

namespace barchan {
namespace {

using testing::Dice;

double exact(const SolidMesh& mesh, const Vec3d& p) {
  const double d = mesh.nearest(p).distance;
  return mesh.inside(p) ? -d : d;
}

double baked(const MeshField& field, const Vec3d& p) {
  return sample_number(field.view(), Vec3(p - field.origin()));
}

// The largest errors over random points, in voxels: |field - exact| in the band, and by how much
// the field is farther from the surface than the truth anywhere.
struct Errors {
  double in_band = 0.0, too_far = 0.0, too_far_beyond = 0.0;
};
Errors errors_of(const SolidMesh& mesh, double voxel, double half_box, int points) {
  const MeshField field(mesh.mesh(), voxel, 0.0);
  Errors worst;
  Dice dice(7);
  for (int i = 0; i < points; ++i) {
    const Vec3d p = dice.in_cube(half_box);
    const double truth = exact(mesh, p), found = baked(field, p);
    const double over = (std::abs(found) - std::abs(truth)) / voxel;
    if (std::abs(truth) < 3.0 * voxel) {
      worst.in_band = std::max(worst.in_band, std::abs(found - truth) / voxel);
    } else {
      EXPECT_GT(found * truth, 0.0) << "side of " << p.x << " " << p.y << " " << p.z;
    }
    worst.too_far = std::max(worst.too_far, over);
    if (std::abs(truth) > 16.0 * voxel) worst.too_far_beyond = std::max(worst.too_far_beyond, over);
  }
  return worst;
}

TEST(MeshField, SmoothSurfacesAreWithinAFewHundredthsOfAVoxel) {
  const SolidMesh torus(testing::torus_mesh(0.5, 0.2, 128, 64));
  const Errors worst = errors_of(torus, 0.014, 0.8, 20000);
  EXPECT_LT(worst.in_band, 0.06);  // curves of 20 voxels
  EXPECT_LT(worst.too_far_beyond, 1e-3);
  RecordProperty("in_band", std::to_string(worst.in_band));
}

TEST(MeshField, SharpEdgesAreWithinWhatTheKinksAllow) {
  const SolidMesh box(testing::box_mesh({-0.31, -0.25, -0.2}, {0.3, 0.22, 0.27}));
  const Errors worst = errors_of(box, 0.011, 0.5, 40000);
  EXPECT_LT(worst.in_band, 0.71);
  EXPECT_LT(worst.too_far, 0.71);
  EXPECT_LT(worst.too_far_beyond, 1e-3);
  RecordProperty("in_band", std::to_string(worst.in_band));
}

TEST(MeshField, FlatPartsAreExact) {
  const SolidMesh box(testing::box_mesh({-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}));
  const MeshField field(box.mesh(), 0.013, 0.0);
  Dice dice(3);
  for (int i = 0; i < 2000; ++i) {
    const Vec3d p(dice.between(-0.3, 0.3), 0.5 + dice.between(-0.05, 0.05),
                  dice.between(-0.3, 0.3));
    EXPECT_NEAR(baked(field, p), p.y - 0.5, 2e-7);
    const Distance at = sample(field.view(), Vec3(p - field.origin()));
    EXPECT_LT(length(at.gradient - Vec3(0, 1, 0)), 2e-4f);
  }
}

TEST(MeshField, BeyondTheBandNeverFartherThanTheTruthInAnyTile) {
  // Points of tiles without nodes, and points outside the grid.
  const SolidMesh torus(testing::torus_mesh(0.5, 0.2, 64, 32));
  const MeshField field(torus.mesh(), 0.006, 0.0);
  const MeshFieldView view = field.view();
  Dice dice(11);
  int beyond = 0;
  double loosest = 1.0;
  for (int i = 0; i < 10000; ++i) {
    const Vec3d p = dice.in_cube(i % 4 == 0 ? 4.0 : 0.75);
    const Vec3 local(p - field.origin());
    if (mesh_field::block_at(view, mesh_field::place_of(view, local)) >= 0) continue;
    ++beyond;
    const double truth = exact(torus, p), found = baked(field, p);
    ASSERT_LE(std::abs(found), std::abs(truth) * (1 + 1e-6));
    ASSERT_GT(found * truth, 0.0);
    loosest = std::min(loosest, found / truth);
  }
  EXPECT_GT(beyond, 2500);
  EXPECT_GT(loosest, 0.3);
}

TEST(MeshField, GradientsAreUnitVectorsEverywhere) {
  const SolidMesh shell(testing::box_shell_mesh({-0.3, -0.3, -0.3}, {0.3, 0.3, 0.3}, 0.04));
  const MeshField field(shell.mesh(), 0.01, 0.0);
  Dice dice(5);
  for (int i = 0; i < 20000; ++i) {
    const Vec3d p = dice.in_cube(i % 2 ? 0.4 : 2.0);
    const Distance at = sample(field.view(), Vec3(p));
    ASSERT_TRUE(std::isfinite(at.d));
    ASSERT_NEAR(length(at.gradient), 1.0f, 1e-5f);
    ASSERT_NEAR(at.d, sample_number(field.view(), Vec3(p)), 1e-6);
  }
  // In the very middle, and of a wall, where the slopes cancel.
  for (const Vec3& p : {Vec3(0, 0, 0), Vec3(0.32f, 0, 0), Vec3(9, 9, 9)}) {
    EXPECT_NEAR(length(sample(field.view(), p).gradient), 1.0f, 1e-5f);
  }
}

TEST(MeshField, AContainersCavityIsOutside) {
  const SolidMesh shell(testing::box_shell_mesh({-0.3, -0.3, -0.3}, {0.3, 0.3, 0.3}, 0.05));
  const MeshField field(shell.mesh(), 0.01, 0.0);
  EXPECT_GT(baked(field, {0, 0, 0}), 0.2);
  EXPECT_NEAR(baked(field, {0.28, 0.1, 0.1}), 0.02, 1e-6);
  EXPECT_NEAR(baked(field, {0.31, 0.1, 0.1}), -0.01, 1e-6);
  EXPECT_NEAR(baked(field, {0.37, 0.1, 0.1}), 0.02, 1e-6);
}

TEST(MeshField, ContinuousAcrossTiles) {
  // Walk along lines through the band in steps of a hundredth of a voxel.
  const double voxel = 0.01;
  const SolidMesh torus(testing::torus_mesh(0.5, 0.2, 64, 32));
  const MeshField field(torus.mesh(), voxel, 0.0);
  Dice dice(9);
  for (int line = 0; line < 40; ++line) {
    const Vec3d way = dice.direction();
    Vec3d p = dice.in_cube(0.7);
    double before = baked(field, p);
    for (int i = 0; i < 4000; ++i) {
      p += 0.01 * voxel * way;
      const double now = baked(field, p);
      const double nearest = std::min(std::abs(now), std::abs(before));
      if (nearest < 3.0 * voxel) {
        ASSERT_LT(std::abs(now - before), 0.01 * voxel * 1.8 + 1e-7);
      }
      before = now;
    }
  }
}

RC_GTEST_PROP(MeshField, SideAgreesWithTheExactWinding, (testing::Seed seed)) {
  // Overlapping and nested boxes and balls anywhere: sides agree where the surface is not near.
  Dice dice(seed);
  Mesh mesh = testing::sphere_mesh(dice.in_cube(0.2), dice.between(0.2, 0.4), 12, 8);
  for (int parts = dice.below(3); parts > 0; --parts) {
    const Vec3d lo = dice.in_cube(0.3);
    testing::append(mesh, testing::box_mesh(lo, lo + Vec3d(dice.between(0.1, 0.3), 0.2, 0.25)));
  }
  const SolidMesh solid(mesh);
  const double voxel = dice.between(0.03, 0.06);
  const MeshField field(mesh, voxel, 0.0);
  for (int i = 0; i < 300; ++i) {
    const Vec3d p = dice.in_cube(0.7);
    const double truth = exact(solid, p);
    if (std::abs(truth) > voxel) RC_ASSERT(baked(field, p) * truth > 0.0);
  }
}

// A ball's middle is a node of its grid: layers of nodes meet the vertices of its equator, which
// belong to the triangles above or below them, but never to none.
TEST(MeshField, LayersOfNodesThatMeetVertices) {
  Dice dice(3);
  for (int i = 0; i < 300; ++i) {
    const Vec3d middle = dice.in_cube(1.0);
    const double radius = dice.between(0.2, 0.4);
    const MeshField field(testing::sphere_mesh(middle, radius, 12, 8), dice.between(0.03, 0.06),
                          0.0);
    for (int n = 0; n < 20; ++n) {
      const Vec3d off(dice.between(-0.6, 0.6), dice.between(-0.6, 0.6), 0.0);
      ASSERT_LT(baked(field, middle + radius * off), 0.0) << i;
    }
  }
}

TEST(MeshField, ThinBandsOfOffsetsAreExact) {
  // An offset of ten voxels: its surface is as good as the mesh's own.
  const Shape ball = testing::mesh_shape(testing::sphere_mesh({0, 0, 0}, 0.3, 96, 64));
  const double voxel = 0.01;
  const SdfProgram program = compile(make_offset(ball, 0.1), {}, voxel);
  Dice dice(13);
  for (int i = 0; i < 500; ++i) {
    const Vec3d u = dice.direction();
    EXPECT_NEAR(testing::distance(program, Vec3(0.4 * u)).d, 0.0, 1e-3);
  }
}

TEST(MeshField, BakedOnceForTheSameVoxel) {
  const auto mesh = testing::solid(testing::torus_mesh(0.5, 0.2, 24, 12));
  EXPECT_EQ(mesh->field(0.05, 0.0), mesh->field(0.05, 0.0));
  EXPECT_NE(mesh->field(0.05, 0.0), mesh->field(0.04, 0.0));
}

}  // namespace
}  // namespace barchan
