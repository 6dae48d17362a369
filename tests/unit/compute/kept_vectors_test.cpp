// Vectors kept beside neighbour lists: sums over them against sums over the points, and that what
// two particles keep of each other is opposite to the last bit.
#include "compute/kept_vectors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace barchan {
namespace {

// All are neighbours of all, which needs no search.
struct AllOfAll {
  View<const std::uint32_t> index;
  int others;
  int count(int) const { return others; }
  const std::uint32_t* list(int i) const { return index.data + i * others; }
};

// A vector of length up to 2 along each pair, and the sum of vectors times w.
struct AlongPair {
  static constexpr int kSums = 3;
  template <class T>
  static T scale(const Near<T>& j) {
    return positive(2.0f - 0.8f * (j.x * j.x + (j.y * j.y + j.z * j.z))) *
           inverse_sqrt(j.x * j.x + (j.y * j.y + (j.z * j.z + 1e-12f)));
  }
  template <class T>
  void operator()(const Near<T>& j, T* sums, T* kept) const {
    const T g = scale(j);
    kept[0] = g * j.x, kept[1] = g * j.y, kept[2] = g * j.z;
    for (int k = 0; k < 3; ++k) sums[k] += j.w * kept[k];
  }
};
struct TimesW {
  static constexpr int kSums = 3;
  template <class T>
  void operator()(const Near<T>& j, T* sums) const {
    sums[0] += j.w * j.x, sums[1] += j.w * j.y, sums[2] += j.w * j.z;
  }
};

class KeptVectorsOf : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const int n = GetParam();
    std::mt19937 random(7);
    std::uniform_real_distribution<float> place(-0.8f, 0.8f);
    for (int i = 0; i < n; ++i) {
      points.push_back({place(random), place(random), place(random), place(random)});
      numbers.push_back(points.back().w);
      for (int j = 0; j < n; ++j) {
        if (j != i) entries.push_back(static_cast<std::uint32_t>(j));
      }
    }
    // Lists can be read by whole vectors.
    const std::size_t used = entries.size();
    entries.resize(used + kLanes);
    for (auto* stored : {&x, &y, &z}) stored->assign(used + kLanes, 0xdead);
    lists = {{entries.data(), used}, n - 1};
    kept = {{x.data(), used}, {y.data(), used}, {z.data(), used}};
    for (int i = 0; i < n; ++i) {
      const Float4& p = points[static_cast<std::size_t>(i)];
      direct.push_back(sum_and_keep(lists, Packs<1>{{{points.data(), points.size()}}}, i,
                                    {p.x, p.y, p.z}, AlongPair{}, kept));
    }
  }
  std::vector<Float4> points;
  std::vector<float> numbers;
  std::vector<std::uint32_t> entries;
  std::vector<std::uint16_t> x, y, z;
  AllOfAll lists{};
  KeptVectors kept{};
  std::vector<Sums<3>> direct;
};

TEST_P(KeptVectorsOf, GiveTheSumsOfThePoints) {
  const NumberBeside number{{numbers.data(), numbers.size()}};
  for (int i = 0; i < GetParam(); ++i) {
    const Sums<3> sums = sum_kept(lists, kept, number, i, TimesW{});
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(sums[k], direct[static_cast<std::size_t>(i)][k], 3.1e-5 * GetParam());
    }
  }
}

TEST_P(KeptVectorsOf, AreOppositeForTheTwoOfAPair) {
  const int n = GetParam();
  const auto entry = [&](int i, int j) {
    return static_cast<std::size_t>(i * (n - 1) + j - (j > i ? 1 : 0));
  };
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      for (const auto* stored : {&x, &y, &z}) {
        EXPECT_EQ((*stored)[entry(i, j)] + (*stored)[entry(j, i)], 2 * 32768) << i << " " << j;
      }
    }
  }
}

// Whole vectors, and each number of entries behind them.
INSTANTIATE_TEST_SUITE_P(Counts, KeptVectorsOf,
                         ::testing::Values(2, 5, 8, 9, 16, 17, 24, 29, 32, 36));

}  // namespace
}  // namespace barchan
