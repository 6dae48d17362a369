// What must hold for any shape: the nearest surface is where the distance says, gradients are unit
// vectors and derivatives, and the distance never changes faster than the point moves.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "geometry/sdf.h"
#include "geometry/shape.h"
#include "random_shapes.h"

namespace barchan {
namespace {

using testing::Dice;
using testing::distance;
using testing::random_primitive;
using testing::random_tree;

// Brute force, with nothing from sdf.h: the distance to the surface is how far the nearest point of
// the other side is. Looks along many directions for the first change of side.
double nearest_other_side(const Shape& shape, const Vec3d& p, double within) {
  const bool inside = deeper_than(shape, p, 0.0);
  double best = within;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    // Directions on a spiral: about evenly spread (Fibonacci lattice), some 0.06 rad apart.
    const double z = 1.0 - (2.0 * i + 1.0) / n, r = std::sqrt(1.0 - z * z), turn = 2.39996323 * i;
    const Vec3d u(r * std::cos(turn), r * std::sin(turn), z);
    for (double t = 0.02; t < best; t += 0.02) {
      if (deeper_than(shape, p + t * u, 0.0) == inside) continue;
      double low = t - 0.02, high = t;
      for (int k = 0; k < 20; ++k) {
        const double middle = 0.5 * (low + high);
        (deeper_than(shape, p + middle * u, 0.0) == inside ? low : high) = middle;
      }
      best = std::min(best, high);
    }
  }
  return best;
}

TEST(SdfBruteForce, PrimitivesAreAsFarAsTheNearestSurface) {
  Dice dice(11);
  for (int i = 0; i < 60; ++i) {
    const Shape shape = random_primitive(dice);
    const Vec3d p = dice.in_cube(0.8);
    const double d = std::abs(distance(shape, p).d), found = nearest_other_side(shape, p, 0.6);
    if (d > 0.55) continue;
    // Nothing is nearer than d; a ray a little off the normal finds the surface a little later.
    EXPECT_GT(found, d - 1e-4) << "shape " << i;
    EXPECT_LT(found, d * 1.02 + 0.025) << "shape " << i;
  }
}

RC_GTEST_PROP(SdfProperty, DistancesOfPrimitivesReachTheSurface, (testing::Seed seed)) {
  // Following the gradient back by d ends on the surface, to rounding: |d| is not too long. With
  // the rate of change bounded by one (below) it is not too short either.
  Dice dice(seed);
  const Shape shape = random_primitive(dice);
  const SdfProgram program = compile(shape);
  for (int i = 0; i < 50; ++i) {
    const Vec3 p(dice.in_cube(1.5));
    const Distance at = distance(program, p);
    RC_ASSERT(std::abs(distance(program, p - at.d * at.gradient).d) < 3e-6f);
  }
}

RC_GTEST_PROP(SdfProperty, GradientsAreUnitVectors, (testing::Seed seed)) {
  Dice dice(seed);
  const SdfProgram program = compile(random_tree(dice, 3));
  for (int i = 0; i < 100; ++i) {
    const Distance at = distance(program, Vec3(dice.in_cube(1.5)));
    RC_ASSERT(std::isfinite(at.d));
    RC_ASSERT(std::abs(length(at.gradient) - 1.0f) < 2e-6f);
  }
}

RC_GTEST_PROP(SdfProperty, GradientsAreDerivatives, (testing::Seed seed)) {
  Dice dice(seed);
  const SdfProgram program = compile(random_tree(dice, 2));
  const float h = 1.0f / 256;
  for (int i = 0; i < 50; ++i) {
    const Vec3 p(dice.in_cube(1.5));
    const Distance at = distance(program, p);
    // Skip ridges and tight curves: where the gradient changes within a few h.
    bool smooth = true;
    Vec3 slope;
    for (int a = 0; a < 3; ++a) {
      Vec3 step;
      step[a] = h;
      const Distance ahead = distance(program, p + step), behind = distance(program, p - step);
      smooth = smooth && dot(ahead.gradient, at.gradient) > 0.9999f &&
               dot(behind.gradient, at.gradient) > 0.9999f;
      slope[a] = (ahead.d - behind.d) / (2 * h);
    }
    if (smooth) RC_ASSERT(length(slope - at.gradient) < 0.012f);
  }
}

RC_GTEST_PROP(SdfProperty, ChangesNoFasterThanThePointMoves, (testing::Seed seed)) {
  Dice dice(seed);
  const SdfProgram program = compile(random_tree(dice, 4));
  for (int i = 0; i < 100; ++i) {
    const Vec3 p(dice.in_cube(2.0)), q = p + Vec3(dice.in_cube(dice.between(0.001, 1.0)));
    const float change = std::abs(distance(program, p).d - distance(program, q).d);
    RC_ASSERT(change <= length(p - q) * 1.000001f + 2e-6f);
  }
}

RC_GTEST_PROP(SdfProperty, TheNumberAloneIsTheSame, (testing::Seed seed)) {
  Dice dice(seed);
  const SdfProgram program = compile(random_tree(dice, 3));
  for (int i = 0; i < 20; ++i) {
    const Vec3 p(dice.in_cube(2.0));
    const float d = distance_only(program.begin(), program.end(), p);
    RC_ASSERT(std::abs(d - distance(program, p).d) <= 1e-6f);  // contraction may differ
  }
}

RC_GTEST_PROP(SdfProperty, AnOriginOnlyMovesTheCoordinates, (testing::Seed seed)) {
  Dice dice(seed);
  const Shape shape = random_tree(dice, 3);
  const Vec3d origin = dice.in_cube(1.0), p = dice.in_cube(1.0);
  RC_ASSERT(std::abs(distance(compile(shape, origin), Vec3(p - origin)).d - distance(shape, p).d) <
            2e-6f);
}

}  // namespace
}  // namespace barchan
