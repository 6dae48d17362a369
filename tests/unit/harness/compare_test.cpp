#include "harness/compare.h"

#include <gtest/gtest.h>

namespace barchan {
namespace {

constexpr const char* kSand = R"(
solver = "flip"
[material.sand]
density = 1600
friction_angle = 30
[[fill]]
shape = { box = [[0, 0, 0], [1, 1, 1]] }
)";

Scene sand(const std::vector<std::string>& settings = {}) {
  return read_scene(kSand, "sand.toml", settings);
}

TEST(Compare, GrainsAndBulkAreMappedBackAndForth) {
  std::vector<std::string> settings = map_materials(sand(), "dem").settings;
  settings.push_back("solver=dem");
  const Scene grains = sand(settings);
  EXPECT_NEAR(grains.materials[0].params.friction, 0.57735, 1e-5);
  // Spheres of 0.95 of a spacing take 0.95^3 pi / 6 of the room.
  EXPECT_NEAR(grains.materials[0].params.density, 1600.0 / (0.857375 * 0.5235988), 1e-2);
  for (const std::string& back : map_materials(grains, "flip").settings) settings.push_back(back);
  settings.push_back("solver=flip");
  const Scene again = sand(settings);
  EXPECT_NEAR(again.materials[0].params.density, 1600.0, 1e-9);
  EXPECT_NEAR(again.materials[0].params.friction_angle, 30.0, 1e-9);
}

TEST(Compare, ContinuaTakeMaterialsAsTheyAre) {
  for (const char* solver : {"flip", "pbf", "granular-sph"}) {
    EXPECT_TRUE(map_materials(sand(), solver).settings.empty()) << solver;
  }
  EXPECT_FALSE(map_materials(sand(), "pbf").notes.empty()) << "it says what is left out";
  EXPECT_TRUE(map_materials(sand({"solver=dem"}), "dem").settings.empty());
}

TEST(Compare, WaterHasNoGrains) {
  const Scene water = sand({"material.sand.friction_angle=0"});
  EXPECT_NE(map_materials(water, "dem").refused, "");
  EXPECT_EQ(map_materials(water, "flip").refused, "");
}

}  // namespace
}  // namespace barchan
