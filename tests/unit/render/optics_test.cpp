// Closed forms of how light meets surfaces, and numbers that are spread as they should.
#include "render/optics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "render/sampler.h"

namespace barchan {
namespace {

TEST(Optics, FresnelAtTheAnglesThatOneKnows) {
  const float n = 1.333f;
  // Straight on: ((n - 1) / (n + 1))^2, from either side
  const float straight = std::pow((n - 1.0f) / (n + 1.0f), 2.0f);
  EXPECT_NEAR(fresnel(1.0f, n), straight, 1e-6f);
  EXPECT_NEAR(fresnel(1.0f, 1.0f / n), straight, 1e-6f);
  EXPECT_NEAR(fresnel(0.0f, n), 1.0f, 1e-6f);
  // Brewster's angle, tan = n: all of the p part goes through, and of the s part
  // ((n^2 - 1) / (n^2 + 1))^2 comes back
  const float brewster = 1.0f / std::sqrt(1.0f + n * n);
  EXPECT_NEAR(fresnel(brewster, n), 0.5f * std::pow((n * n - 1) / (n * n + 1), 2.0f), 1e-6f);
  // Beyond the critical angle, sin = 1 / n, nothing leaves the water
  const float critical = std::sqrt(1.0f - 1.0f / (n * n));
  EXPECT_EQ(fresnel(critical - 1e-3f, 1.0f / n), 1.0f);
  EXPECT_LT(fresnel(critical + 1e-3f, 1.0f / n), 1.0f);
  EXPECT_NEAR(fresnel(0.3f, 1.0f), 0.0f, 1e-6f);  // the same on both sides: no border
}

TEST(Optics, RefractionKeepsToSnellAndComesBack) {
  const float n = 1.333f;
  for (const float angle : {0.0f, 0.3f, 0.8f, 1.4f}) {
    const Vec3 way(std::sin(angle), -std::cos(angle), 0.0f), up(0, 1, 0);
    const Vec3 in = refracted(way, up, n);
    EXPECT_NEAR(in.x * n, way.x, 1e-5f);
    EXPECT_LT(in.y, 0.0f);
    const Vec3 out = refracted(in, up, 1.0f / n);
    EXPECT_NEAR(length(out - way), 0.0f, 1e-4f);
    EXPECT_NEAR(reflected(way, up).y, -way.y, 1e-6f);
    // As much goes one way as the other
    EXPECT_NEAR(fresnel(-way.y, n), fresnel(-in.y, 1.0f / n), 1e-4f);
  }
}

TEST(Optics, OrenNayarIsLambertWhereSmoothAndBrighterTowardsTheLightWhereRough) {
  const Vec3 up(0, 1, 0), in = normalized(Vec3(1, 0.6f, 0));
  const Vec3 back = in, beyond = normalized(Vec3(-1, 0.6f, 0));
  EXPECT_EQ(oren_nayar(up, in, back, 0.0f), 1.0f);
  EXPECT_GT(oren_nayar(up, in, back, 0.5f), oren_nayar(up, in, beyond, 0.5f));
  // The same both ways round (Helmholtz)
  const Vec3 a = normalized(Vec3(0.3f, 0.8f, 0.2f)), b = normalized(Vec3(-0.1f, 0.4f, 0.9f));
  EXPECT_NEAR(oren_nayar(up, a, b, 0.4f), oren_nayar(up, b, a, 0.4f), 1e-6f);
}

TEST(Optics, DirectionsHaveTheDensityTheyShould) {
  const Vec3 axis = normalized(Vec3(1, -2, 3));
  constexpr int kSide = 64;
  Vec3 mean, cone;
  for (int i = 0; i < kSide * kSide; ++i) {
    const float u = (static_cast<float>(i % kSide) + 0.5f) / kSide;
    const float v = (static_cast<float>(i / kSide) + 0.5f) / kSide;
    mean += cosine_direction(axis, u, v) / (kSide * kSide);
    cone += cone_direction(axis, 0.9f, u, v) / (kSide * kSide);
  }
  // Mean of z with density cos / pi is 2/3; of a cap evenly, half of 1 + cosine
  EXPECT_NEAR(length(mean - 2.0f / 3.0f * axis), 0.0f, 1e-3f);
  EXPECT_NEAR(length(cone - 0.95f * axis), 0.0f, 1e-3f);
}

TEST(Sampler, EveryPairIsStratifiedAndPairsAreNotAlike) {
  constexpr std::uint32_t kSamples = 256;
  Sampler sampler(12345);
  std::vector<std::vector<Pair>> pairs(3);
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    sampler.begin(s);
    for (auto& list : pairs) list.push_back(sampler.pair());
  }
  for (const auto& list : pairs) {
    // One sample in each of 256 boxes, for every shape of box: a (0, 8, 2) net
    for (int bits = 0; bits <= 8; ++bits) {
      std::vector<int> count(kSamples, 0);
      for (const Pair& p : list) {
        const auto x = static_cast<int>(p.a * static_cast<float>(1 << bits));
        const auto y = static_cast<int>(p.b * static_cast<float>(1 << (8 - bits)));
        ++count[static_cast<std::size_t>((x << (8 - bits)) + y)];
      }
      for (const int c : count) ASSERT_EQ(c, 1) << bits;
    }
  }
  // Between two pairs there is no correlation
  double sum = 0.0;
  for (std::uint32_t s = 0; s < kSamples; ++s) {
    sum += (pairs[0][s].a - 0.5) * (pairs[1][s].a - 0.5);
  }
  EXPECT_LT(std::fabs(sum / kSamples), 0.02);
}

TEST(Sampler, PixelsDiffer) {
  Sampler one(1), two(2), again(1);
  one.begin(0), two.begin(0), again.begin(0);
  const float a = one.number();
  EXPECT_NE(a, two.number());
  EXPECT_EQ(a, again.number());
}

}  // namespace
}  // namespace barchan
