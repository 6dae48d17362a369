// Three numbers with the algebra one expects. Vec3 is what kernels use; Vec3d is for the host.
#pragma once

#include <cmath>

#include "base/hd.h"

namespace barchan {

template <class T>
struct Vector3 {
  T x{}, y{}, z{};

  constexpr Vector3() = default;
  HD constexpr Vector3(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
  template <class U>
  HD constexpr explicit Vector3(const Vector3<U>& o)
      : x(static_cast<T>(o.x)), y(static_cast<T>(o.y)), z(static_cast<T>(o.z)) {}

  HD constexpr T operator[](int i) const { return i == 0 ? x : (i == 1 ? y : z); }
  HD constexpr T& operator[](int i) { return i == 0 ? x : (i == 1 ? y : z); }

  HD constexpr Vector3& operator+=(const Vector3& o) {
    x += o.x, y += o.y, z += o.z;
    return *this;
  }
  HD constexpr Vector3& operator-=(const Vector3& o) {
    x -= o.x, y -= o.y, z -= o.z;
    return *this;
  }
  HD constexpr Vector3& operator*=(T s) {
    x *= s, y *= s, z *= s;
    return *this;
  }
  HD constexpr Vector3& operator/=(T s) {
    x /= s, y /= s, z /= s;
    return *this;
  }
  friend HD constexpr Vector3 operator+(Vector3 a, const Vector3& b) { return a += b; }
  friend HD constexpr Vector3 operator-(Vector3 a, const Vector3& b) { return a -= b; }
  friend HD constexpr Vector3 operator-(const Vector3& a) { return {-a.x, -a.y, -a.z}; }
  friend HD constexpr Vector3 operator*(Vector3 a, T s) { return a *= s; }
  friend HD constexpr Vector3 operator*(T s, Vector3 a) { return a *= s; }
  friend HD constexpr Vector3 operator/(Vector3 a, T s) { return a /= s; }
  friend HD constexpr bool operator==(const Vector3& a, const Vector3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

using Vec3 = Vector3<float>;
using Vec3d = Vector3<double>;

template <class T>
HD constexpr T dot(const Vector3<T>& a, const Vector3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
HD constexpr Vector3<T> cross(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
HD constexpr Vector3<T> multiply(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
template <class T>
HD constexpr T length_squared(const Vector3<T>& a) {
  return dot(a, a);
}
template <class T>
HD T length(const Vector3<T>& a) {
  return std::sqrt(dot(a, a));
}
// The unit vector along a, or `otherwise` where a has no direction.
template <class T>
HD Vector3<T> normalized(const Vector3<T>& a, const Vector3<T>& otherwise = {}) {
  const T len = length(a);
  return len > T(0) ? a / len : otherwise;
}
template <class T>
HD constexpr Vector3<T> min(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
template <class T>
HD constexpr Vector3<T> max(const Vector3<T>& a, const Vector3<T>& b) {
  return {a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
template <class T>
HD bool is_finite(const Vector3<T>& a) {
  // A sum of finite-minus-itself terms is 0 only when all three are finite.
  return (a.x - a.x) + (a.y - a.y) + (a.z - a.z) == T(0);
}

}  // namespace barchan
