// What solids leave open, and how deep a cell lies, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "solvers/flip/liquid_kernels.h"

namespace barchan::flip {
namespace {

// The part of the unit square beyond a line, by counting points.
double counted(double nx, double ny, double at) {
  int open = 0;
  constexpr int kPoints = 400;
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < kPoints; ++j) {
      const double x = (i + 0.5) / kPoints, y = (j + 0.5) / kPoints;
      open += nx * x + ny * y > at ? 1 : 0;
    }
  }
  return static_cast<double>(open) / (kPoints * kPoints);
}

TEST(FlipFractions, OpenAreaIsExactForLines) {
  for (const double angle : {0.0, 0.3, 1.0, 2.0, 3.5, 5.0}) {
    const double nx = std::cos(angle), ny = std::sin(angle);
    for (const double at : {-0.9, -0.3, 0.1, 0.4, 0.8, 1.2}) {
      const auto d = [&](double x, double y) { return static_cast<float>(nx * x + ny * y - at); };
      EXPECT_NEAR(static_cast<double>(open_area(d(0, 0), d(1, 0), d(1, 1), d(0, 1))),
                  counted(nx, ny, at), 4e-3);
    }
  }
}

// Fill of a hat about the middle of a cell under a level surface s cells above it.
TEST(FlipFractions, DepthIsTheFillTurnedRound) {
  for (double s = -0.95; s < 1.0; s += 0.1) {
    double fill = 0.0;
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
      const double z = -1.0 + 2.0 * (i + 0.5) / kSteps;
      if (z < s) fill += (1.0 - std::abs(z)) * 2.0 / kSteps;
    }
    EXPECT_NEAR(static_cast<double>(depth_of_fill(static_cast<float>(fill))), s, 1e-3);
  }
  EXPECT_EQ(depth_of_fill(1.3f), 1.0f);
  EXPECT_EQ(depth_of_fill(0.0f), -1.0f);
}

}  // namespace
}  // namespace barchan::flip
