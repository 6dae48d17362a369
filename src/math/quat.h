// Unit quaternions as orientations: q takes body coordinates to world coordinates, and angular
// velocities are in world axes. q and -q are the same orientation; differences go the shorter way.
#pragma once

#include <cmath>

#include "base/hd.h"
#include "math/mat3.h"
#include "math/vec3.h"

namespace barchan {

template <class T>
struct Quaternion {
  T w{1}, x{}, y{}, z{};  // the identity unless told

  constexpr Quaternion() = default;
  HD constexpr Quaternion(T w_, T x_, T y_, T z_) : w(w_), x(x_), y(y_), z(z_) {}
  HD constexpr Quaternion(T w_, const Vector3<T>& v) : w(w_), x(v.x), y(v.y), z(v.z) {}
  template <class U>
  HD constexpr explicit Quaternion(const Quaternion<U>& o)
      : w(static_cast<T>(o.w)),
        x(static_cast<T>(o.x)),
        y(static_cast<T>(o.y)),
        z(static_cast<T>(o.z)) {}

  HD static constexpr Quaternion identity() { return {T(1), T(0), T(0), T(0)}; }

  HD constexpr Vector3<T> vector_part() const { return {x, y, z}; }

  // a * b turns by b first, then by a.
  friend HD constexpr Quaternion operator*(const Quaternion& a, const Quaternion& b) {
    const Vector3<T> u = a.vector_part(), v = b.vector_part();
    return {a.w * b.w - dot(u, v), a.w * v + b.w * u + cross(u, v)};
  }
  friend HD constexpr Quaternion operator+(const Quaternion& a, const Quaternion& b) {
    return {a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z};
  }
  friend HD constexpr Quaternion operator-(const Quaternion& a, const Quaternion& b) {
    return {a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend HD constexpr Quaternion operator-(const Quaternion& a) { return {-a.w, -a.x, -a.y, -a.z}; }
  friend HD constexpr Quaternion operator*(const Quaternion& a, T s) {
    return {a.w * s, a.x * s, a.y * s, a.z * s};
  }
  friend HD constexpr bool operator==(const Quaternion& a, const Quaternion& b) {
    return a.w == b.w && a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

using Quat = Quaternion<float>;
using Quatd = Quaternion<double>;

template <class T>
HD constexpr T dot(const Quaternion<T>& a, const Quaternion<T>& b) {
  return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
HD T length(const Quaternion<T>& a) {
  return std::sqrt(dot(a, a));
}
// The unit quaternion along a, or the identity where a is zero.
template <class T>
HD Quaternion<T> normalized(const Quaternion<T>& a) {
  const T len = length(a);
  return len > T(0) ? a * (T(1) / len) : Quaternion<T>::identity();
}
// The inverse of a unit quaternion.
template <class T>
HD constexpr Quaternion<T> conjugate(const Quaternion<T>& a) {
  return {a.w, -a.x, -a.y, -a.z};
}

// Body to world: q v q*, expanded so that it takes two cross products.
template <class T>
HD constexpr Vector3<T> rotate(const Quaternion<T>& q, const Vector3<T>& v) {
  const Vector3<T> u = q.vector_part();
  const Vector3<T> t = T(2) * cross(u, v);
  return v + q.w * t + cross(u, t);
}
// World to body: q* v q.
template <class T>
HD constexpr Vector3<T> inverse_rotate(const Quaternion<T>& q, const Vector3<T>& v) {
  return rotate(conjugate(q), v);
}

// A turn by `angle` [rad], any number of turns, about `axis` of any length; none about a zero axis.
template <class T>
HD Quaternion<T> from_axis_angle(const Vector3<T>& axis, T angle) {
  const T len = length(axis);
  if (!(len > T(0))) return Quaternion<T>::identity();
  return {std::cos(T(0.5) * angle), axis * (std::sin(T(0.5) * angle) / len)};
}
// The exponential map: the turn about v by |v| [rad].
template <class T>
HD Quaternion<T> from_rotation_vector(const Vector3<T>& v) {
  // sin(a/2)/a = 1/2 - a^2/48 + a^4/3840 - ..., whose third term is below rounding here.
  const T a2 = length_squared(v), a = std::sqrt(a2);
  const T factor = a2 > T(1e-8) ? std::sin(T(0.5) * a) / a : T(0.5) - a2 / T(48);
  return {std::cos(T(0.5) * a), factor * v};
}
// The quaternion of a rotation matrix; divides by the largest of the four (Shepperd 1978).
template <class T>
HD Quaternion<T> from_rotation_matrix(const Matrix3<T>& m) {
  // 4 w^2, 4 x^2, 4 y^2, 4 z^2; they sum to 4, so the largest is at least 1.
  const T w2 = T(1) + m(0, 0) + m(1, 1) + m(2, 2), x2 = T(1) + m(0, 0) - m(1, 1) - m(2, 2);
  const T y2 = T(1) - m(0, 0) + m(1, 1) - m(2, 2), z2 = T(1) - m(0, 0) - m(1, 1) + m(2, 2);
  const T wx = m(2, 1) - m(1, 2), wy = m(0, 2) - m(2, 0), wz = m(1, 0) - m(0, 1);
  const T xy = m(0, 1) + m(1, 0), xz = m(0, 2) + m(2, 0), yz = m(1, 2) + m(2, 1);
  Quaternion<T> q(wz, xz, yz, z2);
  if (w2 >= x2 && w2 >= y2 && w2 >= z2)
    q = {w2, wx, wy, wz};
  else if (x2 >= y2 && x2 >= z2)
    q = {wx, x2, xy, xz};
  else if (y2 >= z2)
    q = {wy, xy, y2, yz};
  return normalized(q);
}
template <class T>
HD constexpr Matrix3<T> to_matrix(const Quaternion<T>& q) {
  const T xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  const T xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  const T wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  const T one = T(1), two = T(2);
  return {one - two * (yy + zz), two * (xy - wz),       two * (xz + wy),
          two * (xy + wz),       one - two * (xx + zz), two * (yz - wx),
          two * (xz - wy),       two * (yz + wx),       one - two * (xx + yy)};
}

// The shortest turn that takes `from` to `to`, as axis times angle in world axes [rad], at most pi.
template <class T>
HD Vector3<T> rotation_vector(const Quaternion<T>& from, const Quaternion<T>& to) {
  const Quaternion<T> d = to * conjugate(from);
  const T sign = d.w < T(0) ? T(-1) : T(1);
  const Vector3<T> v = sign * d.vector_part();
  // atan2 is accurate at all angles, acos(w) is not near 0; 2 atan(s)/s -> 2 as s -> 0.
  const T s = length(v);
  return v * (s > T(1e-12) ? T(2) * std::atan2(s, sign * d.w) / s : T(2));
}
// The steady angular velocity [rad/s] that takes `from` to `to` in dt [s], the shorter way.
template <class T>
HD Vector3<T> angular_velocity(const Quaternion<T>& from, const Quaternion<T>& to, T dt) {
  return rotation_vector(from, to) / dt;
}
// The orientation after dt [s] at a steady angular velocity omega [rad/s, world axes]: exact.
template <class T>
HD Quaternion<T> integrate(const Quaternion<T>& q, const Vector3<T>& omega, T dt) {
  return normalized(from_rotation_vector(omega * dt) * q);
}

// The orientation a share t of the way from a (t = 0) to b (t = 1), at a steady rate, the shorter
// way; where both ways are as long, one of them, always the same.
template <class T>
HD Quaternion<T> slerp(const Quaternion<T>& a, const Quaternion<T>& b, T t) {
  const Quaternion<T> end = dot(a, b) < T(0) ? -b : b;

  // The angle between two unit 4-vectors is 2 atan2(|a - b|, |a + b|), accurate near 0 unlike acos;
  // it is at most pi/2 here, so sin(angle) is small only where the straight line is as good.
  const T angle = T(2) * std::atan2(length(a - end), length(a + end));
  const T sine = std::sin(angle);
  const bool curved = sine > T(1e-6);
  const T from_a = curved ? std::sin((T(1) - t) * angle) / sine : T(1) - t;
  const T from_b = curved ? std::sin(t * angle) / sine : t;
  return normalized(a * from_a + end * from_b);
}

}  // namespace barchan
