#include "harness/compare.h"

#include <gtest/gtest.h>

namespace barchan {
namespace {

Scene sand(const std::string& solver, const std::vector<std::string>& settings = {}) {
  return read_scene(
      "solver = \"" + solver +
          "\"\n[material.sand]\ndensity = 1600\nfriction_angle = 30\nfriction = 0.5\n",
      "sand.toml", settings);
}

TEST(Compare, GrainsAndBulkAreMappedBackAndForth) {
  const Scene bulk = sand("flip");
  std::vector<std::string> to_dem = map_materials(bulk, "dem").settings;
  to_dem.push_back("solver=dem");
  const Scene grains = sand("flip", to_dem);
  EXPECT_NEAR(grains.materials[0].params.friction, 0.57735, 1e-5);
  // Spheres of 0.95 of a spacing take 0.95^3 pi / 6 of the room.
  EXPECT_NEAR(grains.materials[0].params.density, 1600.0 / (0.857375 * 0.5235988), 1e-2);
  std::vector<std::string> back = to_dem;
  for (const std::string& setting : map_materials(grains, "flip").settings) back.push_back(setting);
  const Scene again = sand("flip", back);
  EXPECT_NEAR(again.materials[0].params.density, 1600.0, 1e-9);
  EXPECT_NEAR(again.materials[0].params.friction_angle, 30.0, 1e-9);
}

TEST(Compare, ContinuaTakeMaterialsAsTheyAre) {
  for (const char* solver : {"flip", "pbf", "granular-sph"}) {
    EXPECT_TRUE(map_materials(sand("flip"), solver).settings.empty()) << solver;
  }
  EXPECT_FALSE(map_materials(sand("flip"), "pbf").notes.empty()) << "it says what is left out";
  EXPECT_TRUE(map_materials(sand("dem"), "dem").settings.empty());
}

TEST(Compare, WaterHasNoGrains) {
  const Scene water = read_scene("solver = \"pbf\"\n", "water.toml");
  EXPECT_NE(map_materials(water, "dem").refused, "");
  EXPECT_EQ(map_materials(water, "flip").refused, "");
}

}  // namespace
}  // namespace barchan
