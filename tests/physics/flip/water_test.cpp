// PIC/FLIP water in tanks and in empty space, through the driver and on each device.
#include <cmath>
#include <map>

#include "physics/fluid.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using FlipWater = OnDevice;

double kinetic_energy(const Trial& run) {
  return measure_totals(run.driver.state(), solver_setup(run.scene).particle_masses(), {})
      .kinetic_energy;
}

// Walls that lie between the faces of the grid.
constexpr const char* kPool = R"(
solver = "flip"
resolution = 0.03
[[fill]]
shape = { box = [[0, 0, 0], [0.5, 0.6, 0.5]] }
[[solid]]
name = "tank"
inside_out = true
shape = { box = [[0, 0, 0], [0.5, 1, 0.5]] }
)";

TEST_P(FlipWater, APoolRestsAndItsFloorCarriesIt) {
  Trial run(kPool, *device);
  Vec3d impulse;
  double divergence = 0.0;
  const double until = 1.0, counted = 0.5;
  while (run.driver.state().time < until - 1e-12) {
    const Vec3d before = run.driver.state().bodies[0].impulse;
    const bool counts = run.driver.state().time > until - counted - 1e-12;
    const StepReport report = run.driver.step(0.0125);
    divergence = std::max(divergence, report.divergence_max * report.dt_used);
    if (counts) impulse += run.driver.state().bodies[0].impulse - before;
    EXPECT_EQ(report.trouble, "");
  }
  const double mass = static_cast<double>(run.driver.state().size()) * 1000.0 * 0.03 * 0.03 * 0.03;
  EXPECT_NEAR(-impulse.y / counted, mass * 9.81, 0.02 * mass * 9.81);
  EXPECT_LT(divergence, 1.1e-4) << "the tolerance is 1e-4 of a cell's volume in a step";
  EXPECT_LT(std::sqrt(2.0 * kinetic_energy(run) / mass), 0.01 * std::sqrt(9.81 * 0.6));
  EXPECT_EQ(count_leaks(run.driver.state(), run.driver.solids(), 0.0075), 0);

  // Pressure grows with depth by rho g: a line through all particles.
  const auto p = numbers_of<float>(run.driver.state(), "pressure");
  const auto x = vectors_of(run.driver.state(), "position");
  double n = 0.0, y = 0.0, yy = 0.0, py = 0.0, pp = 0.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const auto at = static_cast<double>(p[i]);
    n += 1.0, y += x[i].y, yy += x[i].y * x[i].y, py += at * x[i].y, pp += at;
  }
  const double slope = (n * py - y * pp) / (n * yy - y * y);
  EXPECT_NEAR(slope, -9810.0, 0.03 * 9810.0);
}

// Water under a ceiling falls: a wall does not hold what it does not push.
TEST_P(FlipWater, WaterDoesNotHangFromACeiling) {
  Trial run(R"(
solver = "flip"
resolution = 0.025
[[fill]]
shape = { box = [[-0.2, 0.6, -0.2], [0.2, 0.8, 0.2]] }
[[solid]]
name = "ceiling"
shape = { box = [[-1, 0.8, -1], [1, 1, 1]] }
)",
            *device);
  run.until(0.2);
  EXPECT_NEAR(mean_heights(run)[0], 0.7 - 0.5 * 9.81 * 0.04, 0.01);
}

// The same with the wall at its side: it slides down freely, and leaves it where it is thrown off.
TEST_P(FlipWater, WaterLeavesAWallFreely) {
  const auto scene = [](double speed) {
    return "solver = \"flip\"\nresolution = 0.025\n[[fill]]\nvelocity = [" + std::to_string(speed) +
           ", 0, 0]\nshape = { box = [[0, 0.6, -0.2], [0.3, 0.9, 0.2]] }\n[[solid]]\nname = "
           "\"wall\"\nshape = { box = [[-1, 0, -1], [0, 2, 1]] }\n";
  };
  Trial thrown(scene(1.0), *device);
  thrown.until(0.2);
  double left = 0.0;
  const auto x = vectors_of(thrown.driver.state(), "position");
  for (const Vec3d& at : x) left += at.x / static_cast<double>(x.size());
  EXPECT_NEAR(left, 0.15 + 0.2, 0.01);
  EXPECT_NEAR(mean_heights(thrown)[0], 0.75 - 0.5 * 9.81 * 0.04, 0.01);
}

