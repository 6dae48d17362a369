// Sand in flip: its stresses, and what they do to heaps, blocks and balls.
#include <algorithm>
#include <cmath>

#include "physics/fluid.h"
#include "sand_grid.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using FlipSand = OnDevice;

const char* const kModes[] = {"coupled", "lagged", "paper"};

double kinetic_energy(const Trial& run) {
  return measure_totals(run.driver.state(), solver_setup(run.scene).particle_masses(), {})
      .kinetic_energy;
}

std::string with_friction(const std::string& scene, const std::string& mode) {
  return scene + "[flip]\nfriction = \"" + mode + "\"\n";
}

// A column beside a wall, between smooth walls.
std::string column(const std::string& material, double wall_friction, double height = 0.3) {
  const std::string mu = std::to_string(wall_friction);
  return "solver = \"flip\"\nresolution = 0.025\n[material.sand]\n" + material +
         "\n[[fill]]\nshape = { box = [[0, 0, 0], [0.3, " + std::to_string(height) +
         ", 0.2]] }\n"
         "[[solid]]\nname = \"floor\"\nfriction = " +
         mu +
         "\nshape = { box = [[-0.5, -0.5, -0.5], [3, 0, 0.7]] }\n"
         "[[solid]]\nname = \"back\"\nfriction = " +
         mu +
         "\nshape = { box = [[-0.5, -0.5, -0.5], [0, 1, 0.7]] }\n"
         "[[solid]]\nname = \"left\"\nfriction = 0\nshape = { box = [[-0.5, 0, -0.5], [3, 1, 0]] "
         "}\n"
         "[[solid]]\nname = \"right\"\nfriction = 0\nshape = { box = [[-0.5, 0, 0.2], [3, 1, 0.7]] "
         "}\n";
}
const std::string kDry = "density = 1600\nfriction_angle = 30";

double farthest(const Trial& run, int axis) {
  std::vector<double> x;
  for (const Vec3d& at : vectors_of(run.driver.state(), "position")) x.push_back(at[axis]);
  std::sort(x.begin(), x.end());
  return x[x.size() * 98 / 100];
}

// ---- Stresses

TEST_P(FlipSand, WithoutStrengthItIsWaterByteForByte) {
  const auto hash = [&](const std::string& material, double wall_friction) {
    Trial run(column(material, wall_friction), *device);
    for (int k = 0; k < 20; ++k) run.driver.step(0.01);
    return hash_of(run.driver.state());
  };
  const std::uint64_t water = hash("preset = \"water\"", 0.5);
  const std::string weak = "density = 1000\ncohesion = 0\nfriction_angle = ";
  EXPECT_EQ(hash(weak + "0", 0.5), water);
  EXPECT_EQ(hash(weak + "0", 0.9), water);
  EXPECT_NE(hash(weak + "1", 0.5), water);
}

TEST_P(FlipSand, StressesStayOnOrInsideTheYieldSurface) {
  for (const char* mode : kModes) {
    Trial run(with_friction(column(kDry + "\ncohesion = 50", 0.5), mode), *device);
    double most = 0.0, most_without = 0.0, sum = 0.0;
    run.until(0.25, [&](const State& state) {
      const KeptStresses kept(state);
      kept.each([&](const KeptStresses::Cell& cell) {
        const double of_a_cell = 1600.0 * 9.81 * 0.05;  // [Pa]
        const double p = std::max(kept.pressure(cell), 0.0), tan_phi = std::tan(radians(30.0));
        const double strength = tan_phi * p + 50.0, pad = tan_phi * 0.25 * of_a_cell;
        const double shear = kept.size(cell) / std::sqrt(2.0);
        most = std::max(most, shear / (strength + pad));  // the pad: at the surface, at rest
        most_without = std::max(most_without, shear / strength);
        sum += kept.size(cell);
      });
    });
    EXPECT_LT(most, 1.0 + 1e-5) << mode;
    EXPECT_GT(most_without, 0.95) << mode << ": a column that falls yields somewhere";
    EXPECT_GT(sum, 0.0) << mode;
  }
}

// Two halves of a ball that slide on each other, without gravity: only friction does anything.
TEST_P(FlipSand, FrictionAloneTakesEnergyAndLeavesMomentum) {
  const auto scene = [](const std::string& material) {
    const auto half = [](double sign) {
      const std::string s = std::to_string(sign);
      return "[[fill]]\nvelocity = [" + std::to_string(0.2 * sign) +
             ", 0, 0.02]\nshape = { intersection = [ { sphere = { center = [0, 0, 0], radius = 0.3 "
             "} }, { plane = { point = [0, 0, 0], normal = [0, " +
             std::to_string(-sign) + ", 0] } } ] }\n";
    };
    return "solver = \"flip\"\nresolution = 0.025\ngravity = [0, 0, 0]\n[material.sand]\n" +
           material + "\n" + half(1.0) + half(-1.0);
  };
  const auto left = [&](const std::string& material, const char* mode) {
    Trial run(with_friction(scene(material), mode), *device);
    const double first = kinetic_energy(run);
    double before = first;
    const Momentum start = momentum_of(masses_of(run), vectors_of(run.driver.state(), "velocity"));
    for (int k = 0; k < 20; ++k) {
      run.driver.step(0.01);
      const double now = kinetic_energy(run);
      EXPECT_LE(now, before * (1.0 + 1e-6)) << mode << " step " << k;
      before = now;
    }
    const Momentum end = momentum_of(masses_of(run), vectors_of(run.driver.state(), "velocity"));
    // Faces at the surface have the mass of particles that are about there.
    EXPECT_LT(length(end.sum - start.sum), 0.01 * start.size) << mode;
    return before / first;
  };
  for (const char* mode : kModes) {
    const double wet = left("density = 1600\nfriction_angle = 30\ncohesion = 500", mode);
    EXPECT_LT(wet, 0.5) << mode;
  }
}

