// A 3 x 3 matrix, stored by rows, with the algebra one expects. Mat3 is what kernels use
// (deformation gradients, rotations, inertia); Mat3d is for the host.
#pragma once

#include <cmath>

#include "base/hd.h"
#include "math/scalar.h"
#include "math/vec3.h"

namespace barchan {

template <class T>
struct Matrix3 {
  T e[3][3]{};  // e[row][column]; all zero unless told

  constexpr Matrix3() = default;
  // Nine numbers in reading order.
  HD constexpr Matrix3(T a00, T a01, T a02, T a10, T a11, T a12, T a20, T a21, T a22)
      : e{{a00, a01, a02}, {a10, a11, a12}, {a20, a21, a22}} {}
  template <class U>
  HD constexpr explicit Matrix3(const Matrix3<U>& o)
      : Matrix3(from_rows(Vector3<T>(o.row(0)), Vector3<T>(o.row(1)), Vector3<T>(o.row(2)))) {}

  HD static constexpr Matrix3 diagonal(const Vector3<T>& d) {
    return {d.x, T(0), T(0), T(0), d.y, T(0), T(0), T(0), d.z};
  }
  HD static constexpr Matrix3 identity() { return diagonal({T(1), T(1), T(1)}); }
  HD static constexpr Matrix3 from_rows(const Vector3<T>& a, const Vector3<T>& b,
                                        const Vector3<T>& c) {
    return {a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z};
  }
  HD static constexpr Matrix3 from_columns(const Vector3<T>& a, const Vector3<T>& b,
                                           const Vector3<T>& c) {
    return {a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z};
  }

  HD constexpr T operator()(int row, int column) const { return e[row][column]; }
  HD constexpr T& operator()(int row, int column) { return e[row][column]; }
  HD constexpr Vector3<T> row(int i) const { return {e[i][0], e[i][1], e[i][2]}; }
  HD constexpr Vector3<T> column(int j) const { return {e[0][j], e[1][j], e[2][j]}; }

  HD constexpr Matrix3& operator+=(const Matrix3& o) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) e[i][j] += o.e[i][j];
    return *this;
  }
  HD constexpr Matrix3& operator-=(const Matrix3& o) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) e[i][j] -= o.e[i][j];
    return *this;
  }
  HD constexpr Matrix3& operator*=(T s) {
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) e[i][j] *= s;
    return *this;
  }
  friend HD constexpr Matrix3 operator+(Matrix3 a, const Matrix3& b) { return a += b; }
  friend HD constexpr Matrix3 operator-(Matrix3 a, const Matrix3& b) { return a -= b; }
  friend HD constexpr Matrix3 operator-(Matrix3 a) { return a *= T(-1); }
  friend HD constexpr Matrix3 operator*(Matrix3 a, T s) { return a *= s; }
  friend HD constexpr Matrix3 operator*(T s, Matrix3 a) { return a *= s; }
  friend HD constexpr Matrix3 operator/(const Matrix3& a, T s) {
    return from_rows(a.row(0) / s, a.row(1) / s, a.row(2) / s);
  }
  friend HD constexpr Vector3<T> operator*(const Matrix3& a, const Vector3<T>& v) {
    return {dot(a.row(0), v), dot(a.row(1), v), dot(a.row(2), v)};
  }
  friend HD constexpr Matrix3 operator*(const Matrix3& a, const Matrix3& b) {
    return from_columns(a * b.column(0), a * b.column(1), a * b.column(2));
  }
  friend HD constexpr bool operator==(const Matrix3& a, const Matrix3& b) {
    return a.row(0) == b.row(0) && a.row(1) == b.row(1) && a.row(2) == b.row(2);
  }
};

using Mat3 = Matrix3<float>;
using Mat3d = Matrix3<double>;

template <class T>
HD constexpr Matrix3<T> transpose(const Matrix3<T>& a) {
  return Matrix3<T>::from_rows(a.column(0), a.column(1), a.column(2));
}
template <class T>
HD constexpr T trace(const Matrix3<T>& a) {
  return a(0, 0) + a(1, 1) + a(2, 2);
}
template <class T>
HD constexpr T determinant(const Matrix3<T>& a) {
  return dot(a.row(0), cross(a.row(1), a.row(2)));
}
// sqrt(sum of the squared entries).
template <class T>
HD T frobenius_norm(const Matrix3<T>& a) {
  return std::sqrt(length_squared(a.row(0)) + length_squared(a.row(1)) + length_squared(a.row(2)));
}
// The largest |entry|: the scale that keeps squares and cubes of entries in range.
template <class T>
HD T largest_entry(const Matrix3<T>& a) {
  T largest = T(0);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) largest = max(largest, std::fabs(a(i, j)));
  return largest;
}
// a b^T.
template <class T>
HD constexpr Matrix3<T> outer(const Vector3<T>& a, const Vector3<T>& b) {
  return Matrix3<T>::from_rows(a.x * b, a.y * b, a.z * b);
}
// The cross matrix: skew(a) b = a x b.
template <class T>
HD constexpr Matrix3<T> skew(const Vector3<T>& a) {
  return {T(0), -a.z, a.y, a.z, T(0), -a.x, -a.y, a.x, T(0)};
}
// The inverse, by cofactors. A singular matrix has none: some entries are then not finite.
template <class T>
HD Matrix3<T> inverse(const Matrix3<T>& a) {
  // Entries of at most 1 keep the determinant, a cube, from overflow and underflow.
  const T scale = T(1) / largest_entry(a);
  const Vector3<T> r0 = a.row(0) * scale, r1 = a.row(1) * scale, r2 = a.row(2) * scale;
  const Vector3<T> c0 = cross(r1, r2), c1 = cross(r2, r0), c2 = cross(r0, r1);
  return Matrix3<T>::from_columns(c0, c1, c2) * (scale / dot(r0, c0));
}

}  // namespace barchan
