// Quaternions as orientations: composition, the matrix, the exponential map and interpolation.
#include "math/quat.h"

#include <gtest/gtest.h>

#include "generators.h"

namespace barchan {
namespace {

using testing::difference;
using testing::draw_direction;
using testing::draw_rotation;
using testing::draw_vector;
using testing::number;
using testing::rotation_error;

const Vec3d kX(1, 0, 0), kY(0, 1, 0), kZ(0, 0, 1);

TEST(Quat, QuarterTurnsAreRightHanded) {
  const Quatd x = from_axis_angle(kX, kPi / 2), z = from_axis_angle(kZ, kPi / 2);
  EXPECT_LT(difference(rotate(z, kX), kY), 1e-15);
  EXPECT_LT(difference(rotate(x, kY), kZ), 1e-15);
  EXPECT_LT(difference(inverse_rotate(z, kY), kX), 1e-15);
  // The right factor turns first: x to y by z, then y to z by x; the other order leaves y.
  EXPECT_LT(difference(rotate(x * z, kX), kZ), 1e-15);
  EXPECT_LT(difference(rotate(z * x, kX), kY), 1e-15);
}

TEST(Quat, AxisNeedNoLengthAndAZeroAxisTurnsNothing) {
  EXPECT_LT(difference(from_axis_angle(5.0 * kZ, 0.7), from_axis_angle(kZ, 0.7)), 1e-15);
  EXPECT_EQ(from_axis_angle(Vec3d(), kPi), Quatd::identity());
  EXPECT_EQ(normalized(Quatd(0, 0, 0, 0)), Quatd::identity());
  EXPECT_EQ(Quatd(), Quatd::identity());
}

RC_GTEST_PROP(Quat, ProductComposesAndConjugateUndoes, ()) {
  const Quatd a = draw_rotation(), b = draw_rotation();
  const Vec3d v = draw_vector();
  RC_ASSERT(difference(rotate(a * b, v), rotate(a, rotate(b, v))) < 1e-14);
  RC_ASSERT(difference(inverse_rotate(a, rotate(a, v)), v) < 1e-14);
  RC_ASSERT(std::fabs(length(rotate(a, v)) - length(v)) < 1e-14);
}

RC_GTEST_PROP(Quat, MatrixIsTheSameRotationAndComesBack, ()) {
  const Quatd q = draw_rotation();
  const Vec3d v = draw_vector();
  RC_ASSERT(rotation_error(to_matrix(q)) < 1e-14);
  RC_ASSERT(difference(to_matrix(q) * v, rotate(q, v)) < 1e-14);
  RC_ASSERT(difference(from_rotation_matrix(to_matrix(q)), q) < 1e-14);
}

TEST(Quat, MatrixComesBackForHalfTurns) {
  for (const Vec3d& axis :
       {kX, kY, kZ, Vec3d(0, 0.6, -0.8), Vec3d(0, 1, 1e-6), Vec3d(0.6, 0, 0.8)}) {
    const Quatd q = from_axis_angle(axis, kPi);
    EXPECT_LT(difference(from_rotation_matrix(to_matrix(q)), q), 1e-15);
  }
}

RC_GTEST_PROP(Quat, RotationVectorIsTheLogarithm, ()) {
  const Quatd from = draw_rotation();
  const Vec3d turn = draw_direction() * *number(0.0, 0.999 * kPi);
  const Quatd to = from_rotation_vector(turn) * from;
  RC_ASSERT(difference(rotation_vector(from, to), turn) < 1e-12);
  RC_ASSERT(difference(rotation_vector(from, -to), turn) < 1e-12);
  RC_ASSERT(difference(angular_velocity(from, to, 0.25), 4.0 * turn) < 1e-11);
}

TEST(Quat, RotationVectorGoesTheShorterWay) {
  const Quatd from = from_axis_angle(kZ, 0.1), to = from_axis_angle(kZ, 0.1 + 1.5 * kPi);
  EXPECT_LT(difference(rotation_vector(from, to), -0.5 * kPi * kZ), 1e-14);
  // Not exactly zero where the compiler contracts a b - b a to a fused multiply-add.
  EXPECT_LT(length(rotation_vector(from, from)), 1e-16);
}

TEST(Quat, SmallTurnsKeepTheirDigitsInFloat) {
  // Where 1 - cos is lost to rounding, and where even the squares underflow.
  for (const float angle : {1e-2f, 1e-4f, 1e-8f, 1e-25f}) {
    const Vec3 turn = angle * Vec3(0.36f, 0.48f, -0.8f);
    const Vec3 back = rotation_vector(Quat(), from_rotation_vector(turn));
    EXPECT_LT(difference(back / angle, turn / angle), 1e-6) << angle;
  }
}

TEST(Quat, IntegrateIsExactForASteadySpin) {
  const Vec3d omega(0.3, -1.1, 0.7);
  const Quatd start = from_axis_angle(Vec3d(1, 2, 3), 0.4);
  Quatd q = start;
  for (int step = 0; step < 1000; ++step) q = integrate(q, omega, 0.05);
  const Quatd closed = from_axis_angle(omega, 50.0 * length(omega)) * start;
  EXPECT_LT(difference(q, closed), 1e-12);
}

TEST(Quat, IntegrateKeepsUnitLengthInFloatOverManyTurns) {
  Quat q;
  float worst = 0.0f;
  for (int step = 0; step < 20000; ++step) {
    q = integrate(q, Vec3(30.0f, -40.0f, 5.0f), 0.01f);
    worst = std::fmax(worst, std::fabs(length(q) - 1.0f));
  }
  EXPECT_LT(worst, 3e-7f);
}

RC_GTEST_PROP(Quat, SlerpMeetsItsEndPointsAtASteadyRate, ()) {
  const Quatd a = draw_rotation();
  const double angle = *rc::gen::oneOf(number(0.0, 0.999 * kPi), number(0.0, 0.1));
  const Vec3d whole = draw_direction() * angle;
  const Quatd b = from_rotation_vector(whole) * a;
  const double t = *number(0.0, 1.0);
  RC_ASSERT(difference(slerp(a, b, 0.0), a) < 1e-14);
  RC_ASSERT(difference(slerp(a, b, 1.0), b) < 1e-14);
  RC_ASSERT(difference(rotation_vector(a, slerp(a, b, t)), t * whole) < 1e-12);
  RC_ASSERT(difference(slerp(a, -b, t), slerp(a, b, t)) < 1e-14);
}

TEST(Quat, SlerpOfAnglesTurnsApartGoesTheShorterWay) {
  // 350 degrees, and 10 degrees after three more turns, meet at 0 and not at 180.
  const double degree = kPi / 180.0;
  const Quatd a = from_axis_angle(kZ, 350.0 * degree);
  const Quatd b = from_axis_angle(kZ, (3.0 * 360.0 + 10.0) * degree);
  EXPECT_LT(difference(slerp(a, b, 0.5), Quatd::identity()), 1e-14);
  EXPECT_LT(difference(slerp(a, b, 0.25), from_axis_angle(kZ, -5.0 * degree)), 1e-14);
}

TEST(Quat, SlerpNearParallelIsUnitAndAccurateInFloat) {
  for (const float angle : {0.0f, 1e-7f, 1e-6f, 2e-6f, 1e-4f, 1e-2f}) {
    const Quat a = from_axis_angle(Vec3(0.0f, 0.6f, 0.8f), 1.0f);
    const Quat b = from_axis_angle(Vec3(0.0f, 0.6f, 0.8f), 1.0f + angle);
    const Quat middle = slerp(a, b, 0.5f);
    EXPECT_NEAR(length(middle), 1.0f, 2e-7f) << angle;
    EXPECT_LT(difference(middle, from_axis_angle(Vec3(0.0f, 0.6f, 0.8f), 1.0f + 0.5f * angle)),
              2e-7)
        << angle;
  }
}

}  // namespace
}  // namespace barchan
