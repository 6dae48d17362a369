// Many grains: what must be kept, what must not depend on threads, and shapes.
#include <cmath>

#include "base/units.h"
#include "geometry/grain.h"
#include "physics/trial.h"
#include "sim/initial_state.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using Grains = OnDevice;

const std::string kTwoBlobs =
    "solver = \"dem\"\nresolution = 0.01\ngravity = [0, 0, 0]\n"
    "[material.sand]\ndensity = 2500\nyoung = 1e6\nrestitution = 0.5\nfriction = 0.5\n"
    "[material.other]\ndensity = 4000\nyoung = 1e6\nrestitution = 0.8\nfriction = 0.3\n"
    "[[fill]]\nmaterial = \"sand\"\nvelocity = [1, 0.3, 0]\nangular_velocity = [0, 0, 20]\n"
    "shape = { sphere = { center = [-0.03, 0, 0], radius = 0.03 } }\n"
    "[[fill]]\nmaterial = \"other\"\nvelocity = [-1, 0, 0.2]\n"
    "shape = { sphere = { center = [0.035, 0.01, 0], radius = 0.03 } }\n";

// Sums over the grains, spin included, in double precision.
struct Sums {
  Vec3d momentum, angular;
  double scale = 0.0, angular_scale = 0.0, kinetic = 0.0;
};
Sums sums_of(const State& state) {
  Device& device = state.device();
  const HostColumn x = download(device, state.column("position"));
  const HostColumn v = download(device, state.column("velocity"));
  const HostColumn w = download(device, state.column("angular_velocity"));
  const HostColumn mass = download(device, state.column("mass"));
  const HostColumn scale = download(device, state.column("scale"));
  const auto vector = [](const HostColumn& c, std::size_t i) {
    return Vec3d(c.component<float>(0)[i], c.component<float>(1)[i], c.component<float>(2)[i]);
  };
  Sums sums;
  for (std::size_t i = 0; i < state.size(); ++i) {
    const double m = mass.component<float>(0)[i], r = scale.component<float>(0)[i];
    const double I = 0.4 * m * r * r;
    const Vec3d L = m * cross(vector(x, i), vector(v, i)) + I * vector(w, i);
    sums.momentum += m * vector(v, i);
    sums.scale += m * length(vector(v, i));
    sums.angular += L;
    sums.angular_scale += length(L);
    sums.kinetic +=
        0.5 * m * dot(vector(v, i), vector(v, i)) + 0.5 * I * dot(vector(w, i), vector(w, i));
  }
  return sums;
}

TEST_P(Grains, MomentumIsKeptToRoundingAndEnergyIsLost) {
  Trial run(kTwoBlobs, *device);
  const Sums before = sums_of(run.driver.state());
  run.until(0.05);
  const Sums after = sums_of(run.driver.state());
  EXPECT_LT(length(after.momentum - before.momentum), 1e-6 * before.scale);
  EXPECT_LT(length(after.angular - before.angular), 1e-5 * before.angular_scale);
  EXPECT_LT(after.kinetic, 0.8 * before.kinetic) << "they met";
}

// Negative control: the same with a breath of gravity.
TEST_P(Grains, MomentumIsNotKeptUnderGravity) {
  Trial pulled(
      [&] {
        std::string text = kTwoBlobs;
        text.replace(text.find("[0, 0, 0]"), 9, "[0, -0.01, 0]");
        return text;
      }(),
      *device);
  const Sums before = sums_of(pulled.driver.state());
  pulled.until(0.05);
  EXPECT_GT(length(sums_of(pulled.driver.state()).momentum - before.momentum), 1e-5 * before.scale);
}

const std::string kTank =
    "solver = \"dem\"\nresolution = 0.01\nseed = 3\n"
    "[material.sand]\ndensity = 2500\nyoung = 1e6\nrestitution = 0.6\nfriction = 0.5\n"
    "radius = [0.0035, 0.005]\n"
    "[[fill]]\nmaterial = \"sand\"\nvelocity = [0.5, 0, 0.2]\n"
    "shape = { box = [[-0.03, 0.01, -0.03], [0.03, 0.09, 0.03]] }\n"
    "[[solid]]\nname = \"tank\"\ninside_out = true\nfriction = 0.4\nrestitution = 0.5\n"
    "shape = { box = [[-0.05, 0, -0.05], [0.05, 0.2, 0.05]] }\n";

