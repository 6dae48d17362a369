// Bodies among grains: solids that are covered with spheres, static and free to move.
#include <cmath>

#include "base/units.h"
#include "physics/trial.h"
#include "rigid/rigid_body.h"
#include "sim/initial_state.h"
#include "sim/measures.h"
#include "solvers/dem/covered.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using DemBodies = OnDevice;

const std::string kHead =
    "solver = \"dem\"\nresolution = 0.01\nseed = 5\n"
    "[material.sand]\ndensity = 2500\nyoung = 1e6\nrestitution = 0.6\nfriction = 0.5\n";
const std::string kWeightless = "gravity = [0, 0, 0]\n" + kHead;

// A blob flies into a plate that spins, and pushes it against a ball.
const std::string kCollision =
    kWeightless +
    "[[fill]]\nvelocity = [1, 0.1, 0]\nangular_velocity = [0, 0, 10]\n"
    "shape = { sphere = { center = [-0.06, 0, 0], radius = 0.025 } }\n"
    "[[solid]]\nname = \"plate\"\nmotion = \"dynamic\"\ndensity = 1500\nrestitution = 0.6\n"
    "angular_velocity = [0, 3, 5]\nshape = { box = [[-0.02, -0.05, -0.05], [0.02, 0.05, 0.05]] }\n"
    "[[solid]]\nname = \"ball\"\nmotion = \"dynamic\"\ndensity = 3000\nrestitution = 0.6\n"
    "velocity = [-1, 0, 0.1]\nshape = { sphere = { center = [0.065, 0.02, 0], radius = 0.03 } }\n";

struct Sums {
  Vec3d momentum, angular;
  double size = 0.0, angular_size = 0.0;  // sums of sizes [kg m/s], [kg m^2/s]
  double kinetic = 0.0;                   // [J]
  void add(double m, const Vec3d& x, const Vec3d& v, const Vec3d& own) {
    momentum += m * v;
    size += m * length(v);
    angular += m * cross(x, v) + own;
    angular_size += length(m * cross(x, v)) + length(own);
    kinetic += 0.5 * m * dot(v, v);
  }
};

// Over grains, spheres all of them, and dynamic bodies; in double precision.
Sums sums_of(Trial& run) {
  const State& state = run.driver.state();
  const auto vector = [&](const HostColumn& c, std::size_t i) {
    return Vec3d(c.component<float>(0)[i], c.component<float>(1)[i], c.component<float>(2)[i]);
  };
  const auto column = [&](const char* name) {
    return download(state.device(), state.column(name));
  };
  const HostColumn x = column("position"), v = column("velocity"), w = column("angular_velocity"),
                   mass = column("mass"), scale = column("scale");
  Sums sums;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const double m = mass.component<float>(0)[i], r = scale.component<float>(0)[i];
    const Vec3d L = (0.4 * m * r * r) * vector(w, i);
    sums.add(m, vector(x, i), vector(v, i), L);
    sums.kinetic += 0.5 * dot(L, vector(w, i));
  }
  const SolverSetup setup = solver_setup(run.scene);
  for (std::size_t s = 0; s < setup.solids.size(); ++s) {
    if (setup.solids[s].drive != SolidDrive::dynamic) continue;
    const RigidBody body(setup.solids[s].mass.mass, setup.solids[s].mass.inertia);
    const BodyState& at = state.bodies[s];
    const Vec3d L = body.angular_momentum(at.orientation, at.angular_velocity);
    sums.add(body.mass, at.position, at.velocity, L);
    sums.kinetic += 0.5 * dot(L, at.angular_velocity);
  }
  return sums;
}

TEST_P(DemBodies, MomentumIsKeptToRoundingAndEnergyNeverGrows) {
  Trial run(kCollision, *device);
  const Sums before = sums_of(run);
  double least = before.kinetic;
  for (int k = 1; k <= 40; ++k) {
    run.until(0.002 * k);
    const Sums now = sums_of(run);
    EXPECT_LT(length(now.momentum - before.momentum), 1e-6 * before.size) << k;
    EXPECT_LT(length(now.angular - before.angular), 2e-6 * before.angular_size) << k;
    const double energy = now.kinetic + run.solver->more_energy(run.driver.state()).potential;
    EXPECT_LT(energy, least + 1e-4 * before.kinetic) << k;
    least = std::min(least, energy);
  }
  EXPECT_LT(least, 0.8 * before.kinetic) << "they met";
  const std::vector<BodyState>& bodies = run.driver.state().bodies;
  EXPECT_LT(length(bodies[1].velocity - Vec3d(-1, 0, 0.1)), 3.0);
  EXPECT_GT(length(bodies[1].velocity - Vec3d(-1, 0, 0.1)), 0.3) << "the ball, too";
}

