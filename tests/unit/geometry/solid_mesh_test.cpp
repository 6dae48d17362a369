// The exact side of meshes: distances and windings against closed forms, and what is no solid.
#include "geometry/solid_mesh.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "random_shapes.h"
#include "test_meshes.h"

namespace barchan {
namespace {

using testing::Dice;

TEST(SolidMesh, DistancesToABoxAreThoseOfTheBox) {
  const SolidMesh mesh(testing::box_mesh({-0.5, -0.4, -0.3}, {0.5, 0.4, 0.3}));
  const Shape box = make_box({-0.5, -0.4, -0.3}, {0.5, 0.4, 0.3});
  EXPECT_NEAR(mesh.volume(), 0.48, 1e-14);
  Dice dice(1);
  for (int i = 0; i < 2000; ++i) {
    const Vec3d p = dice.in_cube(1.0);
    const double d = mesh.nearest(p).distance;
    const double signed_distance = mesh.inside(p) ? -d : d;
    EXPECT_NEAR(signed_distance, testing::distance(box, p).d, 1e-6);
    EXPECT_NEAR(length(mesh.nearest(p).point - p), d, 1e-14);
    EXPECT_TRUE(mesh.nearer_than(p, d * 1.000001));
    EXPECT_FALSE(mesh.nearer_than(p, d * 0.999999));
  }
}

TEST(SolidMesh, TheNearestTriangleIsThatOfALoopOverAll) {
  const SolidMesh mesh(testing::torus_mesh(0.5, 0.2, 40, 20));
  Dice dice(2);
  for (int i = 0; i < 300; ++i) {
    const Vec3d p = dice.in_cube(1.0);
    double best = 9.0;
    for (const Triangle& t : mesh.mesh().triangles) {  // sampled: no closed form shared
      const Vec3d a = mesh.mesh().corner(t, 0), b = mesh.mesh().corner(t, 1),
                  c = mesh.mesh().corner(t, 2);
      for (int u = 0; u <= 8; ++u) {
        for (int v = 0; v <= 8 - u; ++v) {
          best = std::min(best, length(p - (a + (u / 8.0) * (b - a) + (v / 8.0) * (c - a))));
        }
      }
    }
    const double d = mesh.nearest(p).distance;
    EXPECT_LE(d, best + 1e-12);
    EXPECT_GT(d, best - 0.012);  // samples are about this far apart
  }
}

TEST(SolidMesh, WindingsAreExactAlsoForRaysThroughCornersAndEdges) {
  // A box cut so that rays along all axes from lattice points run through corners, edges and faces.
  const SolidMesh mesh(testing::box_mesh({0, 0, 0}, {4, 4, 4}));
  for (int i = -1; i <= 9; ++i) {
    for (int j = -1; j <= 9; ++j) {
      for (int k = -1; k <= 9; ++k) {
        const bool on = i == 0 || j == 0 || k == 0 || i == 8 || j == 8 || k == 8;
        if (on) continue;
        const bool in = i > 0 && i < 8 && j > 0 && j < 8 && k > 0 && k < 8;
        EXPECT_EQ(mesh.winding({0.5 * i, 0.5 * j, 0.5 * k}), in ? 1 : 0) << i << j << k;
      }
    }
  }
  // Through the poles of a sphere, where many triangles meet.
  const SolidMesh ball(testing::sphere_mesh({0, 0, 0}, 1.0, 24, 12));
  for (int k = -30; k <= 30; ++k) {
    if (std::abs(k) == 20) continue;
    EXPECT_EQ(ball.winding({0, 0, 0.05 * k}), std::abs(k) < 20 ? 1 : 0);
  }
}

TEST(SolidMesh, CavitiesAreOutsideAndOverlapsCountTwice) {
  const SolidMesh shell(testing::box_shell_mesh({-1, -1, -1}, {1, 1, 1}, 0.1));
  EXPECT_EQ(shell.winding({0, 0, 0}), 0);
  EXPECT_EQ(shell.winding({0, 0, 1.05}), 1);
  EXPECT_EQ(shell.winding({0, 0, 1.2}), 0);
  EXPECT_NEAR(shell.volume(), 2.2 * 2.2 * 2.2 - 8.0, 1e-12);

  Mesh two = testing::box_mesh({0, 0, 0}, {2, 2, 2});
  testing::append(two, testing::box_mesh({1, 1, 1}, {3, 3, 3}));
  const SolidMesh both(two);
  EXPECT_EQ(both.winding({1.4, 1.6, 1.5}), 2);
  EXPECT_EQ(both.winding({0.4, 0.6, 0.5}), 1);
  EXPECT_TRUE(both.inside({1.4, 1.6, 1.5}));
}

TEST(SolidMesh, SideAgreesWithTheTorusItWasMadeFrom) {
  const SolidMesh mesh(testing::torus_mesh(0.5, 0.2, 128, 64));
  Dice dice(4);
  for (int i = 0; i < 5000; ++i) {
    const Vec3d p = dice.in_cube(0.8);
    const double d = std::hypot(std::hypot(p.x, p.y) - 0.5, p.z) - 0.2;
    if (std::abs(d) < 2e-3) continue;  // the facets' sagitta
    EXPECT_EQ(mesh.winding(p), d < 0 ? 1 : 0);
    EXPECT_NEAR(mesh.nearest(p).distance, std::abs(d), 2e-3);
  }
}

std::string fault_of(const Mesh& mesh) {
  try {
    const SolidMesh solid(mesh);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::input);
    return error.what();
  }
  return "";
}

TEST(SolidMesh, WhatIsNoSolidIsRejected) {
  const Mesh good = testing::box_mesh({0, 0, 0}, {1, 1, 1});
  EXPECT_EQ(fault_of(good), "");
  EXPECT_NE(fault_of({}).find("no triangles"), std::string::npos);

  Mesh open = good;
  open.triangles.pop_back();
  EXPECT_NE(fault_of(open).find("not closed at the edge from"), std::string::npos);
  Mesh twisted = good;
  std::swap(twisted.triangles[3][0], twisted.triangles[3][1]);
  EXPECT_NE(fault_of(twisted).find("not closed"), std::string::npos);
  Mesh inverted;
  testing::append(inverted, good, true);
  EXPECT_NE(fault_of(inverted).find("counter-clockwise"), std::string::npos);
  Mesh broken = good;
  broken.vertices[2].y = std::nan("");
  EXPECT_NE(fault_of(broken).find("not finite"), std::string::npos);
  Mesh missing = good;
  missing.triangles[0][0] = 8;
  EXPECT_NE(fault_of(missing).find("corner 8 of 8"), std::string::npos);
}

}  // namespace
}  // namespace barchan
