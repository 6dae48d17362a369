// The smoothing kernels: formulas, unit integral, support, gradients, over millimetres to metres.
#include "math/sph_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "generators.h"

namespace barchan {
namespace {

using testing::difference;
using testing::draw_direction;
using testing::number;

// The published formulas, in double.
double formula(const Poly6&, double h, double r) {
  return 315.0 / (64.0 * kPi * std::pow(h, 9)) * std::pow(h * h - r * r, 3);
}
double formula(const Spiky&, double h, double r) {
  return 15.0 / (kPi * std::pow(h, 6)) * std::pow(h - r, 3);
}
double formula(const CubicSpline&, double h, double r) {
  const double q = r / h;
  const double shape = q <= 0.5 ? 6.0 * (q * q * q - q * q) + 1.0 : 2.0 * std::pow(1.0 - q, 3);
  return 8.0 / (kPi * h * h * h) * shape;
}

template <class Kernel>
class SphKernel : public ::testing::Test {};
using Kernels = ::testing::Types<Poly6, Spiky, CubicSpline>;
TYPED_TEST_SUITE(SphKernel, Kernels);

TYPED_TEST(SphKernel, IsThePublishedFormula) {
  for (const float h : {2e-5f, 1e-3f, 0.1f, 1.0f, 50.0f}) {
    const TypeParam kernel(h);
    const double peak = formula(kernel, h, 0.0);
    for (int k = 0; k < 100; ++k) {
      const float r = h * static_cast<float>(k) / 100.0f;
      EXPECT_NEAR(kernel.w(r) / peak, formula(kernel, h, r) / peak, 1e-6) << h << " " << k;
    }
  }
}

TYPED_TEST(SphKernel, IntegratesToOne) {
  for (const float h : {1e-3f, 0.04f, 1.0f, 20.0f}) {
    // Midpoint rule over shells, out to 1.2 h so that anything beyond the support would count.
    const TypeParam kernel(h);
    const int shells = 2000;
    const double dr = 1.2 * h / shells;
    double sum = 0.0;
    for (int k = 0; k < shells; ++k) {
      const double r = (k + 0.5) * dr;
      sum += 4.0 * kPi * r * r * dr * kernel.w(static_cast<float>(r));
    }
    EXPECT_NEAR(sum, 1.0, 1e-4) << h;
  }
}

TYPED_TEST(SphKernel, GradientIsTheCentralDifference) {
  const float h = 0.1f;
  const TypeParam kernel(h);
  const Vec3d along = normalized(Vec3d(0.3, -0.5, 0.8));
  for (int k = 1; k < 50; ++k) {
    // Of the formula in double: float differences would test rounding only.
    const double r = h * k / 50.0, d = 1e-6;
    const double slope = (formula(kernel, h, r + d) - formula(kernel, h, r - d)) / (2.0 * d);
    const Vec3d expected = along * slope;
    const double scale = 1.0 / (double(h) * h * h * h);
    EXPECT_LT(difference(Vec3d(kernel.grad(Vec3(along * r))), expected), 3e-5 * scale) << k;
    const double factor = kernel.grad_factor(static_cast<float>(r));
    EXPECT_LT(difference(along * (r * factor), expected), 3e-5 * scale) << k;
  }
}

TYPED_TEST(SphKernel, IsZeroNotNanAtTheOriginsGradient) {
  for (const float h : {1e-4f, 0.1f, 10.0f}) {
    const TypeParam kernel(h);
    EXPECT_EQ(kernel.grad(Vec3()), Vec3());
    EXPECT_TRUE(std::isfinite(kernel.grad_factor(0.0f)));
    // Just off the origin it stays within the steepest slope there is, Spiky's 45 / (pi h^4).
    for (const float off : {1e-30f, 1e-9f, 1e-6f, 1e-3f}) {
      const Vec3 g = kernel.grad(Vec3(off * h, 0.0f, 0.0f));
      EXPECT_LE(std::fabs(g.x) * h * h * h * h, 14.33f) << off;
      EXPECT_TRUE(is_finite(g)) << off;
    }
  }
}

TYPED_TEST(SphKernel, IsZeroFromTheSupportOn) {
  EXPECT_TRUE(rc::check("zero at r >= h for any h", [] {
    const float h = static_cast<float>(std::pow(10.0, *number(-4.0, 2.0)));
    const TypeParam kernel(h);
    for (const float times : {1.0f, 1.0001f, 2.0f, 1e4f}) {
      RC_ASSERT(kernel.w(times * h) == 0.0f);
      RC_ASSERT(kernel.grad_factor(times * h) == 0.0f);
      RC_ASSERT(kernel.grad(Vec3(0.0f, -times * h, 0.0f)) == Vec3());
    }
    RC_ASSERT(kernel.w(0.9f * h) > 0.0f);
    RC_ASSERT(kernel.grad_factor(0.9f * h) < 0.0f);
  }));
}

TYPED_TEST(SphKernel, PushesApartAndFallsWithDistance) {
  EXPECT_TRUE(rc::check("antisymmetric gradient, monotone kernel", [] {
    const TypeParam kernel(0.2f);
    const Vec3 r_ij(draw_direction() * *number(0.001, 0.199));
    RC_ASSERT(kernel.grad(-r_ij) == -kernel.grad(r_ij));
    RC_ASSERT(dot(kernel.grad(r_ij), r_ij) < 0.0f);
    const float r = length(r_ij);
    RC_ASSERT(kernel.w(0.98f * r) > kernel.w(r));
  }));
}

TEST(Poly6, SquaredDistanceFormsAgree) {
  const Poly6 kernel(0.3f);
  for (const float r : {0.0f, 0.1f, 0.25f, 0.3f, 0.4f}) {
    EXPECT_EQ(kernel.w_r2(r * r), kernel.w(r));
    EXPECT_EQ(kernel.grad_factor_r2(r * r), kernel.grad_factor(r));
  }
}

}  // namespace
}  // namespace barchan
