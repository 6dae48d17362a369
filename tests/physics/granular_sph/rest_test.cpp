// Granular SPH that is at rest when it begins: it stays where it was filled.
#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "physics/fluid.h"
#include "physics/granular_sph/sand_scenes.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using GsphRest = OnDevice;

std::vector<Vec3d> places_by_id(const State& state) {
  const std::vector<Vec3d> x = vectors_of(state, "position");
  const auto id = numbers_of<std::uint64_t>(state, "id");
  std::vector<Vec3d> places(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) places[id[i]] = x[i];
  return places;
}

// How far 95 % of the particles have gone, at most [m].
double way(const std::string& scene, double time, Device& device) {
  Trial run(scene, device);
  const std::vector<Vec3d> before = places_by_id(run.driver.state());
  run.until(time);
  const std::vector<Vec3d> after = places_by_id(run.driver.state());
  std::vector<double> ways;
  for (std::size_t i = 0; i < before.size(); ++i) ways.push_back(length(after[i] - before[i]));
  std::sort(ways.begin(), ways.end());
  return ways[ways.size() * 95 / 100];
}

TEST_P(GsphRest, ALayerOnASlopeDoesNotSlideBeforeItsFrictionIsThere) {
  EXPECT_LT(way(leaning_layer("0.24", "30"), 0.2, *device), 0.25 * 0.02);
  const double slides = 0.5 * (4.453646799 - std::tan(radians(22.0)) * 8.740773995) * 0.2 * 0.2;
  EXPECT_NEAR(way(leaning_layer("0.24", "22"), 0.2, *device), slides, 0.15 * slides)
      << "control: steeper than it can stand";
}

// Six spacings wide and twenty high; half of its particles are at its surface.
std::string tower(const std::string& cohesion) {
  return R"(
solver = "granular-sph"
resolution = 0.02
[[fill]]
sampling = "jittered"
jitter = 0.1
shape = { box = [[0, 0, 0], [0.12, 0.4, 0.12]] }
[[solid]]
name = "ground"
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
friction = 0.8
[material.soil]
density = 1900
friction_angle = 38
cohesion = )" +
         cohesion;
}

TEST_P(GsphRest, ATowerOfSoilDoesNotSink) {
  const auto sinks = [&](const char* cohesion) {
    Trial run(tower(cohesion), *device);
    const double before = mean_heights(run)[0];
    run.until(0.4);
    return 1.0 - mean_heights(run)[0] / before;
  };
  EXPECT_NEAR(sinks("6000\n"), 0.0, 0.01);
  EXPECT_GT(sinks("100\n"), 0.05) << "control: soil that hardly coheres";
}

// A floor without an end, far below a small mouth: particles feel it, not the net beneath it alone.
TEST_P(GsphRest, WhatIsPouredOntoAnEndlessFloorIsAsDenseAsItMayBe) {
  const auto excess = [&](const char* floor) {
    Trial run(std::string(R"(
solver = "granular-sph"
resolution = 0.03
[material.sand]
density = 1600
friction_angle = 30
[[emitter]]
shape = { box = [[-0.06, 0.72, -0.06], [0.06, 0.78, 0.06]] }
velocity = [0, -0.5, 0]
rate = 8
end = 1
[[solid]]
name = "floor"
friction = 0.6
shape = )") + floor,
              *device);
    double sum = 0.0;
    run.until(1.4);
    const auto density = numbers_of<float>(run.driver.state(), "density");
    for (const float rho : density) sum += std::max(0.0, static_cast<double>(rho) / 1600.0 - 1.0);
    return sum / static_cast<double>(density.size());
  };
  const double endless = excess("{ plane = { point = [0, 0, 0], normal = [0, 1, 0] } }\n");
  const double ends = excess("{ box = [[-1, -0.2, -1], [1, 0, 1]] }\n");
  EXPECT_LT(endless, 1.5 * ends + 1e-3);
  EXPECT_LT(endless, 0.02);
}

BARCHAN_ON_EACH_DEVICE(GsphRest);

}  // namespace
}  // namespace barchan
