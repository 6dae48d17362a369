// Matrix3 and Symmetric3: the algebra against hand-computed numbers and against each other.
#include "math/mat3.h"

#include <gtest/gtest.h>

#include "generators.h"
#include "math/sym3.h"

namespace barchan {
namespace {

using testing::difference;
using testing::draw_matrix;
using testing::draw_vector;

constexpr Mat3d kA(2, -1, 3, 0, 4, 5, 7, 1, -6);

TEST(Mat3, IndexesRowThenColumn) {
  EXPECT_EQ(kA(0, 2), 3.0);
  EXPECT_EQ(kA(2, 0), 7.0);
  EXPECT_EQ(kA.row(1), Vec3d(0, 4, 5));
  EXPECT_EQ(kA.column(1), Vec3d(-1, 4, 1));
  EXPECT_EQ(transpose(kA).row(0), Vec3d(2, 0, 7));
  Mat3d m;
  m(1, 2) = 8.0;
  EXPECT_EQ(m * Vec3d(0, 0, 1), Vec3d(0, 8, 0));
  EXPECT_EQ(Mat3d::from_rows({2, -1, 3}, {0, 4, 5}, {7, 1, -6}), kA);
  EXPECT_EQ(Mat3d::from_columns({2, 0, 7}, {-1, 4, 1}, {3, 5, -6}), kA);
}

TEST(Mat3, HandComputedProductsAndInvariants) {
  constexpr Mat3d b(1, 2, 0, -1, 0, 3, 2, 2, 1);
  EXPECT_EQ(kA * Vec3d(1, 2, 3), Vec3d(9, 23, -9));
  EXPECT_EQ(kA * b, Mat3d(9, 10, 0, 6, 10, 17, -6, 2, -3));
  EXPECT_EQ(kA + b, Mat3d(3, 1, 3, -1, 4, 8, 9, 3, -5));
  EXPECT_EQ(kA - b, Mat3d(1, -3, 3, 1, 4, 2, 5, -1, -7));
  EXPECT_EQ(-kA, kA * -1.0);
  EXPECT_EQ(2.0 * kA, kA + kA);
  EXPECT_EQ(kA / 2.0, kA * 0.5);
  EXPECT_EQ(determinant(kA), -177.0);
  EXPECT_EQ(trace(kA), 0.0);
  EXPECT_DOUBLE_EQ(frobenius_norm(kA), std::sqrt(141.0));
  EXPECT_EQ(largest_entry(kA), 7.0);
  EXPECT_EQ(outer(Vec3d(1, 2, 3), Vec3d(4, 5, 6)), Mat3d(4, 5, 6, 8, 10, 12, 12, 15, 18));
}

TEST(Mat3, InverseOfSmallAndLargeFloatsKeepsItsDigits) {
  // The determinant alone would be 1e-60 and 1e60, both outside float.
  for (const float size : {1e-20f, 1.0f, 1e20f}) {
    const Mat3 a = Mat3(kA) * size;
    EXPECT_LT(difference(a * inverse(a), Mat3::identity()), 2e-6) << size;
  }
}

TEST(Mat3, InverseOfASingularMatrixIsNotFinite) {
  const Mat3 singular = Mat3::diagonal({1.0f, 2.0f, 0.0f});
  EXPECT_FALSE(std::isfinite(frobenius_norm(inverse(singular))));
}

RC_GTEST_PROP(Mat3, InverseUndoesTheMatrix, ()) {
  const Mat3d a = draw_matrix();
  RC_PRE(std::fabs(determinant(a)) > 1e-3);
  RC_ASSERT(difference(inverse(a) * a, Mat3d::identity()) < 1e-11);
  RC_ASSERT(difference(a * inverse(a), Mat3d::identity()) < 1e-11);
}

RC_GTEST_PROP(Mat3, DeterminantOfAProductIsTheProduct, ()) {
  const Mat3d a = draw_matrix(), b = draw_matrix();
  RC_ASSERT(std::fabs(determinant(a * b) - determinant(a) * determinant(b)) < 1e-13);
  RC_ASSERT(difference(transpose(a * b), transpose(b) * transpose(a)) < 1e-15);
}

RC_GTEST_PROP(Mat3, SkewIsTheCrossProductAndOuterTheProjection, ()) {
  const Vec3d a = draw_vector(), b = draw_vector(), c = draw_vector();
  RC_ASSERT(difference(skew(a) * b, cross(a, b)) < 1e-15);
  RC_ASSERT(difference(outer(a, b) * c, a * dot(b, c)) < 1e-14);
}

TEST(Sym3, HandComputedNumbers) {
  constexpr Sym3d s(1, 2, 6, 4, 5, -3), t(2, 0, 1, 1, -1, 2);
  EXPECT_EQ(s * Vec3d(1, 2, 3), Vec3d(1 + 8 + 15, 4 + 4 - 9, 5 - 6 + 18));
  EXPECT_EQ(trace(s), 9.0);
  EXPECT_EQ(double_contraction(s, t), 2.0 + 0.0 + 6.0 + 2.0 * (4.0 - 5.0 - 6.0));
  EXPECT_EQ(deviator(s), Sym3d(-2, -1, 3, 4, 5, -3));
  EXPECT_DOUBLE_EQ(frobenius_norm(s), std::sqrt(141.0));
  EXPECT_EQ(largest_entry(-s), 6.0);
  EXPECT_EQ(s + t - t * 2.0, s - t);
  EXPECT_EQ(0.5 * s, s / 2.0);
  EXPECT_EQ(symmetric_part(kA), Sym3d(2, 4, -6, -0.5, 5, 3));
}

RC_GTEST_PROP(Sym3, AgreesWithTheFullMatrix, ()) {
  const Mat3d a = draw_matrix(), b = draw_matrix();
  const Vec3d v = draw_vector();
  const Sym3d s = symmetric_part(a), t = symmetric_part(b);
  const Mat3d full = to_matrix(s);
  RC_ASSERT(full == 0.5 * (a + transpose(a)));
  RC_ASSERT(symmetric_part(full) == s);
  RC_ASSERT(difference(s * v, full * v) < 1e-15);
  RC_ASSERT(std::fabs(double_contraction(s, t) - trace(full * to_matrix(t))) < 1e-14);
  RC_ASSERT(std::fabs(frobenius_norm(s) - frobenius_norm(full)) < 1e-14);
  RC_ASSERT(largest_entry(s) == largest_entry(full));
  RC_ASSERT(std::fabs(trace(deviator(s))) < 1e-15);
}

}  // namespace
}  // namespace barchan