TEST_P(Grains, EnergyNeverGrowsAndTheFloorCarriesTheWeight) {
  Trial run(kTank, *device);
  const Vec3d g = run.scene.general.gravity;
  const auto energy = [&](const State& state) {
    return sums_of(state).kinetic + measure_totals(state, {1.0}, g).potential_energy;
  };
  const double start = energy(run.driver.state());
  double least = start;
  // Contacts give back what they store: a little rise is theirs.
  for (int k = 1; k <= 20; ++k) {
    run.until(0.02 * k);
    const double now = energy(run.driver.state());
    EXPECT_LT(now, least + 0.002 * start) << k;
    least = std::min(least, now);
  }
  EXPECT_LT(sums_of(run.driver.state()).kinetic, 0.002 * start) << "they have come to rest";
  const double before = run.driver.state().bodies[0].impulse.y;
  run.until(0.45);
  const double weight = 9.81 * measure_totals(run.driver.state(), {1.0}, g).mass;
  EXPECT_NEAR((run.driver.state().bodies[0].impulse.y - before) / 0.05, -weight, 0.02 * weight);
  EXPECT_EQ(count_leaks(run.driver.state(), run.driver.solids(), 0.0), 0);
}

TEST(GrainsOnThreads, SameBytesForAnyNumberOfThreads) {
  std::uint64_t first = 0;
  for (const int threads : {1, 2, 4}) {
    const auto device = make_cpu_device(threads);
    Trial run(kTank, *device);
    run.until(0.06);
    const std::uint64_t hash = hash_of(run.driver.state());
    if (threads == 1) first = hash;
    EXPECT_EQ(hash, first) << threads;
  }
}

// A snapshot taken between two searches has the lists and the springs of contacts in it.
TEST_P(Grains, AResumedRunGoesOnToTheSameBytes) {
  Trial whole(kTank, *device);
  for (int k = 0; k < 700; ++k) whole.driver.step(1e-4);
  const Snapshot snapshot = take_snapshot(whole.driver.state());
  for (int k = 0; k < 100; ++k) whole.driver.step(1e-4);
  Trial resumed(kTank, *device);
  resumed.driver.restore(snapshot);
  for (int k = 0; k < 100; ++k) resumed.driver.step(1e-4);
  EXPECT_EQ(hash_of(resumed.driver.state()), hash_of(whole.driver.state()));
}

// A rod of two spheres tumbles freely: L stays to rounding, the energy within what a symplectic
// step of 8e-3 rad leaves, and both for as long as one likes.
const std::string kRod =
    "solver = \"dem\"\nresolution = 0.01\ngravity = [0, 0, 0]\n"
    "[material.rod]\ndensity = 2500\nyoung = 1e6\n"
    "grain = [{ center = [0, 0, 0], radius = 1 }, { center = [1.5, 0, 0], radius = 1 }]\n"
    "[[fill]]\nshape = { box = [[-0.005, -0.005, -0.005], [0.005, 0.005, 0.005]] }\n";

struct Spin {
  Vec3d L, w;
  double energy() const { return 0.5 * dot(L, w); }
};
// L and w from the orientation and one of them, in double precision.
Spin spin_of(const State& state, const GrainShape& shape) {
  const auto column = [&](const char* name) {
    return download(state.device(), state.column(name));
  };
  const HostColumn q = column("orientation"), l = column("angular_momentum");
  const double mass = column("mass").component<float>(0)[0];
  const double r = column("scale").component<float>(0)[0];
  const Vec3d I = (mass * r * r / shape.volume) * shape.moments;
  const Quatd turn = normalized(Quatd(q.component<float>(0)[0], q.component<float>(1)[0],
                                      q.component<float>(2)[0], q.component<float>(3)[0]));
  Spin spin;
  spin.L = {l.component<float>(0)[0], l.component<float>(1)[0], l.component<float>(2)[0]};
  const Vec3d own = inverse_rotate(turn, spin.L);
  spin.w = rotate(turn, Vec3d(own.x / I.x, own.y / I.y, own.z / I.z));
  return spin;
}
// The rod at 41 rad/s, askew to its axes.
void give_spin(Trial& run, const Vec3d& direction) {
  Snapshot snapshot = take_snapshot(run.driver.state());
  const GrainShape shape = solver_setup(run.scene).grains[0];
  double size = 0.0;
  for (HostColumn& column : snapshot.columns) {
    if (column.spec.name == "mass") size = column.component<float>(0)[0];
  }
  size *= 0.005 * 0.005 * shape.moments.y / shape.volume * 41.0 / length(direction);
  for (HostColumn& column : snapshot.columns) {
    if (column.spec.name != "angular_momentum") continue;
    for (int k = 0; k < 3; ++k) {
      column.component<float>(k)[0] = static_cast<float>(size * direction[k]);
    }
  }
  run.driver.restore(snapshot);
}

