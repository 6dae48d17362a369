// What the math tests share: RapidCheck generators for numbers, vectors, matrices and rotations,
// and the largest difference between two of a kind.
#pragma once

#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/units.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/sym3.h"
#include "math/vec3.h"

namespace barchan::testing {

// A number in [low, high], spread evenly (inRange alone stays near its lower end in early cases).
inline rc::Gen<double> number(double low, double high) {
  constexpr int kSteps = 1 << 24;
  return rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, kSteps + 1)),
                      [=](int n) { return low + (high - low) * n / kSteps; });
}
inline Vec3d draw_vector(double size = 1.0) {
  const auto n = number(-size, size);
  const double x = *n, y = *n, z = *n;
  return {x, y, z};
}
inline Mat3d draw_matrix() {
  const Vec3d a = draw_vector(), b = draw_vector(), c = draw_vector();
  return Mat3d::from_rows(a, b, c);
}
inline Vec3d draw_direction() {
  const Vec3d v = draw_vector();
  RC_PRE(length(v) > 0.1);
  return normalized(v);
}
inline Quatd draw_rotation() {
  const Vec3d axis = draw_direction();
  return from_axis_angle(axis, *number(-2.0 * kPi, 2.0 * kPi));
}

template <class T>
double difference(const Vector3<T>& a, const Vector3<T>& b) {
  return static_cast<double>(length(a - b));
}
template <class T>
double difference(const Matrix3<T>& a, const Matrix3<T>& b) {
  return static_cast<double>(largest_entry(a - b));
}
// Between orientations: q and -q are the same one.
template <class T>
double difference(const Quaternion<T>& a, const Quaternion<T>& b) {
  const T near = length(a - b), far = length(a + b);
  return static_cast<double>(near < far ? near : far);
}
// How far a matrix is from a rotation: of M^T M from the identity, and of det M from +1.
template <class T>
double rotation_error(const Matrix3<T>& m) {
  const double square = difference(transpose(m) * m, Matrix3<T>::identity());
  return std::fmax(square, static_cast<double>(std::fabs(determinant(m) - T(1))));
}

}  // namespace barchan::testing
