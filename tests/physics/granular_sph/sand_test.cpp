// Granular SPH in free space and in tanks, through the driver and on each device.
#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "physics/fluid.h"
#include "physics/granular_sph/sand_scenes.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using GranularSph = OnDevice;

// Two blocks, crumpled, of two materials side by side, that run into each other.
std::string crumpled(const std::string& second, const std::string& more = "") {
  return "solver = \"granular-sph\"\nresolution = 0.05\ngravity = [0, 0, 0]\n" + more + R"(
[material.first]
density = 1000
friction_angle = 30
cohesion = 500
[material.second]
)" + second +
         R"(
[[fill]]
sampling = "jittered"
jitter = 0.6
velocity = [1, 0, 0.2]
shape = { box = [[0, 0, 0], [0.4, 0.4, 0.4]] }
[[fill]]
sampling = "jittered"
jitter = 0.6
material = "second"
velocity = [-1, 0.5, 0]
shape = { box = [[0.4, 0, 0], [0.8, 0.4, 0.4]] }
)";
}

TEST_P(GranularSph, NoForceMovesTheCentreOfMass) {
  for (const char* second : {"density = 1000\nfriction_angle = 20", "density = 3000"}) {
    for (const char* more : {"", "[granular-sph]\nscheme = \"paper\"\n",
                             "[granular-sph]\npressure = \"bilateral\"\n"}) {
      Trial run(crumpled(second, more), *device);
      const Momentum before =
          momentum_of(masses_of(run), vectors_of(run.driver.state(), "velocity"));
      run.until(0.05);
      const std::vector<Vec3d> v = vectors_of(run.driver.state(), "velocity");
      const Momentum after = momentum_of(masses_of(run), v);
      EXPECT_LT(length(after.sum - before.sum), 2e-6 * before.size) << second << more;
      EXPECT_GT(std::abs(after.size - before.size), 0.01 * before.size) << "control: they do meet";
    }
  }
}

// The pressure's part of the force is along the pair: angular momentum stays, too.
TEST_P(GranularSph, PressureTurnsNothing) {
  const auto turn = [&](const Trial& run) {
    const std::vector<double> m = masses_of(run);
    const std::vector<Vec3d> x = vectors_of(run.driver.state(), "position"),
                             v = vectors_of(run.driver.state(), "velocity");
    Vec3d sum;
    for (std::size_t i = 0; i < x.size(); ++i) sum += m[i] * cross(x[i], v[i]);
    return sum;
  };
  std::string water = crumpled("density = 3000");
  water.erase(water.find("friction_angle = 30\ncohesion = 500\n"), 35);
  Trial run(water, *device);
  const Vec3d before = turn(run);
  const double size = momentum_of(masses_of(run), vectors_of(run.driver.state(), "velocity")).size;
  run.until(0.05);
  EXPECT_LT(length(turn(run) - before), 1e-5 * size * 0.4);
}

// A block whose particles fly apart: u = S x.
constexpr const char* kCloud = R"(
solver = "granular-sph"
resolution = 0.05
gravity = [0, 0, 0]
[material.sand]
density = 1600
friction_angle = 30
[[fill]]
velocity = [-1, 0, 0]
shape = { box = [[-0.4, 0, 0], [0, 0.4, 0.4]] }
[[fill]]
velocity = [1, 0, 0]
shape = { box = [[0, 0, 0], [0.4, 0.4, 0.4]] }
)";

TEST_P(GranularSph, WhatFliesApartFeelsNothing) {
  const auto slowest = [&](const std::string& scene) {
    Trial run(scene, *device);
    run.until(0.1);
    double least = 1e9;
    for (const Vec3d& v : vectors_of(run.driver.state(), "velocity")) {
      least = std::min(least, std::abs(v.x));
    }
    return least;
  };
  EXPECT_NEAR(slowest(kCloud), 1.0, 1e-5);
  // Control: pressure that may pull holds them back.
  EXPECT_LT(slowest(std::string(kCloud) + "[granular-sph]\npressure = \"bilateral\"\n"), 0.99);
}

TEST_P(GranularSph, PressureOnlyPushesAndStressIsWithinItsBounds) {
  Trial run(heap_scene("0.4", "30"), *device);
  run.until(0.4, [&](const State& state) {
    const std::vector<float> p = numbers_of<float>(state, "pressure");
    EXPECT_GE(*std::min_element(p.begin(), p.end()), 0.0f);
    EXPECT_EQ(count_leaks(state, run.driver.solids(), 0.01), 0);
  });
  const State& state = run.driver.state();
  const std::vector<float> p = numbers_of<float>(state, "pressure");
  const std::vector<Vec3d> n = vectors_of(state, "stress_normal"),
                           t = vectors_of(state, "stress_shear"), x = vectors_of(state, "position");
  // The yield surface is that of the mean pressure around a particle, and s is a mean of those
  // within the support, of 2 d, of it: both within 4 d. All together carry no more than all of p.
  const double slope = std::sqrt(2.0) * std::tan(radians(30.0)), reach = 4.1 * 0.04;
  double most = 0.0, all = 0.0, all_p = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    float around = 0.0f;
    for (std::size_t j = 0; j < p.size(); ++j) {
      if (dot(x[j] - x[i], x[j] - x[i]) < reach * reach) around = std::max(around, p[j]);
    }
    const double s = std::sqrt(dot(n[i], n[i]) + 2.0 * dot(t[i], t[i]));
    EXPECT_LE(s, 1.0001 * slope * static_cast<double>(around) + 1e-3);
    most = std::max(most, s);
    all += s;
    all_p += static_cast<double>(p[i]);
  }
  EXPECT_LE(all, 1.02 * slope * all_p);
  EXPECT_GT(most, 100.0) << "control: there is stress";
}