TEST_P(Grains, ATumblingRodKeepsItsAngularMomentumAndItsEnergy) {
  Trial run(kRod, *device);
  const GrainShape shape = solver_setup(run.scene).grains[0];
  give_spin(run, {1.0, 0.6, -0.3});
  const Spin before = spin_of(run.driver.state(), shape);
  double most = 0.0, turned = 0.0;
  for (int k = 0; k < 10000; ++k) {
    run.driver.step(2e-4);
    const Spin now = spin_of(run.driver.state(), shape);
    most = std::max(most, std::abs(now.energy() / before.energy() - 1.0));
    turned += 2e-4 * length(now.w);
    ASSERT_LT(length(now.L - before.L), 1e-6 * length(before.L)) << k;
  }
  EXPECT_GT(turned, 12.0 * 2.0 * kPi) << "it tumbles";
  EXPECT_LT(most, 1e-4);
  // What frames have is the w of this L.
  const Spin end = spin_of(run.driver.state(), shape);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(run.value("angular_velocity", k, 0), end.w[k], 1e-4 * length(end.w));
  }
}

TEST(GrainShapes, HaveTheMassAndInertiaOfTheUnion) {
  const GrainShape sphere = make_grain(grain_spheres("sphere"));
  EXPECT_NEAR(sphere.volume, 4.0 / 3.0 * kPi, 1e-12);
  EXPECT_NEAR(sphere.moments.x, 0.4 * sphere.volume, 1e-12);

  // Two spheres of radius 1 that do not touch, 3 apart: radius 2.5, so lengths shrink by that.
  const GrainShape two = make_grain({{{0, 0, 0}, 1.0}, {{3, 0, 0}, 1.0}});
  const double s = 1.0 / 2.5, volume = 8.0 / 3.0 * kPi;
  EXPECT_NEAR(two.volume, volume * s * s * s, 2e-3 * two.volume);
  const double fifth = std::pow(s, 5.0);
  EXPECT_NEAR(std::min({two.moments.x, two.moments.y, two.moments.z}), 0.4 * volume * fifth,
              5e-3 * volume * fifth);
  EXPECT_NEAR(std::max({two.moments.x, two.moments.y, two.moments.z}),
              (0.4 + 2.25) * volume * fifth, 5e-3 * volume * fifth);

  // Two halves of one sphere are one sphere.
  const GrainShape same = make_grain({{{0, 0, 0}, 1.0}, {{0, 0, 0}, 1.0}});
  EXPECT_NEAR(same.volume, 4.0 / 3.0 * kPi, 2e-3 * same.volume);

  const GrainShape tetrahedron = make_grain(grain_spheres("tetrahedron"));
  ASSERT_EQ(tetrahedron.spheres.size(), 4u);
  for (const GrainSphere& a : tetrahedron.spheres) {
    EXPECT_NEAR(length(a.center) + a.radius, 1.0, 1e-3);
    for (const GrainSphere& b : tetrahedron.spheres) {
      const double apart = length(a.center - b.center);
      if (&a != &b) {
        EXPECT_NEAR(apart, 1.5 * a.radius, 1e-6);
      }
    }
  }
  EXPECT_EQ(tetrahedron.moments.x, tetrahedron.moments.y);
  EXPECT_EQ(tetrahedron.moments.x, tetrahedron.moments.z);
  EXPECT_EQ(make_grain(grain_spheres("cube")).spheres.size(), 8u);
}

BARCHAN_ON_EACH_DEVICE(Grains);

}  // namespace
}  // namespace barchan
