// Piles of known shape, made of a lattice.
#include "harness/pile_measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/units.h"

namespace barchan {
namespace {

constexpr double kSpacing = 0.01;
const Vec3d kUp(0, 1, 0);

// Particles in the middles of the cubes of a lattice that `holds` says yes to.
template <class Holds>
std::vector<Vec3> lattice(const Vec3d& size, Holds holds) {
  std::vector<Vec3> points;
  for (double x = 0.5 * kSpacing - size.x; x < size.x; x += kSpacing) {
    for (double y = 0.5 * kSpacing; y < size.y; y += kSpacing) {
      for (double z = 0.5 * kSpacing - size.z; z < size.z; z += kSpacing) {
        if (holds(Vec3d(x, y, z))) points.emplace_back(Vec3d(x, y, z));
      }
    }
  }
  return points;
}

// A roof that falls by 30 degrees along x and by 20 along -x.
std::vector<Vec3> roof() {
  const double right = std::tan(radians(30.0)), left = std::tan(radians(20.0));
  return lattice({1.3, 0.41, 0.06},
                 [&](const Vec3d& p) { return p.y < 0.4 - (p.x > 0 ? right : -left) * p.x; });
}

TEST(PileMeasure, BothSidesOfARoof) {
  const PileProfile right = pile_profile(roof(), kSpacing, kUp, {1, 0, 0});
  const PileProfile left = pile_profile(roof(), kSpacing, kUp, {-1, 0, 0});
  EXPECT_NEAR(pile_angle(right), 30.0, 0.2);
  EXPECT_NEAR(pile_angle(left), 20.0, 0.2);
  EXPECT_NEAR(pile_height(right), 0.4, 0.01);
  // Half a cell high, which is one spacing.
  EXPECT_NEAR(pile_front(right), (0.4 - kSpacing) / std::tan(radians(30.0)), kSpacing);
  EXPECT_NEAR(pile_front(left), (0.4 - kSpacing) / std::tan(radians(20.0)), kSpacing);
}

// Tops do not ask what a particle stands for: with half of them gone below, the slope is the same,
// and the angle by volume is not.
TEST(PileMeasure, TopsHaveTheSlopeWhateverIsBelow) {
  std::vector<Vec3> hollow;
  int k = 0;
  for (const Vec3& p : roof()) {
    const double surface = 0.4 - std::tan(radians(p.x > 0.0f ? 30.0 : -20.0)) * double{p.x};
    if (++k % 2 == 0 || surface - double{p.y} < 2.0 * kSpacing) hollow.push_back(p);
  }
  EXPECT_NEAR(pile_angle(pile_tops(roof(), kSpacing, kUp, {1, 0, 0})), 30.0, 0.5);
  EXPECT_NEAR(pile_angle(pile_tops(hollow, kSpacing, kUp, {1, 0, 0})), 30.0, 0.5);
  EXPECT_NEAR(pile_angle(pile_tops(hollow, kSpacing, kUp, {-1, 0, 0})), 20.0, 0.5);
  EXPECT_LT(pile_angle(pile_profile(hollow, kSpacing, kUp, {1, 0, 0})), 22.0);
  EXPECT_NEAR(pile_height(pile_tops(roof(), kSpacing, kUp, {1, 0, 0})), 0.4, 0.02);
}

TEST(PileMeasure, WiderColumnsEndWhereThePileIsAsHighAsACoarserParticle) {
  const PileProfile coarse = pile_profile(roof(), kSpacing, kUp, {1, 0, 0}, 4.0);
  EXPECT_NEAR(pile_front(coarse), (0.4 - 2.0 * kSpacing) / std::tan(radians(30.0)), kSpacing);
}

TEST(PileMeasure, StraysDoNotCount) {
  std::vector<Vec3> points = roof();
  const double front = pile_front(pile_profile(points, kSpacing, kUp, {1, 0, 0}));
  for (int k = 0; k < 40; ++k) points.emplace_back(1.0 + 0.1 * k, 0.005, 0.0);
  const PileProfile profile = pile_profile(points, kSpacing, kUp, {1, 0, 0});
  EXPECT_NEAR(pile_front(profile), front, 1e-9);
  EXPECT_NEAR(pile_angle(profile), 30.0, 0.2);
}

TEST(PileMeasure, AGapInACarpetDoesNotEndIt) {
  const auto front = [](std::vector<double> heights) {  // in half widths
    return pile_front({2.0, 0.0, std::move(heights)});
  };
  EXPECT_DOUBLE_EQ(front({8, 4, 2, 0}), 5.0);
  EXPECT_DOUBLE_EQ(front({8, 4, 0.6, 1.5, 0}), front({8, 4, 1.0, 1.5, 0}));
  EXPECT_LT(front({8, 4, 0.4, 1.5, 0}), 4.0) << "too wide a gap";
  EXPECT_LT(front({8, 4, 0.6, 0.6, 1.5, 0}), 4.0) << "two columns";
}

TEST(PileMeasure, ABlockEndsWhereItEnds) {
  const std::vector<Vec3> block = lattice({0.2, 0.1, 0.05}, [](const Vec3d&) { return true; });
  const PileProfile profile = pile_profile(block, kSpacing, kUp, {0, 0, 1});
  EXPECT_NEAR(pile_height(profile), 0.1, 1e-9);
  EXPECT_NEAR(pile_front(profile), 0.05, 2.0 * kSpacing);
  EXPECT_TRUE(std::isnan(pile_angle(profile)));
}

TEST(PileMeasure, RingsAroundACone) {
  std::vector<Vec3> cone = lattice({0.7, 0.3, 0.7}, [](const Vec3d& p) {
    return p.y < 0.29 - std::tan(radians(25.0)) * std::hypot(p.x, p.z);
  });
  for (Vec3& p : cone) p += Vec3(3.0f, 0.0f, -2.0f);
  const PileProfile profile = pile_profile(cone, kSpacing, kUp, {});
  EXPECT_NEAR(pile_angle(profile), 25.0, 0.5);
  EXPECT_NEAR(pile_front(profile), (0.29 - kSpacing) / std::tan(radians(25.0)), 1.5 * kSpacing);
}

TEST(PileMeasure, NothingHasNoShape) {
  const PileProfile none = pile_profile({}, kSpacing, kUp, {1, 0, 0});
  EXPECT_TRUE(std::isnan(pile_front(none)));
  EXPECT_TRUE(std::isnan(pile_height(none)));
  EXPECT_TRUE(std::isnan(pile_angle(none)));
}

}  // namespace
}  // namespace barchan