// Negative control: the ball follows keyframes, and takes what it is given.
TEST_P(DemBodies, MomentumIsNotKeptWhereABodyIsHeld) {
  std::string held = kCollision;
  const std::string from = "motion = \"dynamic\"\ndensity = 1500";
  held.replace(held.find(from), from.size(),
               "motion = \"keyframes\"\nkeyframes = [{ time = 0, position = [0, 0, 0] }]");
  const std::string spin = "angular_velocity = [0, 3, 5]\n";
  held.erase(held.find(spin), spin.size());
  Trial run(held, *device);
  const Sums before = sums_of(run);
  run.until(0.08);
  EXPECT_GT(length(sums_of(run).momentum - before.momentum), 1e-2 * before.size);
}

// Without loss and friction all energy comes back: only the step's error is left.
TEST_P(DemBodies, ABlowWithoutLossKeepsItsEnergy) {
  const auto run_with = [&](double restitution) {
    Trial run(
        "gravity = [0, 0, 0]\nsolver = \"dem\"\nresolution = 0.01\n"
        "[material.sand]\ndensity = 2500\nyoung = 1e6\nrestitution = 1\nfriction = 0\n"
        "[[fill]]\nshape = { box = [[0.5, 0.5, 0.5], [0.51, 0.51, 0.51]] }\n" +
            fmt::format("[[solid]]\nname = \"one\"\nmotion = \"dynamic\"\nfriction = 0\n"
                        "restitution = {}\nvelocity = [1, 0, 0]\n"
                        "shape = {{ sphere = {{ center = [-0.041, 0.01, 0], radius = 0.04 }} "
                        "}}\n"
                        "[[solid]]\nname = \"two\"\nmotion = \"dynamic\"\nfriction = 0\n"
                        "restitution = {}\n"
                        "shape = {{ box = [[0, -0.04, -0.04], [0.05, 0.04, 0.04]] }}\n",
                        restitution, restitution),
        *device);
    const double before = sums_of(run).kinetic;
    run.until(0.05);
    EXPECT_GT(run.driver.state().bodies[1].velocity.x, 0.1) << "they met";
    return sums_of(run).kinetic / before;
  };
  EXPECT_NEAR(run_with(1.0), 1.0, 2e-3);
  EXPECT_LT(run_with(0.5), 0.95);  // the control
}

TEST_P(DemBodies, ABallComesToRestOnTheFloorThatCarriesIt) {
  Trial run(kHead +
                "[[fill]]\nshape = { box = [[0.5, 0, 0.5], [0.51, 0.01, 0.51]] }\n"
                "[[solid]]\nname = \"floor\"\nfriction = 0.5\n"
                "shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }\n"
                "[[solid]]\nname = \"block\"\nmotion = \"dynamic\"\ndensity = 2000\n"
                "shape = { box = [[-0.04, 0.01, -0.04], [0.04, 0.09, 0.04]] }\n",
            *device);
  run.until(0.6);
  const BodyState at = run.driver.state().bodies[1];
  const double weight = 9.81 * 2000.0 * 0.08 * 0.08 * 0.08;
  EXPECT_NEAR(at.position.y, 0.04, 0.001);
  EXPECT_LT(length(at.velocity), 0.01);
  const double before = run.driver.state().bodies[0].impulse.y;
  run.until(0.7);
  const double grain = 9.81 * 2500.0 * 4.0 / 3.0 * kPi * std::pow(0.005, 3.0);
  EXPECT_NEAR((run.driver.state().bodies[0].impulse.y - before) / 0.1, -weight - grain,
              0.02 * weight);
}

