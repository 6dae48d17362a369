// The SVD and the polar decomposition: reconstruction, rotations, signs, and singular matrices.
#include "math/svd3.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "generators.h"

namespace barchan {
namespace {

using testing::difference;
using testing::draw_direction;
using testing::draw_matrix;
using testing::draw_rotation;
using testing::number;
using testing::rotation_error;

template <class T>
Matrix3<T> rebuild(const Svd3<T>& d) {
  return d.u * Matrix3<T>::diagonal(d.s) * transpose(d.v);
}
template <class T>
bool is_ordered(const Vector3<T>& s, T rounding) {
  return s.x + rounding >= s.y && s.y + rounding >= std::fabs(s.z) && s.y >= -rounding;
}

RC_GTEST_PROP(Svd3, RebuildsAnyMatrixFromTwoRotations, ()) {
  const Mat3d a = draw_matrix();
  const Svd3<double> d = svd(a);
  RC_ASSERT(difference(rebuild(d), a) < 1e-14);
  RC_ASSERT(rotation_error(d.u) < 1e-14);
  RC_ASSERT(rotation_error(d.v) < 1e-14);
  RC_ASSERT(is_ordered(d.s, 1e-14));

  const Svd3<float> f = svd(Mat3(a));
  RC_ASSERT(difference(rebuild(f), Mat3(a)) < 5e-6);
  RC_ASSERT(rotation_error(f.u) < 5e-6);
  RC_ASSERT(rotation_error(f.v) < 5e-6);
  RC_ASSERT(is_ordered(f.s, 1e-6f));
  RC_ASSERT(difference(Vec3d(f.s), d.s) < 5e-6);
}

// Built from known singular values, the sign of the determinant in the last.
RC_GTEST_PROP(Svd3, FindsTheSingularValuesItWasMadeOf, ()) {
  const double x = *number(1.0, 2.0), y = *number(0.5, 1.0), z = *number(-0.5, 0.5);
  const Mat3d u = to_matrix(draw_rotation()), v = to_matrix(draw_rotation());
  const Mat3d a = u * Mat3d::diagonal({x, y, z}) * transpose(v);
  RC_ASSERT(difference(svd(a).s, Vec3d(x, y, z)) < 1e-14);
  RC_ASSERT(difference(Vec3d(svd(Mat3(a)).s), Vec3d(x, y, z)) < 3e-6);
}

TEST(Svd3, SmallSingularValuesKeepTheirDigitsInFloat) {
  // Through A^T A the last value, squared to 1e-12 beside 1, would be lost in float.
  const Mat3 r = to_matrix(from_axis_angle(Vec3(1, 2, 3), 0.8f));
  const Svd3<float> d = svd(Mat3(r * Mat3::diagonal({1.0f, 1e-3f, 1e-6f})));
  EXPECT_NEAR(d.s.x, 1.0f, 1e-6f);
  EXPECT_NEAR(d.s.y, 1e-3f, 1e-8f);
  EXPECT_NEAR(d.s.z, 1e-6f, 1e-10f);
}

TEST(Svd3, AReflectionShowsInTheLastSingularValueOnly) {
  for (const Vec3& mirror : {Vec3(-3, 2, 1), Vec3(3, -2, 1), Vec3(3, 2, -1), Vec3(-3, -2, -1)}) {
    const Svd3<float> d = svd(Mat3::diagonal(mirror));
    EXPECT_LT(difference(d.s, Vec3(3, 2, -1)), 1e-6);
    EXPECT_LT(rotation_error(d.u), 1e-6);
    EXPECT_LT(rotation_error(d.v), 1e-6);
  }
}

TEST(Svd3, ZeroSubnormalAndHugeMatrices) {
  const Svd3<float> zero = svd(Mat3());
  EXPECT_EQ(zero.s, Vec3());
  EXPECT_EQ(zero.u, Mat3::identity());
  EXPECT_EQ(zero.v, Mat3::identity());
  for (const float size : {1e-40f, 1e-30f, 1e30f, 1e37f}) {
    const Svd3<float> d = svd(Mat3(0, 2, 0, 0, 0, 3, 1, 0, 0) * size);
    const double tolerance = size < 1e-38f ? 1e-4 : 1e-6;
    EXPECT_LT(difference(d.s / size, Vec3(3, 2, 1)), tolerance) << size;
    EXPECT_LT(rotation_error(d.u), 1e-6) << size;
    EXPECT_LT(rotation_error(d.v), 1e-6) << size;
  }
}

TEST(Svd3, SingleEntriesAndEqualColumns) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      Mat3 a;
      a(i, j) = -4.0f;
      const Svd3<float> d = svd(a);
      EXPECT_EQ(d.s, Vec3(4, 0, 0)) << i << j;
      EXPECT_EQ(rebuild(d), a) << i << j;
      EXPECT_LT(rotation_error(d.u), 1e-7) << i << j;
    }
  }
  const Svd3<float> ones = svd(Mat3(1, 1, 1, 1, 1, 1, 1, 1, 1));
  EXPECT_LT(difference(ones.s, Vec3(3, 0, 0)), 1e-6);
  EXPECT_LT(rotation_error(ones.u), 1e-6);
}

