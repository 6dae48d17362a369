// The ballistic solver against closed forms, through the driver and on each device.
#include <cmath>

#include "base/units.h"
#include "physics/trial.h"
#include "sim/initial_state.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

// One particle of spacing 0.02 m at (0, y, 0).
std::string one_particle(double y, const std::string& velocity) {
  return fmt::format(
      "resolution = 0.02\n[[fill]]\nsampling = \"lattice\"\nvelocity = {}\n"
      "shape = {{ box = [[-0.01, {}, -0.01], [0.01, {}, 0.01]] }}\n",
      velocity, y - 0.01, y + 0.01);
}

std::string floor_solid(double friction, double restitution,
                        const std::string& normal = "[0, 1, 0]") {
  return fmt::format(
      "[[solid]]\nname = \"floor\"\nfriction = {}\nrestitution = {}\n"
      "shape = {{ plane = {{ point = [0, 0, 0], normal = {} }} }}\n",
      friction, restitution, normal);
}

using Ballistic = OnDevice;

TEST_P(Ballistic, FreeFallIsAParabola) {
  Trial run(one_particle(100.0, "[3, 4, 0]"), *device);
  run.until(2.0);
  EXPECT_NEAR(run.position(0), 6.0, 1e-4);
  EXPECT_NEAR(run.position(1), 100.0 + 8.0 - 0.5 * 9.81 * 4.0, 1e-3);
  EXPECT_NEAR(run.velocity(1), 4.0 - 9.81 * 2.0, 1e-4);
}

// Negative control of the fall: with 0.8 g the closed form of g must be missed by far.
TEST_P(Ballistic, FreeFallWithTheWrongGravityMisses) {
  Trial run("gravity = [0, -7.848, 0]\n" + one_particle(100.0, "[3, 4, 0]"), *device);
  run.until(2.0);
  EXPECT_GT(std::abs(run.position(1) - (108.0 - 0.5 * 9.81 * 4.0)), 3.0);
}

TEST_P(Ballistic, BounceHeightIsRestitutionSquared) {
  for (const double e : {0.3, 0.6, 0.9}) {
    Trial run(one_particle(1.01, "[0, 0, 0]") + floor_solid(0.0, e), *device);
    const double fall = std::sqrt(2.0 / 9.81);  // to the floor, centre at one radius
    double highest = 0.0;
    run.until(fall + 1e-3);
    run.until(fall + 2.0 * e * fall,
              [&](const State&) { highest = std::max(highest, run.position(1)); });
    EXPECT_NEAR(highest - 0.01, e * e, 0.01) << e;
  }
}

TEST_P(Ballistic, SlidingBlockAcceleratesAsCoulombSays) {
  // A floor tilted by 30 degrees: a = g (sin - mu cos) above the angle of friction, 0 below.
  const double angle = kPi / 6.0;
  const std::string normal = fmt::format("[{}, {}, 0]", std::sin(angle), std::cos(angle));
  for (const double mu : {0.0, 0.2, 0.4, 0.7}) {
    const double start = 0.01 / std::cos(angle);  // the centre one radius off the plane
    Trial run(one_particle(start, "[0, 0, 0]") + floor_solid(mu, 0.0, normal), *device);
    run.until(1.0);
    const double travelled = std::hypot(run.position(0), run.position(1) - start);
    const double expected = std::max(0.0, 0.5 * 9.81 * (std::sin(angle) - mu * std::cos(angle)));
    EXPECT_NEAR(travelled, expected, 0.01 * 9.81 * 0.5 * std::sin(angle)) << "mu " << mu;
  }
}

TEST_P(Ballistic, FrictionStopsASlideAfterItsDistance) {
  Trial run(one_particle(0.01, "[2, 0, 0]") + floor_solid(0.5, 0.0), *device);
  run.until(2.0);
  EXPECT_NEAR(run.position(0), 2.0 * 2.0 / (2.0 * 0.5 * 9.81), 0.005);
  EXPECT_NEAR(run.velocity(0), 0.0, 1e-6);
}

