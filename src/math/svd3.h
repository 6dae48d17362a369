// The singular value decomposition of a 3 x 3 matrix, and the polar decomposition that follows from
// it, by one-sided Jacobi (Hestenes 1958), which never forms A^T A and so keeps small values.
#pragma once

#include <cmath>

#include "base/hd.h"
#include "math/eigen3.h"
#include "math/mat3.h"
#include "math/scalar.h"
#include "math/sym3.h"
#include "math/vec3.h"

namespace barchan {

// A = u diag(s) v^T, where u and v are rotations (determinant +1) always. A reflection in A shows
// in the sign of the last singular value: s.x >= s.y >= |s.z|, and s.z < 0 where det A < 0 (the
// convention of Irving et al. 2004, which inverted elements need).
template <class T>
struct Svd3 {
  Matrix3<T> u;
  Vector3<T> s;
  Matrix3<T> v;
};
// A = r s, where r is the rotation nearest to A (determinant +1 always) and s is symmetric; s has
// one negative eigenvalue, the smallest in size, where det A < 0.
template <class T>
struct Polar3 {
  Matrix3<T> r;
  Symmetric3<T> s;
};

// A unit vector at a right angle to the unit vector a.
template <class T>
HD Vector3<T> any_perpendicular(const Vector3<T>& a) {
  // Cross with the axis that a has least of.
  const T x = std::fabs(a.x), y = std::fabs(a.y), z = std::fabs(a.z);
  const Vector3<T> axis = x <= y && x <= z ? Vector3<T>(T(1), T(0), T(0))
                          : y <= z         ? Vector3<T>(T(0), T(1), T(0))
                                           : Vector3<T>(T(0), T(0), T(1));
  return normalized(cross(a, axis));
}
// Turns columns p and q of A V so that they stand at a right angle, and the columns of V with them.
template <class T>
HD void orthogonalise(Vector3<T>& bp, Vector3<T>& bq, Vector3<T>& vp, Vector3<T>& vq) {
  const T t = jacobi_tangent(length_squared(bq) - length_squared(bp), T(2) * dot(bp, bq));
  const T c = T(1) / std::sqrt(T(1) + t * t), s = t * c;
  jacobi_turn(c, s, bp, bq);
  jacobi_turn(c, s, vp, vq);
}
// sort_descending for a pair of columns that v goes along with.
template <class T>
HD void sort_by_length(Vector3<T>& b0, Vector3<T>& b1, Vector3<T>& v0, Vector3<T>& v1) {
  T l0 = length_squared(b0), l1 = length_squared(b1), k0 = l0, k1 = l1;
  sort_descending(l0, l1, b0, b1);
  sort_descending(k0, k1, v0, v1);
}

template <class T>
HD Svd3<T> svd(const Matrix3<T>& a) {
  // Scale entries to at most 1, so that squares neither overflow nor vanish
  const T scale = largest_entry(a);
  if (scale == T(0)) return {Matrix3<T>::identity(), {}, Matrix3<T>::identity()};

  // Turn the columns b = A V until they stand at right angles: then b_k = s_k u_k
  Vector3<T> b0 = a.column(0) / scale, b1 = a.column(1) / scale, b2 = a.column(2) / scale;
  Vector3<T> v0(T(1), T(0), T(0)), v1(T(0), T(1), T(0)), v2(T(0), T(0), T(1));
  for (int sweep = 0; sweep < kJacobiSweeps; ++sweep) {
    orthogonalise(b0, b1, v0, v1);
    orthogonalise(b0, b2, v0, v2);
    orthogonalise(b1, b2, v1, v2);
  }

  // Longest first
  sort_by_length(b0, b1, v0, v1);
  sort_by_length(b0, b2, v0, v2);
  sort_by_length(b1, b2, v1, v2);

  // The frame u: b0 is never zero, b1 may be (rank 1), and the third axis completes a rotation
  const Vector3<T> u0 = normalized(b0);
  const Vector3<T> rest = b1 - dot(b1, u0) * u0;
  const T length_rest = length(rest);
  Vector3<T> u1 = length_rest > T(1e-18) ? rest / length_rest : any_perpendicular(u0);
  u1 = normalized(u1 - dot(u1, u0) * u0);
  const Vector3<T> u2 = cross(u0, u1);
  const Vector3<T> s(dot(b0, u0), dot(b1, u1), dot(b2, u2));
  return {Matrix3<T>::from_columns(u0, u1, u2), s * scale, Matrix3<T>::from_columns(v0, v1, v2)};
}

// r = u v^T, s = v diag(s) v^T. The zero matrix has r = identity.
template <class T>
HD Polar3<T> polar(const Matrix3<T>& a) {
  const Svd3<T> d = svd(a);
  const Matrix3<T> vt = transpose(d.v);
  return {d.u * vt, symmetric_part(d.v * Matrix3<T>::diagonal(d.s) * vt)};
}

}  // namespace barchan
