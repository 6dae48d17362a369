// Mending: whatever is done to a sound mesh without changing what it encloses, mending gives back a
// closed surface with the same volume; what cannot be mended is refused with where.
#include "geometry/mesh_mend.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "geometry/mesh_orient.h"
#include "geometry/stand_ins.h"
#include "meshes.h"
#include "random_shapes.h"

namespace barchan {
namespace {

using testing::Dice;
using testing::inside_out;
using testing::is_closed;
using testing::moved;
using testing::scaled;
using testing::Seed;
using testing::together;

// Every triangle with corners of its own, as STL files have them.
Mesh soup(const Mesh& mesh) {
  Mesh out;
  for (const Triangle& t : mesh.triangles) {
    const auto first = static_cast<std::uint32_t>(out.vertices.size());
    for (int k = 0; k < 3; ++k) out.vertices.push_back(mesh.corner(t, k));
    out.triangles.push_back({first, first + 1, first + 2});
  }
  return out;
}

Mesh cube(double edge, const Vec3d& center) {
  return moved(scaled(stock_mesh("cube"), edge), {center - Vec3d(0, 0.5 * edge, 0), {}});
}

std::string message_of(const Mesh& mesh) {
  try {
    mend(mesh, "m");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Mend, LeavesSoundMeshesAlone) {
  const Mesh mesh = stock_mesh("torus");
  const Mended mended = mend(mesh, "m");
  EXPECT_TRUE(mended.notes.empty());
  EXPECT_TRUE(mended.mesh.vertices == mesh.vertices);
  EXPECT_TRUE(mended.mesh.triangles == mesh.triangles);
}

RC_GTEST_PROP(Mend, UndoesWhatDoesNotChangeTheSolid, (Seed seed)) {
  Dice dice(seed);
  const Mesh sound = moved(stock_mesh("ring"), dice.pose(3.0));
  Mesh mesh = soup(sound);
  // Triangles turned, repeated and collapsed; corners moved by less than they are welded within.
  const std::size_t count = mesh.triangles.size();
  for (int k = 0; k < 20; ++k) {
    const auto t = static_cast<std::size_t>(dice.below(static_cast<int>(count)));
    Triangle& triangle = mesh.triangles[t];
    const int what = dice.below(4);
    if (what == 0) std::swap(triangle[0], triangle[1]);
    if (what == 1) mesh.triangles.push_back(Triangle(triangle));
    if (what == 2) mesh.triangles.push_back({triangle[0], triangle[1], triangle[0]});
    if (what == 3) mesh.vertices[triangle[0]] += dice.in_cube(1e-8);
  }
  if (dice.below(2)) mesh = inside_out(std::move(mesh));
  const Mesh mended = mend(mesh, "m").mesh;
  RC_ASSERT(is_closed(mended));
  RC_ASSERT(mended.vertices.size() == sound.vertices.size());
  RC_ASSERT(mended.triangles.size() == sound.triangles.size());
  RC_ASSERT(std::abs(signed_volume(mended) / signed_volume(sound) - 1.0) < 1e-6);
}

TEST(Mend, ClosesSmallHoles) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    Dice dice(seed);
    Mesh mesh = stock_mesh("ring");
    // Some vertices lose all their triangles: holes of a few edges.
    for (int k = 0; k < 3; ++k) {
      const auto gone = static_cast<std::uint32_t>(dice.below(768));
      std::erase_if(mesh.triangles, [&](const Triangle& t) {
        return t[0] == gone || t[1] == gone || t[2] == gone;
      });
    }
    const Mended mended = mend(mesh, "m");
    EXPECT_TRUE(is_closed(mended.mesh));
    ASSERT_EQ(mended.notes.size(), 1u);
    EXPECT_NE(mended.notes[0].find("closed, the largest"), std::string::npos);
    EXPECT_NEAR(signed_volume(mended.mesh) / signed_volume(stock_mesh("ring")), 1.0, 0.02);
  }
}

TEST(Mend, FaceOutwardsBecauseOfVolumeNotOfOrder) {
  const Mended mended = mend(inside_out(cube(1.0, {5, 5, 5})), "box.obj");
  EXPECT_NEAR(signed_volume(mended.mesh), 1.0, 1e-12);
  ASSERT_EQ(mended.notes.size(), 1u);
  EXPECT_EQ(mended.notes[0], "box.obj: the mesh was inside out; turned");
}

TEST(Mend, ShellsInShellsAreMaterialAndHollowByTurns) {
  // Edges 4, 3, 2, 1 within each other, facing any way: 64 - 27 + 8 - 1.
  for (int facing = 0; facing < 16; ++facing) {
    Mesh mesh;
    for (int k = 0; k < 4; ++k) {
      const Mesh shell = cube(4.0 - k, {1, 2, 3});
      mesh = together(std::move(mesh), facing >> k & 1 ? inside_out(shell) : shell);
    }
    const Mended mended = mend(mesh, "m");
    EXPECT_NEAR(signed_volume(mended.mesh), 64 - 27 + 8 - 1, 1e-11) << facing;
    // As they should be: outer ones outwards, every second one inwards.
    EXPECT_EQ(mended.notes.empty(), facing == 0b1010) << facing;
  }
}

TEST(Mend, PartsThatCutEachOtherBothFaceOutwards) {
  const Mended mended =
      mend(together(cube(2.0, {0, 0, 0}), inside_out(cube(1.0, {0.9, 0, 0}))), "m");
  EXPECT_NEAR(signed_volume(mended.mesh), 9.0, 1e-12);
}

TEST(Mend, BoxesThatTouchStayWhatTheyAre) {
  // Along an edge, and with a common wall, which goes.
  const Mesh edge = mend(together(cube(1.0, {0, 0, 0}), cube(1.0, {1, 1, 0})), "m").mesh;
  EXPECT_TRUE(is_closed(edge));
  EXPECT_NEAR(signed_volume(edge), 2.0, 1e-12);
  const Mended wall = mend(together(cube(1.0, {0, 0, 0}), cube(1.0, {0, 0, 1})), "m");
  EXPECT_TRUE(is_closed(wall.mesh));
  EXPECT_NEAR(signed_volume(wall.mesh), 2.0, 1e-12);
  EXPECT_LT(wall.mesh.triangles.size(), 24u);
}

TEST(Mend, FarFromTheOriginIsAsGood) {
  const Mended mended = mend(soup(cube(0.01, {1e6, -1e6, 1e6})), "m");
  EXPECT_TRUE(mended.notes.empty());
  EXPECT_NEAR(signed_volume(mended.mesh), 1e-6, 1e-12);
}

TEST(Mend, VerticesThatNobodyUsesDoNoHarm) {
  Mesh mesh = cube(1e-6, {0, 0, 0});
  mesh.vertices.insert(mesh.vertices.begin(), Vec3d(9e11, 0, 0));
  for (Triangle& t : mesh.triangles) t = {t[0] + 1, t[1] + 1, t[2] + 1};
  const Mended mended = mend(mesh, "m");
  EXPECT_TRUE(mended.notes.empty());
  EXPECT_EQ(mended.mesh.vertices.size(), 8u);
  EXPECT_NEAR(signed_volume(mended.mesh), 1e-18, 1e-24);
}

TEST(Mend, NamesTheLargestHolesFirst) {
  Mesh mesh = together(cube(1.0, {0, 0, 0}), cube(2.0, {4, 0, 0}));
  // One face of each: all triangles whose corners are all at the top.
  std::erase_if(mesh.triangles, [&](const Triangle& t) {
    const double y = mesh.corner(t, 0).y;
    return y > 0.0 && mesh.corner(t, 1).y == y && mesh.corner(t, 2).y == y;
  });
  EXPECT_TRUE(message_of(mesh).starts_with(
      "m: not closed: 2 holes; the largest: 2.83 m across with 4 edges around (4, 1, 0) m, 1.41 m"))
      << message_of(mesh);
}

TEST(Mend, RefusesCornersThatAreNotThere) {
  Mesh mesh = stock_mesh("cube");
  mesh.triangles[3][1] = 8;
  EXPECT_EQ(message_of(mesh), "m: a triangle's corner 8 is not there or not finite");
}

}  // namespace
}  // namespace barchan
