#include <gtest/gtest.h>
#include <openvdb/openvdb.h>

#include <filesystem>

#include "surface/surface_file.h"
#include "unit/surface/clouds.h"

namespace barchan {

namespace {

// What another program reads: a ball's distances, and its velocity.
TEST(VdbFile, HoldsDistancesAndVelocities) {
  const double radius = 8.0 * kSpacing;
  const auto points = jittered(9, 0.2, [](const Vec3d& p) { return length(p) < 8.0; });
  const std::vector<Vec3> velocity(points.size(), Vec3(1.0f, 2.0f, 3.0f));
  Cpu device(2);
  const ParticleSurface surface({points, velocity, kSpacing, 0.5 * kSpacing}, SurfaceParams(),
                                device);
  const auto path = std::filesystem::temp_directory_path() / "barchan_vdb_file_test.vdb";
  write_surface_vdb(surface, path);
  openvdb::initialize();
  openvdb::io::File file(path.string());
  file.open();
  const auto distance = openvdb::gridPtrCast<openvdb::FloatGrid>(file.readGrid("surface"));
  const auto vel = openvdb::gridPtrCast<openvdb::Vec3SGrid>(file.readGrid("vel"));
  file.close();
  std::filesystem::remove(path);

  ASSERT_TRUE(distance && vel);
  EXPECT_EQ(distance->getGridClass(), openvdb::GRID_LEVEL_SET);
  EXPECT_NEAR(distance->voxelSize().x(), 0.5 * kSpacing, 1e-12);
  EXPECT_GT(distance->activeVoxelCount(), 1000u);
  EXPECT_EQ(distance->activeVoxelCount(), vel->activeVoxelCount());
  // Near the surface; the ball itself is rough by a quarter of a spacing
  double squares = 0.0, count = 0.0;
  for (auto value = distance->cbeginValueOn(); value; ++value) {
    const double want = distance->indexToWorld(value.getCoord()).length() - radius;
    if (std::abs(want) > 0.5 * kSpacing) continue;
    squares += (*value - want) * (*value - want);
    count += 1.0;
  }
  EXPECT_LT(std::sqrt(squares / count), 0.35 * kSpacing);
  // The middle is inside, without a single active voxel
  const auto middle = openvdb::Coord(0, 0, 0);
  EXPECT_EQ(distance->tree().getValue(middle), -distance->background());
  EXPECT_FALSE(distance->tree().isValueOn(middle));
  for (auto value = vel->cbeginValueOn(); value; ++value) {
    EXPECT_LT((*value - openvdb::Vec3s(1.0f, 2.0f, 3.0f)).length(), 1e-4f);
  }
}

}  // namespace

}  // namespace barchan