// ---- What they do

// A vertical cut in sand with cohesion c stands up to (2 c' / gamma) tan(45 + phi' / 2), where sin
// phi' = tan phi and c' = c / cos phi': 0.75 m for 2500 Pa.
TEST_P(FlipSand, AWetBlockStandsWhereADryOneSlumps) {
  const auto end = [&](const char* cohesion) {
    Trial run(column(kDry + "\ncohesion = " + cohesion, 0.5), *device);
    run.until(0.5);
    return farthest(run, 0);
  };
  EXPECT_LT(end("2500"), 0.31);
  EXPECT_GT(end("0"), 0.45);
}

TEST_P(FlipSand, WithoutFrictionOnWallsItSpreadsFarther) {
  for (const char* mode : kModes) {
    const auto end = [&](double mu) {
      Trial run(with_friction(column(kDry, mu), mode), *device);
      run.until(0.45);
      return farthest(run, 0) - 0.3;  // beyond where it stood
    };
    EXPECT_GT(end(0.0), 1.3 * end(0.6)) << mode;
  }
}

// Slices of a block, each with the velocity u = S x of its middle, and no gravity.
struct FlewApart {
  double before, after;  // S
  double height;
};
FlewApart fly_apart(const std::string& material, double t, Device& device) {
  std::string scene =
      "solver = \"flip\"\nresolution = 0.025\ngravity = [0, 0, 0]\n[material.sand]\n" + material +
      "\n";
  for (int k = -4; k < 4; ++k) {
    const double lo = 0.1 * k, hi = lo + 0.1;
    scene += "[[fill]]\nvelocity = [" + std::to_string(0.5 * (lo + hi)) +
             ", 0, 0]\nshape = { box = [[" + std::to_string(lo) + ", -0.15, -0.15], [" +
             std::to_string(hi) + ", 0.15, 0.15]] }\n";
  }
  Trial run(scene, device);
  const auto rate = [&] {  // by least squares
    const auto x = vectors_of(run.driver.state(), "position"),
               v = vectors_of(run.driver.state(), "velocity");
    double xv = 0.0, xx = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) xv += x[i].x * v[i].x, xx += x[i].x * x[i].x;
    return xv / xx;
  };
  const double before = rate();
  run.until(t);
  return {before, rate(), farthest(run, 1)};
}
// Sand does not pull: it flies apart as its grains do. A liquid draws in from its sides.
TEST_P(FlipSand, ABlockThatFliesApartDoesSoFreely) {
  const double t = 0.3;
  const FlewApart sand = fly_apart(kDry, t, *device);
  EXPECT_NEAR(sand.after, sand.before / (1.0 + sand.before * t), 0.03 * sand.before);
  EXPECT_NEAR(sand.height, 0.98 * 0.3 - 0.15, 0.005);
  const FlewApart water = fly_apart("preset = \"water\"", t, *device);
  EXPECT_LT(water.height, 0.98 * 0.3 - 0.15 - 0.01);
}

TEST_P(FlipSand, AHeavyBallDigsInAndALightOneStaysOnTop) {
  const auto depth = [&](double density) {
    Trial run("solver = \"flip\"\nresolution = 0.025\n[material.sand]\n" + kDry + R"(
[[fill]]
shape = { box = [[-0.25, 0, -0.25], [0.25, 0.25, 0.25]] }
[[solid]]
name = "box"
inside_out = true
shape = { box = [[-0.25, 0, -0.25], [0.25, 1, 0.25]] }
[[solid]]
name = "ball"
motion = "dynamic"
velocity = [0, -2, 0]
shape = { sphere = { center = [0, 0.36, 0], radius = 0.1 } }
density = )" + std::to_string(density) +
                  "\n",
              *device);
    run.until(0.4);
    const BodyState& ball = run.driver.state().bodies[1];
    EXPECT_LT(length(ball.velocity), 0.15) << "it stops";
    return 0.25 - (ball.position.y - 0.1);
  };
  const double heavy = depth(7800.0), light = depth(200.0);
  EXPECT_GT(heavy, 0.06);
  EXPECT_LT(light, 0.03);
  EXPECT_GT(light, -0.03) << "it lies on the sand";
}

// A block that holds together slides on the floor at mu g, and at 0.15 of a cell's weight more:
// what a surface of cells gets wrong in p.
TEST_P(FlipSand, ABlockSlidesToAStopByTheFrictionOfTheFloor) {
  Trial run(R"(
solver = "flip"
resolution = 0.025
[material.clay]
density = 1600
friction_angle = 40
cohesion = 20000
[[fill]]
velocity = [1.5, 0, 0]
shape = { box = [[0, 0, 0], [0.6, 0.2, 0.3]] }
[[solid]]
name = "floor"
friction = 0.3
shape = { box = [[-1, -0.5, -1], [3, 0, 1]] }
)",
            *device);
  const auto speed = [&] {
    return momentum_of(std::vector<double>(run.driver.state().size(), 1.0),
                       vectors_of(run.driver.state(), "velocity"))
               .sum.x /
           static_cast<double>(run.driver.state().size());
  };
  run.until(0.1);
  const double before = speed();
  run.until(0.3);
  const double expected = 0.3 * 9.81 * (1.0 + 0.15 * 0.05 / 0.2);
  EXPECT_NEAR((before - speed()) / 0.2, expected, 0.06 * expected);
}

BARCHAN_ON_EACH_DEVICE(FlipSand);

}  // namespace
}  // namespace barchan
