// Sand in flip: its stresses, and what they do to heaps, blocks and balls.
#include <algorithm>
#include <cmath>

#include "physics/fluid.h"
#include "sim/measures.h"
#include "sand_grid.h"
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
    double most = 0.0, sum = 0.0;
    run.until(0.25, [&](const State& state) {
      const KeptStresses kept(state);
      kept.each([&](const KeptStresses::Cell& cell) {
        const double pad = 0.15 * 1600.0 * 9.81 * 0.05;  // what the surface of cells gets wrong
        const double p = std::max(kept.pressure(cell), 0.0) + pad;
        const double radius = std::sqrt(2.0) * (std::tan(30.0 * 3.14159265358979 / 180.0) * p + 50);
        most = std::max(most, kept.size(cell) / radius);
        sum += kept.size(cell);
      });
    });
    EXPECT_LT(most, 1.0 + 1e-5) << mode;
    EXPECT_GT(most, 0.999) << mode << ": a column that falls yields somewhere";
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
             "} }, { plane = { point = [0, 0, 0], normal = [0, " + std::to_string(-sign) +
             ", 0] } } ] }\n";
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

BARCHAN_ON_EACH_DEVICE(FlipSand);

}  // namespace
}  // namespace barchan