const std::string kTray =
    kHead +
    "[[fill]]\nshape = { box = [[-0.03, 0.005, -0.03], [0.03, 0.045, 0.03]] }\n"
    "[[solid]]\nname = \"walls\"\ninside_out = true\nfriction = 0\n"
    "shape = { box = [[-0.0301, -1, -0.0301], [0.0301, 1, 0.0301]] }\n"
    "[[solid]]\nname = \"tray\"\nshape = { box = [[-0.05, -0.02, -0.05], [0.05, 0, 0.05]] }\n"
    "[[solid]]\nname = \"ball\"\nmotion = \"dynamic\"\ndensity = 5000\n"
    "shape = { sphere = { center = [0, 0.08, 0], radius = 0.015 } }\n";
const std::string kCovered = "[dem]\ncover = [\"tray\"]\n";

TEST_P(DemBodies, ACoveredTrayCarriesTheSandAndTheBallInIt) {
  for (const char* rough : {"", "cover_rough = 0.5\n"}) {
    Trial run(kTray + kCovered + rough, *device);
    run.until(0.5);
    const double before = run.driver.state().bodies[1].impulse.y;
    run.until(0.55);
    const Totals sand = measure_totals(run.driver.state(), {1.0}, run.scene.general.gravity);
    const double ball = 5000.0 * 4.0 / 3.0 * kPi * std::pow(0.015, 3.0);
    const double weight = 9.81 * (sand.mass + ball);
    EXPECT_NEAR((run.driver.state().bodies[1].impulse.y - before) / 0.05, -weight, 0.03 * weight)
        << rough;
    EXPECT_GT(run.driver.state().bodies[2].position.y, 0.015) << "the ball is in the tray";
    EXPECT_LT(run.driver.state().bodies[2].position.y, 0.07) << "and has come down";
  }
}

TEST_P(DemBodies, AResumedRunGoesOnToTheSameBytes) {
  Trial whole(kTray + kCovered, *device);
  for (int k = 0; k < 400; ++k) whole.driver.step(1e-4);
  const Snapshot snapshot = take_snapshot(whole.driver.state());
  for (int k = 0; k < 100; ++k) whole.driver.step(1e-4);
  Trial resumed(kTray + kCovered, *device);
  resumed.driver.restore(snapshot);
  for (int k = 0; k < 100; ++k) resumed.driver.step(1e-4);
  EXPECT_EQ(hash_of(resumed.driver.state()), hash_of(whole.driver.state()));
}

TEST(DemBodiesOnThreads, SameBytesForAnyNumberOfThreads) {
  std::uint64_t first = 0;
  for (const int threads : {1, 2, 4}) {
    const auto device = make_cpu_device(threads);
    Trial run(kTray + kCovered, *device);
    run.until(0.06);
    const std::uint64_t hash = hash_of(run.driver.state());
    if (threads == 1) first = hash;
    EXPECT_EQ(hash, first) << threads;
  }
}

TEST(DemCovering, IsWhereItShouldBe) {
  const Scene scene = read_scene(kTray + kCovered + "cover_rough = 0.5\n", "test.toml");
  const SolverSetup setup = solver_setup(scene);
  const dem::CoveredSolids covered = dem::cover_solids(setup, scene.dem, 0.005);
  ASSERT_EQ(covered.parts.size(), 3u) << "tray, its second layer, ball";
  EXPECT_EQ(covered.is_covered, (std::vector<std::uint8_t>{0, 1, 1}));
  EXPECT_TRUE(covered.parts[2].dynamic());
  EXPECT_FALSE(covered.parts[0].dynamic());
  for (std::size_t i = 0; i < covered.spheres.size(); ++i) {
    const dem::CoveredPart& part = covered.parts[covered.part_of[i]];
    const Float4 s = covered.spheres[i];
    const Vec3d p(s.x, s.y, s.z);
    // Of the ball about its middle, and of the tray, [-0.05, 0.05] x [-0.02, 0] x [-0.05, 0.05]
    const double in_tray =
        std::min({0.05 - std::abs(p.x), 0.01 - std::abs(p.y + 0.01), 0.05 - std::abs(p.z)});
    const double depth = part.solid == 2 ? 0.015 - length(p) : in_tray;
    EXPECT_NEAR(depth, part.radius == 0.005 ? 0.005 : 0.0, 1e-4) << i;
  }
  EXPECT_THROW(
      dem::cover_solids(setup, read_scene(kTray + "[dem]\ncover = [\"wall\"]\n", "t").dem, 0.005),
      Error);
}

BARCHAN_ON_EACH_DEVICE(DemBodies);

}  // namespace
}  // namespace barchan
