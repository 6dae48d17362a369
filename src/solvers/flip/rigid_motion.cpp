#include "solvers/flip/rigid_motion.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace barchan::flip {

namespace {

using Six = std::array<double, 6>;
using Matrix6 = std::array<Six, 6>;

// The motion about one origin from that about another one, c further: v = v' - w x c.
Matrix6 shift_of(const Vec3d& c) {
  Matrix6 t{};
  for (std::size_t k = 0; k < 6; ++k) t[k][k] = 1.0;
  t[0][4] = -c.z, t[0][5] = c.y;
  t[1][3] = c.z, t[1][5] = -c.x;
  t[2][3] = -c.y, t[2][4] = c.x;
  return t;
}

Six times(const Matrix6& a, const Six& x) {
  Six y{};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < 6; ++k) y[i] += a[i][k] * x[k];
  }
  return y;
}
Six transpose_times(const Matrix6& a, const Six& x) {
  Six y{};
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < 6; ++k) y[i] += a[k][i] * x[k];
  }
  return y;
}
// T^T A T
Matrix6 seen_through(const Matrix6& t, const Matrix6& a) {
  Matrix6 out{};
  for (std::size_t c = 0; c < 6; ++c) {
    Six column{};
    for (std::size_t k = 0; k < 6; ++k) column[k] = t[k][c];
    const Six seen = transpose_times(t, times(a, column));
    for (std::size_t r = 0; r < 6; ++r) out[r][c] = seen[r];
  }
  return out;
}

// Turns a symmetric matrix to a diagonal one by cyclic Jacobi rotations; the columns of `vectors`
// are its eigenvectors.
void diagonalise(Matrix6& a, Matrix6& vectors) {
  constexpr int kSweeps = 12;  // the error is squared in each
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (std::size_t p = 0; p < 6; ++p) {
      for (std::size_t q = p + 1; q < 6; ++q) {
        if (a[p][q] == 0.0) continue;
        const double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(theta, 1.0));
        const double c = 1.0 / std::hypot(t, 1.0), s = t * c;
        const auto turn = [&](double& x, double& y) {
          const double old = x;
          x = c * old - s * y;
          y = s * old + c * y;
        };
        for (std::size_t k = 0; k < 6; ++k) turn(a[k][p], a[k][q]);
        for (std::size_t k = 0; k < 6; ++k) turn(a[p][k], a[q][k]);
        for (std::size_t k = 0; k < 6; ++k) turn(vectors[k][p], vectors[k][q]);
        a[p][q] = a[q][p] = 0.0;
      }
    }
  }
}

// A^+ b. Eigenvalues below kLeast of the largest are 0: on a lattice they are exactly that, or more
// than one over the cube of the group's length in cells.
Six pseudo_solve(Matrix6 a, const Six& b) {
  constexpr double kLeast = 1e-12;
  Matrix6 vectors{};
  for (std::size_t k = 0; k < 6; ++k) vectors[k][k] = 1.0;
  diagonalise(a, vectors);
  double largest = 0.0;
  for (std::size_t k = 0; k < 6; ++k) largest = std::max(largest, a[k][k]);
  Six along = transpose_times(vectors, b);
  for (std::size_t k = 0; k < 6; ++k)
    along[k] = a[k][k] > kLeast * largest ? along[k] / a[k][k] : 0.0;
  return times(vectors, along);
}

}  // namespace

RigidMotion rigid_motion(const MotionSums& sums) {
  Matrix6 a{};
  Six b{};
  int k = 0;
  for (std::size_t r = 0; r < 6; ++r) {
    for (std::size_t c = r; c < 6; ++c) a[r][c] = a[c][r] = sums.of[k++];
    b[r] = sums.of[MotionSums::kMatrix + r];
  }
  const double mass = a[0][0] + a[1][1] + a[2][2];
  if (!(mass > 0.0)) return {};

  // About the middle of the faces, where spin and velocity hardly mix: j of a face across x is
  // (1, 0, 0; 0, z, -y), so the sums of m y and m z stand in the matrix's upper right.
  const auto mean = [](double sum, double of) { return of > 0.0 ? sum / of : 0.0; };
  const Vec3d middle(mean(a[1][5] - a[2][4], a[1][1] + a[2][2]),
                     mean(a[2][3] - a[0][5], a[2][2] + a[0][0]),
                     mean(a[0][4] - a[1][3], a[0][0] + a[1][1]));
  Matrix6 to_middle = shift_of(middle);
  // With spins in units of the velocity they make at the distance that is usual in the group.
  const Matrix6 about = seen_through(to_middle, a);
  const double arms = (about[3][3] + about[4][4] + about[5][5]) / mass;
  const double inverse = arms > 0.0 ? 1.0 / std::sqrt(arms) : 1.0;
  for (Six& row : to_middle) {
    for (std::size_t c = 3; c < 6; ++c) row[c] *= inverse;
  }
  const Six x =
      times(to_middle, pseudo_solve(seen_through(to_middle, a), transpose_times(to_middle, b)));
  return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
}

}  // namespace barchan::flip
