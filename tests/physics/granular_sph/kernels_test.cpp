// Parts of granular SPH by themselves: the numbers of the lattice, the yield surface, the bonds.
#include <gtest/gtest.h>

#include <cmath>

#include "base/units.h"
#include "math/random.h"
#include "solvers/granular_sph/lattice.h"
#include "solvers/granular_sph/stress_kernels.h"

namespace barchan {
namespace {

// Sums over a lattice, a plane of samples in place of one of its layers: c and the gradient of a
// linear field come out as if the lattice went on.
TEST(GsphLattice, AWallCountsLikeTheLayerItReplaces) {
  const double d = 0.02;
  const gsph::Kernels k = gsph::lattice_kernels(d);
  const double h = 2.0 * d;
  const auto shape = [&](double r) {
    return static_cast<double>(k.W.w(static_cast<float>(r)) / k.W.w(0.0f));
  };
  double count = 0.0, layer = 0.0;
  for (int x = -2; x <= 2; ++x) {
    for (int y = -2; y <= 2; ++y) {
      for (int z = -2; z <= 2; ++z) {
        const double W = shape(d * std::sqrt(x * x + y * y + z * z));
        count += W;
        if (z == -1) layer += W;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(k.count) * count, 1.0, 1e-5);
  // An even sheet of samples at the distance d, 0.63 d apart.
  const double step = 0.63 * d, weight = 28.0 / 9.0 / kPi * 0.63 * 0.63;
  double sheet = 0.0;
  for (int i = -10; i <= 10; ++i) {
    for (int j = -10; j <= 10; ++j) {
      sheet += weight * shape(std::hypot(d, std::hypot(i * step, j * step)));
    }
  }
  EXPECT_NEAR(static_cast<double>(k.wall_count) * sheet / layer, 1.0, 0.01);
  EXPECT_GT(h, 0.0);
}

Sym3 random_stress(const Random& random, std::uint64_t i) {
  const auto at = [&](std::uint32_t n) { return 2000.0f * (random.uniform(i, n) - 0.5f); };
  return {at(0), at(1), at(2), at(3), at(4), at(5)};
}

TEST(GsphYield, StressEndsOnOrInsideTheSurface) {
  const Random random(1);
  const gsph::Yield round{false}, box{true};
  const gsph::Matter sand{1600.0f, 1.0f, std::sqrt(2.0f) * 0.577f, 0.0f, 0.0f, true};
  gsph::Matter soil = sand;
  soil.cohesion = 300.0f;
  int clamped = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const Sym3 tried = random_stress(random, i);
    const float p = 500.0f * random.uniform(i, 7), beta = random.uniform(i, 8);
    const Sym3 s = round(tried, sand, p, 1.0f);
    EXPECT_LE(frobenius_norm(s), sand.friction * p * 1.0001f + 1e-3f);
    EXPECT_NEAR(trace(s), 0.0f, 1e-3f);
    clamped += frobenius_norm(deviator(tried)) > sand.friction * p ? 1 : 0;
    const Sym3 t = round(tried, soil, p, beta);
    const float C = beta * beta * soil.cohesion;
    EXPECT_LE(frobenius_norm(deviator(t)),
              (soil.friction * p + std::sqrt(2.0f) * C) * 1.0001f + 1e-3f);
    EXPECT_GE(trace(t) / 3.0f, -1e-3f);
    EXPECT_LE(trace(t) / 3.0f, C + 1e-3f);
    EXPECT_LE(largest_entry(box(tried, sand, p, 1.0f)), 1.34f * sand.friction * p + 1e-3f);
  }
  EXPECT_GT(clamped, 100) << "control: most are";
  EXPECT_LT(clamped, 1000) << "and some are inside as they come";
}

TEST(GsphYield, NothingIsCarriedWithoutPressureAndCohesion) {
  const gsph::Matter sand{1600.0f, 1.0f, 0.8f, 0.0f, 0.0f, true};
  const Sym3 s = gsph::Yield{false}({100.0f, -40.0f, 7.0f, 3.0f, 50.0f, -9.0f}, sand, 0.0f, 1.0f);
  EXPECT_EQ(frobenius_norm(s), 0.0f);
}

// d beta / dt = -(|e| - e0) / e_f above e0; (1 - beta) / t_heal at rest under pressure.
TEST(GsphBonds, BreakByStrainAndHealAtRest) {
  const gsph::Bonds bonds{1.0f, 0.05f, 2.0f};
  const float dt = 0.001f;
  float damage = 0.0f;
  for (int k = 0; k < 10; ++k) damage = bonds(damage, 3.0f, 100.0f, dt);
  EXPECT_NEAR(damage, 10 * dt * 2.0f / 0.05f, 1e-5f);
  const float broken = damage;
  for (int k = 0; k < 100; ++k) damage = bonds(damage, 0.5f, 100.0f, dt);
  EXPECT_EQ(damage, broken) << "between the two limits nothing happens";
  for (int k = 0; k < 1000; ++k) damage = bonds(damage, 0.0f, 0.0f, dt);
  EXPECT_EQ(damage, broken) << "nor without pressure";
  for (int k = 0; k < 2000; ++k) damage = bonds(damage, 0.0f, 100.0f, dt);
  EXPECT_NEAR(damage, broken * std::exp(-1.0f), 0.01f * broken);
  for (int k = 0; k < 2000; ++k) damage = bonds(damage, 50.0f, 100.0f, dt);
  EXPECT_EQ(damage, 1.0f) << "no bond breaks twice";
}

TEST(GsphLattice, SoftnessIsAsPublished) {
  EXPECT_NEAR(gsph::softness(9.81, 1.0, 0.001, 0.02, 5), 2.0 * 50.0 * 9.81e-6 / 0.02 / 5.0, 1e-9);
}

}  // namespace
}  // namespace barchan