// Down a slippery slope that is not along the grid.
double slide(double angle, Device& device) {
  const double s = std::sin(angle), c = std::cos(angle);
  const std::string walls =
      "[[solid]]\nname = \"slope\"\nshape = { plane = { point = [0, 0, 0], normal = [" +
      std::to_string(s) + ", " + std::to_string(c) +
      ", 0] } }\n"
      "[[solid]]\nname = \"left\"\nshape = { plane = { point = [0, 0, 0], normal = [0, 0, 1] } }\n"
      "[[solid]]\nname = \"right\"\nshape = { plane = { point = [0, 0, 0.3], normal = [0, 0, -1] } "
      "}\n";
  Trial run(
      "solver = \"flip\"\nresolution = 0.02\n[[fill]]\nshape = { box = [[-0.8, 0, 0], [0.8, 0.2, "
      "0.3]], rotate = { axis = [0, 0, 1], angle = " +
          std::to_string(-angle * 180.0 / 3.14159265358979) + " } }\n" + walls,
      device);
  run.until(0.4);
  Vec3d mean;
  const auto v = vectors_of(run.driver.state(), "velocity");
  for (const Vec3d& each : v) mean += (1.0 / static_cast<double>(v.size())) * each;
  return (mean.x * c - mean.y * s) / 0.4;
}
TEST_P(FlipWater, WaterSlidesDownASlopeFreely) {
  const double g = 9.81, angle = 3.14159265358979 / 6.0;
  EXPECT_NEAR(slide(angle, *device), g * 0.5, 0.05 * g * 0.5);
}

// PIC loses motion fastest, FLIP slowest.
TEST_P(FlipWater, PicLosesMoreThanApicAndApicMoreThanFlip) {
  std::map<std::string, double> left;
  for (const char* transfer : {"pic", "apic", "flip"}) {
    Trial run(std::string(R"(
solver = "flip"
resolution = 0.025
gravity = [0, 0, 0]
[[fill]]
shape = { sphere = { center = [0, 0, 0], radius = 0.3 } }
angular_velocity = [0, 3, 1]
[flip]
flip_ratio = 1
transfer = ")") + transfer +
                  "\"\n",
              *device);
    const double before = kinetic_energy(run);
    run.until(0.4);
    left[transfer] = kinetic_energy(run) / before;
  }
  EXPECT_LT(left["pic"], 0.9 * left["apic"]);
  EXPECT_LT(left["apic"], left["flip"]);
  EXPECT_GT(left["flip"], 0.9);
}

// A body and water push each other: what one gets, the other loses, but for the grid's coarseness.
TEST_P(FlipWater, ABallThatFliesIntoABlobKeepsTheMomentum) {
  const auto error = [&](double spacing) {
    Trial run("resolution = " + std::to_string(spacing) + R"(
solver = "flip"
gravity = [0, 0, 0]
[[fill]]
shape = { sphere = { center = [0, 0, 0], radius = 0.3 } }
[[solid]]
name = "ball"
shape = { sphere = { center = [-0.45, 0.1, 0], radius = 0.12 } }
motion = "dynamic"
density = 2500
velocity = [2, 0, 0]
)",
              *device);
    const double mass = run.driver.bodies()[0].mass, before = mass * 2.0;
    run.until(0.25, [&](const State& state) {
      EXPECT_EQ(count_leaks(state, run.driver.solids(), 0.25 * spacing), 0);
    });
    const BodyState& ball = run.driver.state().bodies[0];
    const Momentum fluid = momentum_of(masses_of(run), vectors_of(run.driver.state(), "velocity"));
    EXPECT_LT(ball.velocity.x, 1.8) << "the blob brakes it";
    EXPECT_GT(ball.velocity.y, 0.01) << "and it glances off, above the middle";
    return std::abs(mass * ball.velocity.x + fluid.sum.x - before) / before;
  };
  EXPECT_LT(error(0.025), 0.06);
  EXPECT_LT(error(0.0125), 0.04);
}

// A light box floats, a heavy one sinks, one as dense as water stays where it is.
TEST_P(FlipWater, BodiesFloatAsTheyShould) {
  const auto box_after = [&](double density, double t) {
    Trial run(R"(
solver = "flip"
resolution = 0.025
[[fill]]
shape = { box = [[-0.3, 0, -0.3], [0.3, 0.4, 0.3]] }
[[solid]]
name = "tank"
inside_out = true
shape = { box = [[-0.3, 0, -0.3], [0.3, 1, 0.3]] }
[[solid]]
name = "box"
motion = "dynamic"
density = )" + std::to_string(density) +
                  "\nshape = { box = [[-0.1, 0.1, -0.1], [0.1, 0.3, 0.1]] }\n",
              *device);
    run.until(t);
    return run.driver.state().bodies[1].position.y;
  };
  EXPECT_GT(box_after(300.0, 0.8), 0.3);
  EXPECT_NEAR(box_after(1000.0, 0.4), 0.2, 0.02);
  EXPECT_LT(box_after(3000.0, 0.4), 0.12);
}

// Two blobs cost what two blobs cost, however far apart they are.
TEST_P(FlipWater, MemoryFollowsTheWater) {
  const auto peak = [&](double distance) {
    const auto own = make_device(device->name(), 2);
    Trial run(
        "solver = \"flip\"\nresolution = 0.02\ngravity = [0, 0, 0]\n[[fill]]\nshape = { sphere "
        "= { center = [0, 0, 0], radius = 0.2 } }\n[[fill]]\nshape = { sphere = { center = [" +
            std::to_string(distance) + ", 0, 0], radius = 0.2 } }\n",
        *own);
    run.until(0.05);
    return static_cast<double>(own->peak_allocated());
  };
  EXPECT_LT(peak(100.0), 1.2 * peak(1.0));
}

BARCHAN_ON_EACH_DEVICE(FlipWater);

}  // namespace
}  // namespace barchan
