// The counter-based generator: published known answers, moments, and independence of its arguments.
#include "math/random.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace barchan {
namespace {

// kat_vectors of the Random123 library, philox4x32 with 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, 0, 0),
            (Block4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox4x32({f, f, f, f}, f, f),
            (Block4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0),
            (Block4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, ArgumentsAreTheWordsOfTheCounterAndTheKey) {
  const Random random{0x299f31d0a4093822};
  EXPECT_EQ(random.bits(0x85a308d3243f6a88, 0x13198a2e, 0x03707344),
            (Block4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  // The upper 24 bits of 0xd16cfe09, 0x94fdcceb and 0x5001e420.
  const Vec3 u = random.uniform3(0x85a308d3243f6a88, 0x13198a2e, 0x03707344);
  EXPECT_EQ(u * 16777216.0f, Vec3(float{0xd16cfe}, float{0x94fdcc}, float{0x5001e4}));
  EXPECT_EQ(random.uniform(0x85a308d3243f6a88, 0x13198a2e, 0x03707344), u.x);
}

TEST(Random, NoTwoDrawsAreTheSame) {
  // Neighbouring ids, streams, counters and seeds, and ids that differ in the upper word only.
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> seen;
  std::size_t draws = 0;
  for (std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (std::uint64_t id = 0; id < 200; ++id) {
      for (std::uint32_t stream = 0; stream < 8; ++stream) {
        for (std::uint32_t counter = 0; counter < 4; ++counter) {
          const std::uint64_t far = id % 2 == 0 ? id : id << 32;
          const Block4 n = Random{seed}.bits(far, stream, counter);
          seen.insert({n.a, n.b, n.c, n.d});
          ++draws;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), draws);
}

TEST(Random, SameArgumentsSameDraw) {
  const Random a{42}, b{42}, other{43};
  EXPECT_EQ(a.normal3(7, 1, 2), b.normal3(7, 1, 2));
  EXPECT_EQ(a.normal(7, 1, 2), a.normal3(7, 1, 2).x);
  EXPECT_EQ(a.uniform(7, 1), a.uniform(7, 1, 0));
  EXPECT_NE(a.uniform(7, 1), other.uniform(7, 1));
}

TEST(Random, UniformIsUniformInEachComponent) {
  // Chi-square over 64 bins: mean 63, standard deviation sqrt(126) = 11.2.
  constexpr int kBins = 64, kDraws = 64000;
  const Random random{2024};
  for (int axis = 0; axis < 3; ++axis) {
    std::array<int, kBins> count{};
    double sum = 0.0, square = 0.0;
    for (int id = 0; id < kDraws; ++id) {
      const float u = random.uniform3(static_cast<std::uint64_t>(id), 5)[axis];
      ASSERT_TRUE(u >= 0.0f && u < 1.0f);
      ++count[static_cast<std::size_t>(u * kBins)];
      sum += u;
      square += double(u) * u;
    }
    double chi2 = 0.0;
    for (const int n : count) chi2 += std::pow(n - kDraws / kBins, 2) / (kDraws / kBins);
    EXPECT_GT(chi2, 63.0 - 4.0 * 11.2) << axis;
    EXPECT_LT(chi2, 63.0 + 4.0 * 11.2) << axis;
    const double mean = sum / kDraws, deviation = std::sqrt(1.0 / 12.0 / kDraws);
    EXPECT_NEAR(mean, 0.5, 4.0 * deviation) << axis;
    EXPECT_NEAR(square / kDraws - mean * mean, 1.0 / 12.0, 2e-3) << axis;
  }
}

TEST(Random, NeighboursAreUncorrelated) {
  // The correlation of n independent pairs has a standard deviation of 1 / sqrt(n).
  constexpr int kDraws = 20000;
  const Random random{9};
  double ids = 0.0, streams = 0.0, counters = 0.0, axes = 0.0;
  for (std::uint64_t id = 0; id < kDraws; ++id) {
    const Vec3 here = random.normal3(id, 3, 1);
    ids += here.x * random.normal(id + 1, 3, 1);
    streams += here.x * random.normal(id, 4, 1);
    counters += here.x * random.normal(id, 3, 2);
    axes += here.x * here.y + here.y * here.z + here.z * here.x;
  }
  const double bound = 4.0 * std::sqrt(double{kDraws});
  EXPECT_LT(std::fabs(ids), bound);
  EXPECT_LT(std::fabs(streams), bound);
  EXPECT_LT(std::fabs(counters), bound);
  EXPECT_LT(std::fabs(axes), bound * std::sqrt(3.0));
}

TEST(Random, NormalHasTheMomentsAndTailsOfTheGaussian) {
  constexpr int kDraws = 60000;
  const Random random{1};
  for (int axis = 0; axis < 3; ++axis) {
    double m1 = 0.0, m2 = 0.0, m3 = 0.0, m4 = 0.0;
    int beyond_two = 0;
    for (std::uint64_t id = 0; id < kDraws; ++id) {
      const double x = random.normal3(id, 0)[axis];
      ASSERT_TRUE(std::isfinite(x));
      m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x;
      beyond_two += std::fabs(x) > 2.0;
    }
    // Standard deviations of the sample moments: sqrt(1, 2, 15, 96) / sqrt(n).
    const double sigma = 1.0 / std::sqrt(double{kDraws});
    EXPECT_NEAR(m1 / kDraws, 0.0, 4.0 * sigma) << axis;
    EXPECT_NEAR(m2 / kDraws, 1.0, 4.0 * sigma * std::sqrt(2.0)) << axis;
    EXPECT_NEAR(m3 / kDraws, 0.0, 4.0 * sigma * std::sqrt(15.0)) << axis;
    EXPECT_NEAR(m4 / kDraws, 3.0, 4.0 * sigma * std::sqrt(96.0)) << axis;
    EXPECT_NEAR(double(beyond_two) / kDraws, 0.0455, 4.0 * sigma * 0.21) << axis;
  }
}

TEST(Random, DirectionsAreUnitAndFavourNoSide) {
  constexpr int kDraws = 30000;
  const Random random{77};
  Vec3d mean, square;
  for (std::uint64_t id = 0; id < kDraws; ++id) {
    const Vec3 d = random.direction(id, 2);
    ASSERT_NEAR(length(d), 1.0f, 1e-6f);
    mean += Vec3d(d) / double{kDraws};
    square += Vec3d(multiply(d, d)) / double{kDraws};
  }
  // Each component has variance 1/3, its square variance 4/45.
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_NEAR(mean[axis], 0.0, 4.0 * std::sqrt(1.0 / 3.0 / kDraws)) << axis;
    EXPECT_NEAR(square[axis], 1.0 / 3.0, 4.0 * std::sqrt(4.0 / 45.0 / kDraws)) << axis;
  }
}

}  // namespace
}  // namespace barchan