RC_GTEST_PROP(Svd3, RankDeficientMatricesStillHaveTwoRotations, ()) {
  const Vec3d a = draw_direction(), b = draw_direction(), c = draw_direction();
  const double second = *rc::gen::element(0.0, 1e-7, 1e-3, 1.0);
  const Mat3 m(outer(a, b) + outer(c, second * a));
  const Svd3<float> d = svd(m);
  RC_ASSERT(difference(rebuild(d), m) < 1e-5);
  RC_ASSERT(rotation_error(d.u) < 5e-6);
  RC_ASSERT(rotation_error(d.v) < 5e-6);
  RC_ASSERT(std::fabs(d.s.z) < 2e-6f);
}

RC_GTEST_PROP(Polar3, FindsTheRotationAndTheStretchItWasMadeOf, ()) {
  const Mat3d r = to_matrix(draw_rotation()), v = to_matrix(draw_rotation());
  const Vec3d stretch(*number(0.2, 2.0), *number(0.2, 2.0), *number(0.2, 2.0));
  const Mat3d s = v * Mat3d::diagonal(stretch) * transpose(v);
  const Polar3<double> p = polar(r * s);
  RC_ASSERT(difference(p.r, r) < 1e-13);
  RC_ASSERT(difference(to_matrix(p.s), s) < 1e-13);
}

RC_GTEST_PROP(Polar3, AlwaysARotationTimesASymmetricMatrix, ()) {
  Mat3d a = draw_matrix();
  const int kind = *rc::gen::element(0, 1, 2);
  if (kind == 1) a = outer(a.row(0), a.row(1));
  if (kind == 2) a = -a * determinant(a);
  const Polar3<float> p = polar(Mat3(a));
  RC_ASSERT(rotation_error(p.r) < 1e-5);
  RC_ASSERT(difference(p.r * to_matrix(p.s), Mat3(a)) < 1e-5);
}

TEST(Polar3, RotationsAndTheZeroMatrix) {
  const Polar3<float> zero = polar(Mat3());
  EXPECT_EQ(zero.r, Mat3::identity());
  EXPECT_EQ(zero.s, Sym3());
  const Mat3 turn = to_matrix(from_axis_angle(Vec3(-1, 4, 2), 2.5f));
  EXPECT_LT(difference(polar(turn).r, turn), 1e-6);
  // The nearest rotation to a mirror in the weakest axis leaves the other two alone.
  const Polar3<float> mirror = polar(Mat3::diagonal({3.0f, 2.0f, -1.0f}));
  EXPECT_LT(difference(mirror.r, Mat3::identity()), 1e-6);
  EXPECT_NEAR(mirror.s.zz, -1.0f, 1e-6f);
}

}  // namespace
}  // namespace barchan
