// Numbers of particles that lie anywhere, gathered into the lanes of vectors.
#include "compute/lanes.h"

#include <gtest/gtest.h>

#include <vector>

namespace barchan {
namespace {

constexpr std::uint32_t kMany = 97;

std::vector<std::uint32_t> scattered() {
  std::vector<std::uint32_t> index;
  for (std::uint32_t k = 0; k < kLanes; ++k) index.push_back((37 * k + 5) % kMany);
  return index;
}

TEST(Lanes, GatherPointsLaneByLane) {
  std::vector<Float4> points;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const auto n = static_cast<float>(i);
    points.push_back({n, n + 100.0f, n + 200.0f, n + 300.0f});
  }
  const std::vector<std::uint32_t> index = scattered();
  const auto found = gather(points.data(), index.data());
  for (int k = 0; k < kLanes; ++k) {
    const auto n = static_cast<float>(index[static_cast<std::size_t>(k)]);
    EXPECT_EQ(found.x[k], n) << "lane " << k;
    EXPECT_EQ(found.y[k], n + 100.0f) << "lane " << k;
    EXPECT_EQ(found.z[k], n + 200.0f) << "lane " << k;
    EXPECT_EQ(found.w[k], n + 300.0f) << "lane " << k;
  }
}

TEST(Lanes, GatherPairsLaneByLane) {
  std::vector<Float2> pairs;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const auto n = static_cast<float>(i);
    pairs.push_back({n, n + 100.0f});
  }
  const std::vector<std::uint32_t> index = scattered();
  const auto found = gather(pairs.data(), index.data());
  for (int k = 0; k < kLanes; ++k) {
    const auto n = static_cast<float>(index[static_cast<std::size_t>(k)]);
    EXPECT_EQ(found.x[k], n) << "lane " << k;
    EXPECT_EQ(found.y[k], n + 100.0f) << "lane " << k;
  }
}

}  // namespace
}  // namespace barchan
