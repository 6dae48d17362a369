// The meshes that are made in code: sound, of the size they promise, and what they are called.
#include "geometry/stand_ins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "geometry/aabb.h"
#include "geometry/mass_properties.h"
#include "geometry/mesh_file.h"
#include "geometry/mesh_mend.h"
#include "geometry/mesh_orient.h"
#include "geometry/polygonise.h"
#include "meshes.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

Aabb box_around(const Mesh& mesh) {
  Aabb box;
  for (const Vec3d& p : mesh.vertices) box = join(box, {p, p});
  return box;
}

class StockMesh : public ::testing::TestWithParam<std::string> {};

TEST_P(StockMesh, IsSoundAndStandsWhereItShould) {
  const Mesh mesh = stock_mesh(GetParam());
  EXPECT_TRUE(testing::is_closed(mesh));
  EXPECT_LT(mesh.triangles.size(), 25000u);
  const Mended mended = mend(mesh, GetParam());
  EXPECT_TRUE(mended.notes.empty()) << mended.notes[0];
  EXPECT_EQ(mended.mesh.triangles.size(), mesh.triangles.size());
  EXPECT_GT(signed_volume(mesh), 0.0);

  const Aabb box = box_around(mesh);
  const bool lies = GetParam() == "ring" || GetParam() == "torus";
  const Vec3d e = box.extent();
  EXPECT_NEAR(box.lo.y, 0.0, 1e-12);
  EXPECT_NEAR(box.center().x, 0.0, 1e-12);
  EXPECT_NEAR(box.center().z, 0.0, 1e-12);
  EXPECT_NEAR(lies ? std::max(e.x, e.z) : e.y, 1.0, 1e-12);
}

INSTANTIATE_TEST_SUITE_P(All, StockMesh, ::testing::ValuesIn(stock_mesh_names()),
                         [](const auto& info) { return info.param; });

TEST(StockMeshes, HourglassHoldsSandInTwoBulbsAndANeck) {
  // Across the glass at a height: solid, hollow, solid. Rays along x count the walls.
  const Mesh glass = stock_mesh("hourglass");
  const auto width_of_hollow = [&](double y) {
    double nearest = 1.0;
    for (const Vec3d& p : glass.vertices) {
      if (std::abs(p.y - y) < 0.02) nearest = std::min(nearest, std::hypot(p.x, p.z));
    }
    return 2.0 * nearest;
  };
  EXPECT_NEAR(width_of_hollow(0.5), 0.06, 0.002);
  EXPECT_GT(width_of_hollow(0.25), 0.3);
  EXPECT_GT(width_of_hollow(0.75), 0.3);
}

TEST(StockMeshes, ComeFromTheAssetsFolderWhereItHasThem) {
  const fs::path folder = fs::temp_directory_path() / "barchan_stand_ins_test";
  fs::create_directories(folder);
  // A cube of 7 m for a bunny: it must come back 1 m tall.
  write_obj(testing::scaled(stock_mesh("cube"), 7.0), asset_file(folder, "bunny"));
  const Mesh bunny = stock_mesh("bunny", folder);
  fs::remove_all(folder);
  EXPECT_EQ(bunny.triangles.size(), 12u);
  EXPECT_NEAR(signed_volume(bunny), 1.0, 1e-12);
}

TEST(StockMeshes, UnknownNamesAreRefusedWithTheNearest) {
  try {
    stock_mesh("bunnny");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "no mesh is called 'bunnny'; did you mean 'bunny'?");
  }
}

TEST(Polygonise, KeepsCornersSharpAndVolumesRight) {
  // A box that lies askew of the lattice: its volume is right only if edges are not cut off.
  const Vec3d half(0.31, 0.43, 0.52);
  const auto box = [&](const Vec3d& p) {
    return std::max({std::abs(p.x) - half.x, std::abs(p.y) - half.y, std::abs(p.z) - half.z});
  };
  const Mesh mesh = polygonise(box, Aabb{-half, half}.grown(0.05), 0.1);
  EXPECT_TRUE(testing::is_closed(mesh));
  EXPECT_NEAR(signed_volume(mesh) / (8.0 * half.x * half.y * half.z), 1.0, 1e-3);
  const Vec3d e = box_around(mesh).extent();
  EXPECT_LT(length(e - 2.0 * half), 1e-3);
}

TEST(Polygonise, IsClosedWhereTheFieldLeavesTheBox) {
  const Mesh half_space =
      polygonise([](const Vec3d& p) { return p.y; }, {{0, -1, 0}, {1, 1, 1}}, 0.25);
  EXPECT_TRUE(testing::is_closed(half_space));
  EXPECT_GT(signed_volume(half_space), 0.9);
}

}  // namespace
}  // namespace barchan
