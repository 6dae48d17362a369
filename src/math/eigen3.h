// Eigenvalues and eigenvectors of a symmetric 3 x 3 matrix, by cyclic Jacobi rotations: unlike the
// closed form it is accurate in float at repeated eigenvalues, and it always takes the same steps.
#pragma once

#include <cmath>

#include "base/hd.h"
#include "math/mat3.h"
#include "math/scalar.h"
#include "math/sym3.h"
#include "math/vec3.h"

namespace barchan {

// A = vectors diag(values) vectors^T.
template <class T>
struct Eigen3 {
  Vector3<T> values;   // descending
  Matrix3<T> vectors;  // a rotation: column k is the unit eigenvector of values[k]
};

// The tangent of the turn that makes the off-diagonal of [[p, g/2], [g/2, q]] zero, d = q - p: the
// root of g t^2 + 2 d t - g = 0 with |t| <= 1, and 0 where there is nothing to do.
template <class T>
HD T jacobi_tangent(T d, T g) {
  const T scale = max(std::fabs(d), std::fabs(g));
  const bool turns = scale > T(1e-37);
  const T inverse = T(1) / (turns ? scale : T(1));
  d *= inverse, g *= inverse;
  const T t = (d < T(0) ? -g : g) / (std::fabs(d) + std::sqrt(d * d + g * g));
  return turns ? t : T(0);
}
// Turns the pair (p, q) to (c p - s q, s p + c q), where s / c = t.
template <class V, class T>
HD void jacobi_turn(T c, T s, V& p, V& q) {
  const V old = p;
  p = c * old - s * q;
  q = s * old + c * q;
}
// One Jacobi rotation in the plane (p, q); r is the third axis.
template <class T>
HD void jacobi_rotation(T& pp, T& qq, T& pq, T& pr, T& qr, Vector3<T>& vp, Vector3<T>& vq) {
  const T t = jacobi_tangent(qq - pp, T(2) * pq);
  const T c = T(1) / std::sqrt(T(1) + t * t), s = t * c;
  pp -= t * pq;
  qq += t * pq;
  pq = T(0);
  jacobi_turn(c, s, pr, qr);
  jacobi_turn(c, s, vp, vq);
}
// Puts the larger of two keys first, with one column negated so that the handedness stays.
template <class T>
HD void sort_descending(T& first, T& second, Vector3<T>& v_first, Vector3<T>& v_second) {
  const bool swap = first < second;
  const T key = first;
  const Vector3<T> v = v_first;
  first = swap ? second : first;
  second = swap ? key : second;
  v_first = swap ? v_second : v_first;
  v_second = swap ? -v : v_second;
}

// Off-diagonals at least square with each sweep once small. Four sweeps reach the rounding of
// double on random, graded, nearly repeated and rank-deficient matrices; one is to spare.
inline constexpr int kJacobiSweeps = 5;

template <class T>
HD Eigen3<T> eigen_symmetric(Symmetric3<T> a) {
  // Scale entries to at most 1, so that squares neither overflow nor vanish
  const T scale = largest_entry(a);
  a = a / (scale > T(0) ? scale : T(1));

  // Turn the off-diagonals away, and collect the turns
  Vector3<T> v0(T(1), T(0), T(0)), v1(T(0), T(1), T(0)), v2(T(0), T(0), T(1));
  for (int sweep = 0; sweep < kJacobiSweeps; ++sweep) {
    jacobi_rotation(a.xx, a.yy, a.xy, a.xz, a.yz, v0, v1);
    jacobi_rotation(a.xx, a.zz, a.xz, a.xy, a.yz, v0, v2);
    jacobi_rotation(a.yy, a.zz, a.yz, a.xy, a.xz, v1, v2);
  }

  // Largest first
  sort_descending(a.xx, a.yy, v0, v1);
  sort_descending(a.xx, a.zz, v0, v2);
  sort_descending(a.yy, a.zz, v1, v2);
  return {Vector3<T>(a.xx, a.yy, a.zz) * scale, Matrix3<T>::from_columns(v0, v1, v2)};
}

}  // namespace barchan
