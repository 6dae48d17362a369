// The symmetric eigen-decomposition: systems known by hand, degenerate ones, and reconstruction.
#include "math/eigen3.h"

#include <gtest/gtest.h>

#include "generators.h"

namespace barchan {
namespace {

using testing::difference;
using testing::draw_matrix;
using testing::draw_rotation;
using testing::draw_vector;
using testing::number;
using testing::rotation_error;

template <class T>
Matrix3<T> rebuild(const Eigen3<T>& e) {
  return e.vectors * Matrix3<T>::diagonal(e.values) * transpose(e.vectors);
}

TEST(Eigen3, KnownSystem) {
  // [[2, 1, 0], [1, 2, 0], [0, 0, -5]]: 3 along (1, 1, 0), 1 along (1, -1, 0), -5 along z.
  const Eigen3<double> e = eigen_symmetric(Sym3d(2, 2, -5, 1, 0, 0));
  EXPECT_LT(difference(e.values, Vec3d(3, 1, -5)), 1e-15);
  const double r = std::sqrt(0.5);
  EXPECT_NEAR(std::fabs(dot(e.vectors.column(0), Vec3d(r, r, 0))), 1.0, 1e-15);
  EXPECT_NEAR(std::fabs(dot(e.vectors.column(1), Vec3d(r, -r, 0))), 1.0, 1e-15);
  EXPECT_NEAR(std::fabs(e.vectors(2, 2)), 1.0, 1e-15);
}

TEST(Eigen3, SecondDifferenceMatrixHasEigenvaluesTwoAndTwoPlusMinusRootTwo) {
  const Eigen3<float> e = eigen_symmetric(Sym3(2, 2, 2, -1, 0, -1));
  const float root = std::sqrt(2.0f);
  EXPECT_LT(difference(e.values, Vec3(2.0f + root, 2.0f, 2.0f - root)), 1e-6);
}

TEST(Eigen3, DiagonalsAreSortedWhateverTheirOrder) {
  for (const Vec3& d :
       {Vec3(1, 2, 3), Vec3(1, 3, 2), Vec3(2, 1, 3), Vec3(2, 3, 1), Vec3(3, 1, 2), Vec3(3, 2, 1)}) {
    const Eigen3<float> e = eigen_symmetric(Sym3::diagonal(d));
    EXPECT_EQ(e.values, Vec3(3, 2, 1));
    EXPECT_EQ(determinant(e.vectors), 1.0f);
    EXPECT_EQ(rebuild(e), Mat3::diagonal(d));
  }
}

TEST(Eigen3, ZeroAndIsotropicMatricesGiveTheIdentityFrame) {
  const Eigen3<float> zero = eigen_symmetric(Sym3());
  EXPECT_EQ(zero.values, Vec3());
  EXPECT_EQ(zero.vectors, Mat3::identity());
  const Eigen3<float> same = eigen_symmetric(7.0f * Sym3::identity());
  EXPECT_EQ(same.values, Vec3(7, 7, 7));
  EXPECT_EQ(same.vectors, Mat3::identity());
}

TEST(Eigen3, ExtremeSizesKeepTheirDigits) {
  for (const float size : {1e-40f, 1e-30f, 1e30f, 1e37f}) {
    const Eigen3<float> e = eigen_symmetric(Sym3(2, 2, -5, 1, 0, 0) * size);
    // A subnormal number has fewer digits.
    const double tolerance = size < 1e-38f ? 1e-4 : 1e-6;
    EXPECT_LT(difference(e.values / size, Vec3(3, 1, -5)), tolerance) << size;
    EXPECT_LT(rotation_error(e.vectors), 1e-6) << size;
  }
}

RC_GTEST_PROP(Eigen3, RebuildsAnyMatrixInFloatAndDouble, ()) {
  const Sym3d s = symmetric_part(draw_matrix());
  const Eigen3<double> d = eigen_symmetric(s);
  RC_ASSERT(difference(rebuild(d), to_matrix(s)) < 1e-14);
  RC_ASSERT(rotation_error(d.vectors) < 1e-14);
  RC_ASSERT(d.values.x >= d.values.y && d.values.y >= d.values.z);

  const Eigen3<float> f = eigen_symmetric(Sym3(s));
  RC_ASSERT(difference(rebuild(f), to_matrix(Sym3(s))) < 5e-6);
  RC_ASSERT(rotation_error(f.vectors) < 5e-6);
  RC_ASSERT(f.values.x >= f.values.y && f.values.y >= f.values.z);
  RC_ASSERT(difference(Vec3d(f.values), d.values) < 5e-6);
}

// Two of three eigenvalues equal or nearly so, or zero: the closed form loses half its digits here.
RC_GTEST_PROP(Eigen3, RepeatedEigenvaluesAreFoundInFloat, ()) {
  const double a = *number(0.5, 2.0), gap = *rc::gen::element(0.0, 1e-7, 1e-5, 1e-3);
  const double c = *rc::gen::element(0.0, 0.25, -1.0);
  const Mat3d r = to_matrix(draw_rotation());
  const Mat3d m = r * Mat3d::diagonal({a, c, a + gap}) * transpose(r);
  const Eigen3<float> e = eigen_symmetric(Sym3(symmetric_part(m)));
  RC_ASSERT(difference(Vec3d(e.values), Vec3d(a + gap, a, c)) < 5e-6);
  RC_ASSERT(rotation_error(e.vectors) < 5e-6);
  // The lone eigenvector is well defined: the second column of r, up to its sign.
  RC_ASSERT(std::fabs(dot(Vec3d(e.vectors.column(2)), r.column(1))) > 1.0 - 1e-5);
}

RC_GTEST_PROP(Eigen3, RankOneMatricesHaveTwoZeroEigenvalues, ()) {
  const Vec3d v = draw_vector();
  RC_PRE(length(v) > 1e-3);
  const Eigen3<float> e = eigen_symmetric(Sym3(symmetric_part(outer(v, v))));
  const double size = length_squared(v);
  RC_ASSERT(difference(Vec3d(e.values) / size, Vec3d(1, 0, 0)) < 3e-6);
  RC_ASSERT(rotation_error(e.vectors) < 5e-6);
}

}  // namespace
}  // namespace barchan