// What smooth walls do not carry comes to the floor; rough ones carry a good part of it once the
// sand has moved: the floor goes down by a spacing first.
TEST_P(GranularSph, SmoothWallsCarryNoWeight) {
  const auto floor_share = [&](const char* friction) {
    Trial run(std::string(R"(
solver = "granular-sph"
resolution = 0.04
[material.sand]
density = 1600
friction_angle = 30
[[fill]]
sampling = "jittered"
jitter = 0.1
shape = { box = [[0, 0, 0], [0.24, 0.8, 0.24]] }
[[solid]]
name = "floor"
shape = { box = [[-0.3, -0.3, -0.3], [0.5, 0, 0.5]] }
friction = 0.5
motion = "keyframes"
keyframes = [ { time = 0.1 }, { time = 0.3, position = [0, -0.04, 0] } ]
[[solid]]
name = "walls"
inside_out = true
shape = { box = [[0, -1, 0], [0.24, 2, 0.24]] }
friction = )") + friction,
              *device);
    run.until(0.5);
    const double before = run.driver.state().bodies[0].impulse.y;
    run.until(1.0);
    const double weight = 1600.0 * 9.81 * 0.24 * 0.8 * 0.24;
    return (before - run.driver.state().bodies[0].impulse.y) / (0.5 * weight);
  };
  EXPECT_NEAR(floor_share("0"), 1.0, 0.03);
  EXPECT_LT(floor_share("0.5"), 0.9) << "control: rough walls";
}

TEST_P(GranularSph, ALayerRestsOnASlopeBelowItsFrictionAngle) {
  const auto speed = [&](const char* angle) {
    Trial run(leaning_layer("0.16", angle), *device);
    run.until(0.6);
    double sum = 0.0;
    const std::vector<Vec3d> v = vectors_of(run.driver.state(), "velocity");
    for (const Vec3d& u : v) sum += dot(u, u);
    return std::sqrt(sum / static_cast<double>(v.size()));
  };
  EXPECT_LT(speed("30"), 0.008);
  EXPECT_GT(speed("22"), 0.05) << "control: steeper than it can stand";
}

TEST_P(GranularSph, ThreeFrictionAnglesRunOutInOrder) {
  const auto front = [&](const char* angle) {
    Trial run(heap_scene("0.4", angle), *device);
    run.until(1.0);
    std::vector<double> x;
    for (const Vec3d& at : vectors_of(run.driver.state(), "position")) x.push_back(at.x);
    std::sort(x.begin(), x.end());
    return x[x.size() * 95 / 100];
  };
  const double loose = front("15"), sand = front("30"), firm = front("45");
  EXPECT_GT(loose, sand + 0.05);
  EXPECT_GT(sand, firm + 0.03);
}

// ---- Bodies

// A ball flies into a blob in empty space, off its middle.
constexpr const char* kShot = R"(
solver = "granular-sph"
resolution = 0.04
gravity = [0, 0, 0]
[material.sand]
density = 1000
friction_angle = 20
[[fill]]
shape = { sphere = { center = [0, 0, 0], radius = 0.25 } }
[[solid]]
name = "ball"
shape = { sphere = { center = [-0.45, 0.1, 0], radius = 0.12 } }
motion = "dynamic"
density = 2500
velocity = [4, 0, 0]
)";

TEST_P(GranularSph, ABallThatFliesIntoABlobKeepsTheMomentum) {
  Trial run(kShot, *device);
  const auto all = [&] {
    Momentum total = momentum_of(masses_of(run), vectors_of(run.driver.state(), "velocity"));
    total.sum += run.driver.bodies()[0].mass * run.driver.state().bodies[0].velocity;
    total.size += run.driver.bodies()[0].mass * length(run.driver.state().bodies[0].velocity);
    return total;
  };
  const Momentum before = all();
  run.until(0.25, [&](const State& state) {
    EXPECT_EQ(count_leaks(state, run.driver.solids(), 0.01), 0);
  });
  EXPECT_LT(length(all().sum - before.sum), 1e-4 * before.size);
  EXPECT_LT(run.driver.state().bodies[0].velocity.x, 3.7) << "control: the blob brakes it";
}

BARCHAN_ON_EACH_DEVICE(GranularSph);

}  // namespace
}  // namespace barchan
