// Mass properties against closed forms, and what they must do when a body is moved, turned, scaled
// or put together of parts.
#include "geometry/mass_properties.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "base/error.h"
#include "geometry/stand_ins.h"
#include "meshes.h"
#include "random_shapes.h"

namespace barchan {
namespace {

using testing::Dice;
using testing::moved;
using testing::scaled;
using testing::Seed;

constexpr double kPi = std::numbers::pi;

void expect_same(const MassProperties& a, const MassProperties& b, double tolerance) {
  EXPECT_NEAR(a.mass / b.mass, 1.0, tolerance);
  // Lengths against the body's own: sqrt(inertia / mass).
  const double size = std::sqrt(largest_entry(b.inertia) / b.mass);
  EXPECT_LT(length(a.center - b.center), tolerance * size);
  EXPECT_LT(largest_entry(a.inertia - b.inertia), tolerance * largest_entry(b.inertia));
}

// By quadrature: an offset of nothing is the same shape, but no primitive.
MassProperties by_quadrature(const Shape& shape, double density) {
  return mass_properties(make_offset(shape, 0.0), density);
}

std::string message_of(const Shape& shape, double density) {
  try {
    mass_properties(shape, density);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// ---- meshes

TEST(MassOfMesh, CubeIsExact) {
  const MassProperties cube = mass_properties(stock_mesh("cube"), 3.0);
  expect_same(cube, {3.0, {0, 0.5, 0}, 0.5 * Sym3d::identity()}, 1e-14);
}

TEST(MassOfMesh, BoxOfThreeEdgesOffTheOrigin) {
  Mesh box = stock_mesh("cube");
  for (Vec3d& p : box.vertices) p = {1 + p.x, 5 + 2 * p.y, -3 + 3 * p.z};
  expect_same(mass_properties(box, 2.0),
              mass_properties(make_box({0.5, 5, -4.5}, {1.5, 7, -1.5}), 2.0), 1e-14);
}

TEST(MassOfMesh, SphereAndTorusComeNearTheirClosedForms) {
  // Inscribed polyhedra: what is missing goes with the square of the facets' angles.
  expect_same(mass_properties(stock_mesh("sphere"), 1.0),
              mass_properties(make_sphere({0, 0.5, 0}, 0.5), 1.0), 4e-3);
  expect_same(mass_properties(stock_mesh("torus"), 1.0),
              mass_properties(make_torus({0, 0.15, 0}, {0, 1, 0}, 0.35, 0.15), 1.0), 5e-3);
}

TEST(MassOfMesh, HollowsTakeAway) {
  const MassProperties glass = mass_properties(stock_mesh("hourglass"), 1.0);
  EXPECT_GT(glass.mass, 0.02);
  EXPECT_LT(glass.mass, 0.5 * kPi * 0.28 * 0.28);  // half of the cylinder around it
  EXPECT_LT(length(glass.center - Vec3d(0, 0.5, 0)), 1e-12);
}

RC_GTEST_PROP(MassOfMesh, MovesTurnsAndScalesWithTheBody, (Seed seed)) {
  Dice dice(seed);
  const Mesh mesh = stock_mesh("house");
  const Pose pose = dice.pose(1e3);
  const double scale = dice.between(0.1, 10.0);
  MassProperties expected = mass_properties(mesh, 1000.0);
  expected.mass *= std::pow(scale, 3);
  expected.center *= scale;
  expected.inertia *= std::pow(scale, 5);
  // A kilometre away a double has 1e-13 m left.
  expect_same(mass_properties(moved(scaled(mesh, scale), pose), 1000.0), placed(expected, pose),
              1e-11);
}

// ---- shapes

TEST(MassOfShape, ClosedFormsAgreeWithQuadrature) {
  // Seven seeds, six primitives, turned.
  for (std::uint32_t seed = 1; seed <= 7; ++seed) {
    Dice dice(seed);
    const Vec3d a = dice.in_cube(0.5), u = dice.direction();
    const Shape shapes[] = {
        make_box(a, a + Vec3d(0.3, 0.7, 0.5)), make_sphere(a, 0.4),
        make_cylinder(a, a + 0.6 * u, 0.2),    make_capsule(a, a + 0.6 * u, 0.2),
        make_cone(a, a + 0.6 * u, 0.3, 0.1),   make_torus(a, u, 0.4, 0.15),
        make_cone(a, a + 0.6 * u, 0.3)};
    const Shape shape = placed(shapes[seed - 1], dice.pose(2.0));
    expect_same(by_quadrature(shape, 700.0), mass_properties(shape, 700.0), 2e-3);
  }
}

TEST(MassOfShape, CylinderConeAndCapsuleByTheBook) {
  const MassProperties cylinder = mass_properties(make_cylinder({0, 0, 0}, {0, 0, 2}, 0.5), 1.0);
  EXPECT_NEAR(cylinder.mass, kPi * 0.5, 1e-14);
  EXPECT_NEAR(cylinder.inertia.zz, cylinder.mass * 0.125, 1e-14);
  EXPECT_NEAR(cylinder.inertia.xx, cylinder.mass * (3 * 0.25 + 4) / 12, 1e-14);
  // The tip of a cone is three quarters of its height from the centre of mass.
  const MassProperties cone = mass_properties(make_cone({0, 0, 0}, {0, 1, 0}, 0.5), 1.0);
  EXPECT_NEAR(cone.center.y, 0.25, 1e-15);
  EXPECT_NEAR(cone.inertia.yy, 0.3 * cone.mass * 0.25, 1e-15);
  // A capsule that is nearly a sphere.
  const MassProperties ball = mass_properties(make_capsule({0, 0, 0}, {0, 1e-9, 0}, 0.5), 1.0);
  expect_same(ball, mass_properties(make_sphere({0, 0, 0}, 0.5), 1.0), 1e-8);
}

TEST(MassOfShape, UnionOfDisjointBoxesIsTheSumOfItsParts) {
  const Shape a = make_box({0, 0, 0}, {1, 2, 3}), b = make_box({1.5, 0.3, 0}, {2, 1, 4});
  const MassProperties sum = together(mass_properties(a, 5.0), mass_properties(b, 5.0));
  EXPECT_NEAR(sum.mass, 5.0 * (6.0 + 1.4), 1e-12);
  expect_same(mass_properties(make_union({a, b}), 5.0), sum, 1e-3);
}

TEST(MassOfShape, OverlapsCountOnceAndHollowsNot) {
  const Shape a = make_box({0, 0, 0}, {2, 1, 1}), b = make_box({1, 0, 0}, {3, 1, 1});
  expect_same(mass_properties(make_union({a, b}), 1.0),
              mass_properties(make_box({0, 0, 0}, {3, 1, 1}), 1.0), 1e-3);
  const MassProperties shell =
      mass_properties(make_difference(make_box({0, 0, 0}, {1, 1, 1}),
                                      make_box({0.02, 0.02, 0.02}, {0.98, 0.98, 0.98})),
                      1.0);
  EXPECT_NEAR(shell.mass / (1.0 - std::pow(0.96, 3)), 1.0, 5e-3);
  EXPECT_NEAR(mass_properties(make_intersection({a, make_plane({0, 0.5, 0}, {0, 1, 0})}), 1.0).mass,
              1.0, 1e-3);
}

TEST(MassOfShape, ParallelAxes) {
  // Two balls on a rod without mass: 2 (2/5 m r^2 + m d^2) across it, 4/5 m r^2 along it.
  const MassProperties ball = mass_properties(make_sphere({0, 0, 0}, 0.1), 1000.0);
  const MassProperties both =
      together(placed(ball, {{-1, 7, 0}, {}}), placed(ball, {{1, 7, 0}, {}}));
  EXPECT_LT(length(both.center - Vec3d(0, 7, 0)), 1e-14);
  EXPECT_NEAR(both.inertia.yy, 2 * ball.mass * (0.4 * 0.01 + 1.0), 1e-12);
  EXPECT_NEAR(both.inertia.xx, 2 * ball.mass * 0.4 * 0.01, 1e-12);
}

TEST(MassOfShape, RefusesWhatHasNoMass) {
  EXPECT_NE(message_of(make_plane({0, 0, 0}, {0, 1, 0}), 1.0).find("needs a finite shape"),
            std::string::npos);
  EXPECT_NE(message_of(make_sphere({0, 0, 0}, 1), 0.0).find("density 0"), std::string::npos);
  // The boxes meet in bounds, but nothing is left of the first.
  EXPECT_NE(
      message_of(make_difference(make_box({0, 0, 0}, {1, 1, 1}), make_box({-1, -1, -1}, {2, 2, 2})),
                 1.0)
          .find("needs a shape with a volume"),
      std::string::npos);
}

}  // namespace
}  // namespace barchan
