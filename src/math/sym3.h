// A symmetric 3 x 3 matrix in six numbers: stresses, strain rates and inertia tensors, which are
// stored per particle and so should not pay for three copies.
#pragma once

#include <cmath>

#include "base/hd.h"
#include "math/mat3.h"
#include "math/vec3.h"

namespace barchan {

template <class T>
struct Symmetric3 {
  T xx{}, yy{}, zz{}, xy{}, xz{}, yz{};

  constexpr Symmetric3() = default;
  HD constexpr Symmetric3(T xx_, T yy_, T zz_, T xy_, T xz_, T yz_)
      : xx(xx_), yy(yy_), zz(zz_), xy(xy_), xz(xz_), yz(yz_) {}
  template <class U>
  HD constexpr explicit Symmetric3(const Symmetric3<U>& o)
      : xx(static_cast<T>(o.xx)),
        yy(static_cast<T>(o.yy)),
        zz(static_cast<T>(o.zz)),
        xy(static_cast<T>(o.xy)),
        xz(static_cast<T>(o.xz)),
        yz(static_cast<T>(o.yz)) {}

  HD static constexpr Symmetric3 diagonal(const Vector3<T>& d) {
    return {d.x, d.y, d.z, T(0), T(0), T(0)};
  }
  HD static constexpr Symmetric3 identity() { return diagonal({T(1), T(1), T(1)}); }

  HD constexpr Symmetric3& operator+=(const Symmetric3& o) {
    xx += o.xx, yy += o.yy, zz += o.zz, xy += o.xy, xz += o.xz, yz += o.yz;
    return *this;
  }
  HD constexpr Symmetric3& operator-=(const Symmetric3& o) {
    xx -= o.xx, yy -= o.yy, zz -= o.zz, xy -= o.xy, xz -= o.xz, yz -= o.yz;
    return *this;
  }
  HD constexpr Symmetric3& operator*=(T s) {
    xx *= s, yy *= s, zz *= s, xy *= s, xz *= s, yz *= s;
    return *this;
  }
  friend HD constexpr Symmetric3 operator+(Symmetric3 a, const Symmetric3& b) { return a += b; }
  friend HD constexpr Symmetric3 operator-(Symmetric3 a, const Symmetric3& b) { return a -= b; }
  friend HD constexpr Symmetric3 operator-(Symmetric3 a) { return a *= T(-1); }
  friend HD constexpr Symmetric3 operator*(Symmetric3 a, T s) { return a *= s; }
  friend HD constexpr Symmetric3 operator*(T s, Symmetric3 a) { return a *= s; }
  friend HD constexpr Symmetric3 operator/(const Symmetric3& a, T s) {
    return {a.xx / s, a.yy / s, a.zz / s, a.xy / s, a.xz / s, a.yz / s};
  }
  friend HD constexpr Vector3<T> operator*(const Symmetric3& a, const Vector3<T>& v) {
    return {a.xx * v.x + a.xy * v.y + a.xz * v.z, a.xy * v.x + a.yy * v.y + a.yz * v.z,
            a.xz * v.x + a.yz * v.y + a.zz * v.z};
  }
  friend HD constexpr bool operator==(const Symmetric3& a, const Symmetric3& b) {
    return a.xx == b.xx && a.yy == b.yy && a.zz == b.zz && a.xy == b.xy && a.xz == b.xz &&
           a.yz == b.yz;
  }
};

using Sym3 = Symmetric3<float>;
using Sym3d = Symmetric3<double>;

template <class T>
HD constexpr Matrix3<T> to_matrix(const Symmetric3<T>& a) {
  return {a.xx, a.xy, a.xz, a.xy, a.yy, a.yz, a.xz, a.yz, a.zz};
}
// (m + m^T) / 2, which is m itself, to the last bit, where m is symmetric.
template <class T>
HD constexpr Symmetric3<T> symmetric_part(const Matrix3<T>& m) {
  const T half = T(0.5);
  return {m(0, 0),
          m(1, 1),
          m(2, 2),
          half * (m(0, 1) + m(1, 0)),
          half * (m(0, 2) + m(2, 0)),
          half * (m(1, 2) + m(2, 1))};
}
// a : b, the sum over all nine entries; the off-diagonal numbers stand for two entries each.
template <class T>
HD constexpr T double_contraction(const Symmetric3<T>& a, const Symmetric3<T>& b) {
  return a.xx * b.xx + a.yy * b.yy + a.zz * b.zz + T(2) * (a.xy * b.xy + a.xz * b.xz + a.yz * b.yz);
}
template <class T>
HD constexpr T trace(const Symmetric3<T>& a) {
  return a.xx + a.yy + a.zz;
}
// a - (tr a / 3) I.
template <class T>
HD constexpr Symmetric3<T> deviator(const Symmetric3<T>& a) {
  const T mean = trace(a) / T(3);
  return {a.xx - mean, a.yy - mean, a.zz - mean, a.xy, a.xz, a.yz};
}
// sqrt(a : a).
template <class T>
HD T frobenius_norm(const Symmetric3<T>& a) {
  return std::sqrt(double_contraction(a, a));
}
// The largest |entry|.
template <class T>
HD T largest_entry(const Symmetric3<T>& a) {
  return max(max(max(std::fabs(a.xx), std::fabs(a.yy)), max(std::fabs(a.zz), std::fabs(a.xy))),
             max(std::fabs(a.xz), std::fabs(a.yz)));
}

}  // namespace barchan
