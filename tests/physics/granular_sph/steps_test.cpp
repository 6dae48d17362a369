// Granular SPH where steps are long and particles are driven together: nothing explodes, nothing
// stalls, nothing stays in a crowd.
#include <algorithm>
#include <cmath>

#include "physics/fluid.h"
#include "physics/granular_sph/sand_scenes.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using GsphCrowds = OnDevice;

// What a run went through.
struct Course {
  double fastest = 0.0;     // [m/s]
  double longest = 0.0;     // step [s]
  double shortest = 1e9;    // step, but for those that end it [s]
  double iterations = 0.0;  // mean
  double excess = 0.0;      // of density, the greatest mean over all particles
  double largest_excess = 0.0;
  double farthest = 0.0;  // along x [m]
  std::int64_t leaks = 0;
};

Course follow(const std::string& scene, double end, Device& device) {
  Trial run(scene, device);
  Course all;
  int steps = 0;
  while (run.driver.state().time < end - 1e-12) {
    const double left = end - run.driver.state().time;
    const StepReport report = run.driver.step(left);
    all.fastest = std::max(all.fastest, report.max_speed);
    all.longest = std::max(all.longest, report.dt_used);
    if (report.dt_used < 0.99 * left && steps > 20) {
      all.shortest = std::min(all.shortest, report.dt_used);
    }
    all.excess = std::max(all.excess, report.density_error_mean);
    all.largest_excess = std::max(all.largest_excess, report.density_error_max);
    all.iterations += report.iterations;
    ++steps;
  }
  all.iterations /= steps;
  for (const Vec3d& x : vectors_of(run.driver.state(), "position")) {
    all.farthest = std::max(all.farthest, x.x);
  }
  all.leaks = count_leaks(run.driver.state(), run.driver.solids(), 0.01);
  return all;
}

std::string dam(const std::string& steps) {
  return R"(
solver = "granular-sph"
resolution = 0.05
[[fill]]
shape = { box = [[0, 0, 0], [0.8, 1.2, 0.3]] }
[[solid]]
name = "box"
inside_out = true
shape = { box = [[0, 0, 0], [2, 3, 0.3]] }
[granular-sph]
)" + steps;
}

// The front meets the far wall at 0.45 s. Steps are 5 ms all the way.
TEST_P(GsphCrowds, ADamBreaksAgainstItsWallInStepsOfFiveMilliseconds) {
  const Course dam_break = follow(dam("dt_max = 0.005\nfall = 0.2\ncfl = 1\n"), 0.9, *device);
  EXPECT_GT(dam_break.farthest, 1.9) << "control: it gets there";
  EXPECT_GT(dam_break.longest, 0.00499);
  EXPECT_GT(dam_break.shortest, 0.002) << "it stalls";
  EXPECT_LT(dam_break.fastest, 2.0 * std::sqrt(9.81 * 1.2) * 1.5);
  EXPECT_LT(dam_break.excess, 0.05);
  EXPECT_LT(dam_break.iterations, 15.0);
  EXPECT_EQ(dam_break.leaks, 0);
}

// Four times as long as those that the defaults choose.
TEST_P(GsphCrowds, StepsFourTimesAsLongAreSurvived) {
  const std::string heap = heap_scene("0.6", "30") + "[granular-sph]\n";
  for (const std::string& scene : {heap, dam("")}) {
    const Course usual = follow(scene, 0.5, *device);
    const Course forced = follow(scene + "fall = 0.12\ncfl = 1\ndt_max = 0.05\n", 0.5, *device);
    EXPECT_GT(forced.longest, 3.0 * usual.longest) << "control: they are longer";
    EXPECT_LT(forced.fastest, 2.0 * usual.fastest);
    EXPECT_LT(forced.excess, 0.2);
    EXPECT_EQ(forced.leaks, 0);
  }
}

// A stream falls into a corner. Pressure that was too high and nothing in turns left ten and more
// particles in one place there, and took all iterations.
TEST_P(GsphCrowds, AStreamIntoACornerMakesNoCrowd) {
  const Course pour = follow(R"(
solver = "granular-sph"
resolution = 0.025
seed = 1
[material.sand]
density = 1600
friction_angle = 30
[[emitter]]
shape = { box = [[0.02, 1.16, 0.02], [0.18, 1.22, 0.18]] }
velocity = [0, -0.7, 0]
rate = 28
[[solid]]
name = "corner"
inside_out = true
shape = { box = [[0, 0, 0], [3, 2, 0.2]] }
friction = 0.3
)",
                             1.1, *device);
  EXPECT_LT(pour.largest_excess, 1.5);
  EXPECT_LT(pour.iterations, 12.0);
  EXPECT_GT(pour.fastest, 3.0) << "control: it does fall";
}

// A piston that is driven into water pushes it; it does not sweep through.
TEST_P(GsphCrowds, AMovedWallSqueezesNothing) {
  const auto piston = [&](const char* way) {
    return follow(std::string(R"(
solver = "granular-sph"
resolution = 0.04
[[fill]]
shape = { box = [[0, 0, 0], [1.2, 0.4, 0.2]] }
[[solid]]
name = "tank"
inside_out = true
shape = { box = [[0, 0, 0], [1.2, 3, 0.2]] }
[[solid]]
name = "piston"
shape = { box = [[-3, -1, -1], [0, 3, 1]] }
motion = "keyframes"
keyframes = [ { time = 0.05 }, { time = 0.3, position = [)") +
                      way + ", 0, 0] } ]\n",
                  0.3, *device);
  };
  const Course driven = piston("0.75");
  EXPECT_LT(driven.excess, 0.05);
  EXPECT_LT(driven.largest_excess, 0.6);
  EXPECT_EQ(driven.leaks, 0);
  EXPECT_GT(driven.fastest, 2.9) << "control: it pushes";
  EXPECT_LT(piston("0").fastest, 1.0) << "control: at rest it does not";
}

BARCHAN_ON_EACH_DEVICE(GsphCrowds);

}  // namespace
}  // namespace barchan