TEST_P(Ballistic, FloorFeelsTheWeight) {
  const std::string block =
      "resolution = 0.02\n[[fill]]\nsampling = \"lattice\"\n"
      "shape = { box = [[-0.2, 0, -0.2], [0.2, 0.02, 0.2]] }\n";
  Trial run(block + floor_solid(0.5, 0.2), *device);
  run.until(1.0);
  const double mass = 400 * 1000.0 * 0.02 * 0.02 * 0.02;
  EXPECT_NEAR(run.driver.state().bodies[0].impulse.y, -mass * 9.81 * 1.0, 0.01 * mass * 9.81);
  EXPECT_NEAR(run.driver.state().bodies[0].impulse.x, 0.0, 1e-6);
  EXPECT_NEAR(run.driver.state().max_speed, 0.0, 1e-6) << "it lies still";
}

const char* const kShaken =
    "resolution = 0.04\nduration = 1.0\nseed = 3\n[ballistic]\ndt_max = 0.004\n"
    "[[fill]]\nshape = { box = [[-0.3, 0.1, -0.3], [0.3, 0.5, 0.3]] }\nvelocity = [1, 2, 0.5]\n"
    "[[solid]]\nname = \"tank\"\ninside_out = true\nfriction = 0.3\nrestitution = 0.5\n"
    "shape = { box = [[-0.6, 0, -0.6], [0.6, 1.2, 0.6]] }\n"
    "[[solid]]\nname = \"ball\"\nfriction = 0.1\nrestitution = 0.8\n"
    "shape = { sphere = { center = [0.2, 0.75, 0], radius = 0.15 } }\n";

TEST_P(Ballistic, EnergyNeverGrowsAndNothingLeaks) {
  Trial run(kShaken, *device);
  const auto energy = [&](const State& state) {
    const Totals totals = measure_totals(state, {1.0}, run.scene.general.gravity);
    return totals.kinetic_energy + totals.potential_energy;
  };
  const double start = energy(run.driver.state());
  double before = start;
  run.until(1.0, [&](const State& state) {
    const double now = energy(state);
    EXPECT_LE(now, before + 1e-4 * start);
    before = now;
  });
  EXPECT_LT(before, 0.9 * start) << "bounces lose energy";
  EXPECT_EQ(count_leaks(run.driver.state(), run.driver.solids(), 0.01), 0);
}

// What the particles lose, the solids get: momentum against the impulses in bodies.csv.
TEST_P(Ballistic, ImpulsesOnSolidsBalanceTheMomentum) {
  Trial run(kShaken, *device);
  const std::vector<double> masses = solver_setup(run.scene).particle_masses();
  const Totals before = measure_totals(run.driver.state(), masses, run.scene.general.gravity);
  run.until(0.5);
  const Totals after = measure_totals(run.driver.state(), masses, run.scene.general.gravity);
  Vec3d onto_solids;
  for (const BodyState& body : run.driver.state().bodies) onto_solids += body.impulse;
  const Vec3d gravity = before.mass * 0.5 * run.scene.general.gravity;
  const Vec3d missing = before.momentum + gravity - after.momentum - onto_solids;
  EXPECT_LT(length(missing), 2e-3 * length(before.momentum));
}

BARCHAN_ON_EACH_DEVICE(Ballistic);

TEST(BallisticDeterminism, SameBytesForAnyNumberOfThreads) {
  const auto hash = [](int threads) {
    const auto device = make_cpu_device(threads);
    Trial run(kShaken, *device);
    run.until(0.6);
    return hash_of(run.driver.state());
  };
  const std::uint64_t one = hash(1);
  EXPECT_EQ(hash(2), one);
  EXPECT_EQ(hash(4), one);
}

TEST(BallisticDeterminism, AnotherSeedGivesOtherBytes) {
  const auto device = make_cpu_device(2);
  Trial a(kShaken, *device);
  std::string other = kShaken;
  other.replace(other.find("seed = 3"), 8, "seed = 4");
  Trial b(other, *device);
  EXPECT_NE(hash_of(a.driver.state()), hash_of(b.driver.state()));
}

TEST(BallisticDevices, CpuAndGpuAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  Trial a(kShaken, *cpu), b(kShaken, *cuda);
  a.until(0.5);
  b.until(0.5);
  const Totals on_cpu = measure_totals(a.driver.state(), {1.0}, {0, -9.81, 0});
  const Totals on_gpu = measure_totals(b.driver.state(), {1.0}, {0, -9.81, 0});
  EXPECT_NEAR(on_gpu.potential_energy, on_cpu.potential_energy, 0.02 * on_cpu.potential_energy);
  EXPECT_NEAR(on_gpu.kinetic_energy, on_cpu.kinetic_energy, 0.02 * on_cpu.kinetic_energy);
}

}  // namespace
}  // namespace barchan
