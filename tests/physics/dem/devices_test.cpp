// The same shots on the CPU and on a GPU. Sums are taken in another order there, and soon each
// grain goes its own way: what must agree is what does not hang on single grains. A column's front
// is a few grains high; single columns that differ in nothing but their seed end 1 % apart, so that
// means over seeds are compared.
#include <fmt/format.h>
#include <cmath>

#include "harness/pile_measure.h"
#include "physics/fluid.h"
#include "physics/trial.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

constexpr double kSpacing = 0.005, kLength = 0.08;  // of the column, as high [m]

PileProfile profile_of(const State& state) {
  std::vector<Vec3> points;
  for (const Vec3d& x : vectors_of(state, "position")) points.push_back(Vec3(x));
  return pile_profile(points, kSpacing, {0, 1, 0}, {1, 0, 0});
}

// A column of 16 x 16 x 16 grains collapses between smooth walls: (L - L0)/L0.
double run_out(Device& device, int seed, double friction) {
  Trial run(fmt::format("solver = \"dem\"\nresolution = {0}\nseed = {2}\n"
                        "[material.glass]\ndensity = 2500\nyoung = 4e5\nradius = 0.00225\n"
                        "friction = {3}\nrestitution = 0.5\nrolling_friction = 0.05\n"
                        "[[fill]]\nsampling = \"jittered\"\njitter = 0.1\n"
                        "shape = {{ box = [[0, 0, 0], [{1}, {1}, {1}]] }}\n"
                        "[[solid]]\nname = \"floor\"\nfriction = {3}\n"
                        "shape = {{ plane = {{ point = [0, 0, 0], normal = [0, 1, 0] }} }}\n"
                        "[[solid]]\nname = \"walls\"\nfriction = 0\ninside_out = true\n"
                        "shape = {{ box = [[0, -1, 0], [1, 1, {1}]] }}\n",
                        kSpacing, kLength, seed, friction),
            device);
  run.until(0.7);
  return (pile_front(profile_of(run.driver.state())) - kLength) / kLength;
}
double mean_run_out(Device& device, double friction) {
  constexpr int kSeeds = 6;
  double sum = 0.0;
  for (int seed = 1; seed <= kSeeds; ++seed) sum += run_out(device, seed, friction);
  return sum / kSeeds;
}

TEST(DemDevices, RunOutAgrees) {
  const auto cpu = make_cpu_device(0);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const double here = mean_run_out(*cpu, 0.5);
  EXPECT_NEAR(mean_run_out(*cuda, 0.5), here, 0.02 * here);
  EXPECT_GT(std::abs(mean_run_out(*cuda, 0.4) - here), 0.02 * here) << "another friction shows";
}

// The slope that a heap keeps on a rough floor [degrees].
double angle_of_heap(Device& device, const char* shear) {
  Trial run(
      fmt::format("solver = \"dem\"\nresolution = {}\n"
                  "[material.glass]\ndensity = 2500\nyoung = 2e5\nradius = 0.0024\n"
                  "friction = 0.5\nrestitution = 0.3\n"
                  "[[fill]]\nsampling = \"jittered\"\njitter = 0.02\n"
                  "shape = {{ intersection = [ {{ box = [[0, 0, 0], [0.192, 0.055, 0.02]] }},"
                  " {{ plane = {{ point = [0, 0.055, 0], normal = [0.2756, 0.9613, 0] }} }} ] }}\n"
                  "[[solid]]\nname = \"floor\"\nfriction = 0.6\n"
                  "shape = {{ box = [[-0.02, -0.02, -0.02], [0.5, 0, 0.04]] }}\n"
                  "[[solid]]\nname = \"walls\"\ninside_out = true\nfriction = 0\n"
                  "shape = {{ box = [[0, -1, 0], [0.49, 1, 0.02]] }}\n"
                  "[dem]\ncover = [\"floor\"]\nshear = \"{}\"\nshear_viscosity = 20\n",
                  kSpacing, shear),
      device);
  run.until(1.5);
  return pile_angle(profile_of(run.driver.state()));
}

TEST(DemDevices, AngleOfAHeapAgrees) {
  const auto cpu = make_cpu_device(0);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const double here = angle_of_heap(*cpu, "history");
  EXPECT_NEAR(angle_of_heap(*cuda, "history"), here, 0.02 * here);
  EXPECT_GT(std::abs(angle_of_heap(*cuda, "viscous") - here), 0.02 * here) << "memory shows";
}

// Through a slot of eight diameters in the floor of a bin: mass in the second half of a second
// [kg].
double flow(Device& device, double slot) {
  Trial run(fmt::format(
                "solver = \"dem\"\nresolution = {0}\n"
                "[material.glass]\ndensity = 2500\nyoung = 1e5\nradius = 0.00245\n"
                "friction = 0.5\nrestitution = 0.5\n"
                "[[fill]]\nsampling = \"jittered\"\njitter = 0.02\n"
                "shape = {{ box = [[-0.05, 0, 0], [0.05, 0.25, 0.04]] }}\n"
                "[[solid]]\nname = \"left\"\nfriction = 0.5\n"
                "shape = {{ box = [[-0.6, -0.02, -0.2], [-{1}, 0, 0.28]] }}\n"
                "[[solid]]\nname = \"right\"\nfriction = 0.5\n"
                "shape = {{ box = [[{1}, -0.02, -0.2], [0.6, 0, 0.28]] }}\n"
                "[[solid]]\nname = \"bin\"\ninside_out = true\nfriction = 0.5\n"
                "shape = {{ box = [[-0.05, -1, 0], [0.05, 2, 0.04]] }}\n"
                "[[sink]]\nshape = {{ plane = {{ point = [0, -0.05, 0], normal = [0, 1, 0] }} }}\n",
                kSpacing, 0.5 * slot),
            device);
  const auto mass = [&] {
    return measure_totals(run.driver.state(), {1.0}, run.scene.general.gravity).mass;
  };
  run.until(0.3);
  const double before = mass();
  run.until(0.8);
  return before - mass();
}

TEST(DemDevices, FlowAgrees) {
  const auto cpu = make_cpu_device(0);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const double here = flow(*cpu, 0.04);
  EXPECT_NEAR(flow(*cuda, 0.04), here, 0.02 * here);
  EXPECT_GT(std::abs(flow(*cuda, 0.042) - here), 0.02 * here) << "a wider slot shows";
}

}  // namespace
}  // namespace barchan
