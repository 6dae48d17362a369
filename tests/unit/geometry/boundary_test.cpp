// Boundary samples: where they are, by plain inequalities and exact meshes, and what a particle of
// fluid sees of them, against the lattice that they stand for.
#include "geometry/boundary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "geometry/stand_ins.h"
#include "random_shapes.h"
#include "test_meshes.h"

namespace barchan {
namespace {

using testing::Dice;

constexpr double d = 0.05;  // the fluid's spacing [m]

BoundarySamples sample(const Shape& shape, bool inside_out = false) {
  return sample_boundary(shape, inside_out, d, 3, {});
}

// The poly6 kernel over its value at 0, h = 2 d.
double kernel(double r_squared) {
  return std::pow(std::max(1.0 - r_squared / (4.0 * d * d), 0.0), 3);
}

double density(const BoundarySamples& b, const Vec3d& at) {
  double sum = 0.0;
  for (std::size_t i = 0; i < b.points.size(); ++i) {
    sum += b.weight[i] * kernel(length_squared(b.points[i] - at));
  }
  return sum;
}

// What the lattice's sites in a solid give to the site at 0: those with solid(i, j, k).
template <class Solid>
double lattice_density(const Solid& solid) {
  double sum = 0.0;
  for (int i = -2; i <= 2; ++i) {
    for (int j = -2; j <= 2; ++j) {
      for (int k = -2; k <= 2; ++k) {
        if (solid(i, j, k)) sum += kernel(d * d * (i * i + j * j + k * k));
      }
    }
  }
  return sum;
}
double lattice_wall() {
  return lattice_density([](int i, int, int) { return i < 0; });
}

struct Spread {
  double mean, rms;
};
// Of the density over the lattice's, over places of a square of 12 d about `middle`.
Spread over_wall(const BoundarySamples& b, const Vec3d& middle, const Vec3d& u, const Vec3d& v) {
  Dice dice(11);
  double sum = 0.0, squares = 0.0;
  const int n = 400;
  for (int i = 0; i < n; ++i) {
    const double x = dice.between(-6 * d, 6 * d), y = dice.between(-6 * d, 6 * d);
    const double ratio = density(b, middle + x * u + y * v) / lattice_wall();
    sum += ratio;
    squares += ratio * ratio;
  }
  return {sum / n, std::sqrt(std::max(squares / n - std::pow(sum / n, 2), 0.0))};
}
void expect_a_wall(const Spread& found) {
  EXPECT_NEAR(found.mean, 1.0, 0.02);
  EXPECT_LT(found.rms, 0.03);
}

double total(const BoundarySamples& b) {
  return std::accumulate(b.weight.begin(), b.weight.end(), 0.0);
}

double nearest(const BoundarySamples& b, const Vec3d& p) {
  double squared = 1e9;
  for (const Vec3d& q : b.points) squared = std::min(squared, length_squared(q - p));
  return std::sqrt(squared);
}

// All samples are d/2 deep, by the plain inequalities: none of them is there twice.
void expect_sunk(const BoundarySamples& b, const Shape& shape) {
  ASSERT_EQ(b.points.size(), b.weight.size());
  ASSERT_FALSE(b.points.empty());
  for (const Vec3d& p : b.points) {
    EXPECT_TRUE(deeper_than(shape, p, 0.45 * d));
    EXPECT_FALSE(deeper_than(shape, p, 0.55 * d));
  }
}

Shape big_box() {
  return make_box({0, 0, 0}, {20 * d, 20 * d, 20 * d});
}
// The same solid, which is no box to look at.
Shape big_union() {
  return make_union({big_box(), make_box({5 * d, 5 * d, 5 * d}, {6 * d, 6 * d, 6 * d})});
}
const Pose kTurned{{0.3, -2.0, 7.0}, from_axis_angle(normalized(Vec3d(1, 2, -1)), 0.7)};
const Vec3d kX(1, 0, 0), kY(0, 1, 0), kZ(0, 0, 1);

TEST(Boundary, TheConstantsOfTheHeader) {
  EXPECT_NEAR(lattice_wall(), 63.0 / 64.0, 1e-12);
  const double plane = lattice_density([](int i, int, int) { return i == 0; });
  EXPECT_NEAR(plane, 51.0 / 16.0, 1e-12);
}

TEST(Boundary, AFlatWallIsALayerOfTheLattice) {
  for (const Shape& plain : {big_box(), big_union()}) {
    for (const bool turned : {false, true}) {
      const Pose pose = turned ? kTurned : Pose();
      const BoundarySamples b = sample(placed(plain, pose));
      expect_a_wall(over_wall(b, pose.to_world({10 * d, 20.5 * d, 10 * d}),
                              rotate(pose.orientation, kX), rotate(pose.orientation, kZ)));
    }
  }
}

TEST(Boundary, AWallOfTheRightWeightOnly) {
  // A control: a tenth off the weights or a tenth of a spacing nearer is no wall any more.
  BoundarySamples b = sample(big_box());
  EXPECT_GT(over_wall(b, {10 * d, 20.4 * d, 10 * d}, kX, kZ).mean, 1.1);
  for (float& w : b.weight) w *= 0.9f;
  EXPECT_LT(over_wall(b, {10 * d, 20.5 * d, 10 * d}, kX, kZ).mean, 0.91);
}

TEST(Boundary, ThickSolidsAreSampledOnce) {
  for (const Shape& plain : {big_box(), big_union()}) {
    for (const Pose& pose : {Pose(), kTurned}) {
      const Shape shape = placed(plain, pose);
      const BoundarySamples b = sample(shape);
      expect_sunk(b, shape);
      // The sunk surface's area; edges crowd a little.
      const double area = 6.0 * 19.0 * 19.0;
      EXPECT_NEAR(total(b), area, 0.05 * area);
    }
  }
}

TEST(Boundary, AContainersFacesEdgesAndCorners) {
  // The lattice around the fluid's last site in an edge and in a corner.
  const double edge = lattice_density([](int i, int j, int) { return i < 0 || j < 0; });
  const double corner =
      lattice_density([](int i, int j, int k) { return i < 0 || j < 0 || k < 0; });
  struct Expected {
    Shape shape;
    double edge, corner;  // found over the lattice's
  };
  // The grid keeps edges sharp, the covering rounds them.
  for (const Expected& e : {Expected{big_box(), 0.97, 0.96}, Expected{big_union(), 1.01, 1.04}}) {
    const BoundarySamples b = sample(e.shape, true);
    for (const Vec3d& p : b.points) {
      EXPECT_TRUE(farther_than(e.shape, p, 0.45 * d));
      EXPECT_FALSE(farther_than(e.shape, p, 0.87 * d));
    }
    expect_a_wall(over_wall(b, {10 * d, 0.5 * d, 10 * d}, kX, kZ));
    expect_a_wall(over_wall(b, {19.5 * d, 10 * d, 10 * d}, kY, kZ));
    double along = 0.0, corners = 0.0;
    for (int i = 0; i < 100; ++i) {
      along += density(b, {0.5 * d, 0.5 * d, (7.0 + 0.06 * i) * d}) / 100;
    }
    for (int i = 0; i < 8; ++i) {
      corners += density(b, {d * (i & 1 ? 0.5 : 19.5), d * (i & 2 ? 0.5 : 19.5),
                             d * (i & 4 ? 0.5 : 19.5)}) /
                 8;
    }
    EXPECT_NEAR(along / edge, e.edge, 0.02);
    EXPECT_NEAR(corners / corner, e.corner, 0.03);
  }
}

TEST(Boundary, Spheres) {
  for (const double radius : {3 * d, 20 * d}) {
    const Shape ball = make_sphere({1, 2, 3}, radius);
    const BoundarySamples b = sample(ball);
    expect_sunk(b, ball);
    const double area = 4 * kPi * std::pow(radius / d - 0.5, 2);
    EXPECT_NEAR(total(b), area, 0.03 * area);
    // The same all around.
    Dice dice(5);
    double low = 9.0, high = 0.0;
    for (int i = 0; i < 100; ++i) {
      const double seen = density(b, Vec3d(1, 2, 3) + (radius + 0.5 * d) * dice.direction());
      low = std::min(low, seen);
      high = std::max(high, seen);
    }
    EXPECT_LT(high, 1.08 * low);
  }
}

TEST(Boundary, TinyThingsAreOneParticle) {
  const BoundarySamples b = sample(make_sphere({1, 2, 3}, 0.1 * d));
  ASSERT_GE(b.points.size(), 1u);
  EXPECT_LE(total(b), 1.5);
  EXPECT_GE(total(b), 0.9);
  EXPECT_LT(length(b.points[0] - Vec3d(1, 2, 3)), 0.1 * d);
}

TEST(Boundary, ThinPlatesAreSampledInTheirMiddle) {
  const double thick = 0.3 * d, wide = 20 * d;
  const Shape box = make_box({0, 0, 0}, {wide, thick, wide});
  const Shape mesh = testing::mesh_shape(testing::box_mesh({0, 0, 0}, {wide, thick, wide}));
  const Shape disc = make_cylinder({10 * d, 0, 10 * d}, {10 * d, thick, 10 * d}, 10 * d);
  for (const Shape& shape : {box, placed(box, kTurned), make_union({box}), mesh, disc}) {
    const BoundarySamples b = sample(shape);
    const Pose pose = shape.placement;
    for (const Vec3d& p : b.points) {
      EXPECT_NEAR(pose.to_local(p).y, 0.5 * thick, 0.06 * d);
    }
    // One layer in all, whatever the two faces brought; up to the rim.
    const bool round = shape.kind == Shape::Kind::cylinder;
    const double area = round ? kPi * 100 : 400.0;
    EXPECT_NEAR(total(b), area, 0.12 * area);
    Dice dice(7);
    for (int i = 0; i < 200; ++i) {
      Vec3d on(dice.between(0, wide), dice.below(2) * thick, dice.between(0, wide));
      if (round && std::hypot(on.x - 10 * d, on.z - 10 * d) > 10 * d) continue;
      EXPECT_LE(nearest(b, pose.to_world(on)), 0.85 * d);
    }
    // The same from both sides.
    const Vec3d u = rotate(pose.orientation, kX), v = rotate(pose.orientation, kZ);
    const Spread above = over_wall(b, pose.to_world({10 * d, thick + 0.5 * d, 10 * d}), u, v);
    const Spread below = over_wall(b, pose.to_world({10 * d, -0.5 * d, 10 * d}), u, v);
    EXPECT_NEAR(above.mean, below.mean, 0.1);
    EXPECT_LT(above.rms, 0.05);
  }
}

TEST(Boundary, PlatesThatAreJustThickEnoughHaveTwoLayers) {
  // 1.1 d: the sunk surface is thinner than the covering's cells.
  const double thick = 1.1 * d;
  const Shape plate = make_union({make_box({0, 0, 0}, {20 * d, thick, 20 * d})});
  const BoundarySamples b = sample(plate);
  const Spread above = over_wall(b, {10 * d, thick + 0.5 * d, 10 * d}, kX, kZ);
  const Spread below = over_wall(b, {10 * d, -0.5 * d, 10 * d}, kX, kZ);
  // Layers at d and 1.1 d share one layer's weight: (1 + (0.6975 / 0.75)^4) / (1 + 0.9975^4).
  EXPECT_NEAR(above.mean, 0.878, 0.03);
  EXPECT_NEAR(below.mean, 0.878, 0.03);
}

TEST(Boundary, BothSidesOfAThinShell) {
  for (const double wall : {0.1 * d, 0.4 * d}) {
    const Vec3d lo(-8 * d, -6 * d, -7 * d);
    const Shape shell = testing::mesh_shape(testing::box_shell_mesh(lo, -lo, wall));
    const BoundarySamples b = sample(shell);
    for (const Vec3d& p : b.points) {
      EXPECT_LT(shell.mesh->nearest(p).distance, 0.3 * d);  // in the wall, not in the hollow
    }
    Dice dice(9);
    for (int i = 0; i < 300; ++i) {
      EXPECT_LE(nearest(b, shell.mesh->nearest(dice.in_cube(9 * d)).point), 0.85 * d);
    }
  }
}

TEST(Boundary, TheEdgeOfAWedge) {
  // 20 degrees at x = 0; d/2 deep there is something from x = 2.9 d on.
  const double rise = std::tan(10.0 * kPi / 180.0), wide = 12 * d;
  Mesh mesh;
  mesh.vertices = {{0, 0, 0},    {wide, -rise * wide, 0},    {wide, rise * wide, 0},
                   {0, 0, wide}, {wide, -rise * wide, wide}, {wide, rise * wide, wide}};
  mesh.triangles = {{0, 2, 1}, {3, 4, 5}, {0, 1, 4}, {0, 4, 3},
                    {0, 3, 5}, {0, 5, 2}, {1, 2, 5}, {1, 5, 4}};
  const Shape wedge = testing::mesh_shape(mesh);
  const BoundarySamples b = sample(wedge);
  for (int i = 0; i <= 100; ++i) {
    EXPECT_LE(nearest(b, {0, 0, 0.01 * i * wide}), 1.2 * d);
    EXPECT_LE(nearest(b, {1.5 * d, rise * 1.5 * d, 0.01 * i * wide}), 1.2 * d);
  }
  for (const Vec3d& p : b.points) EXPECT_FALSE(farther_than(wedge, p, 0.06 * d));
}

TEST(Boundary, APlaneOnItsStage) {
  const Aabb stage{{-6 * d, -4 * d, -5 * d}, {7 * d, 8 * d, 9 * d}};
  for (const bool inside_out : {false, true}) {
    for (const Vec3d& normal : {Vec3d(0, 2, 0), Vec3d(1, -2, 0.5)}) {
      const Vec3d n = normalized(normal), on(0.3 * d, 0.2 * d, 0.1 * d);
      const BoundarySamples b = sample_boundary(make_plane(on, normal), inside_out, d, 3, stage);
      const double side = inside_out ? -1.0 : 1.0;
      for (const Vec3d& p : b.points) EXPECT_NEAR(dot(p - on, n), -side * 0.5 * d, 1e-6 * d);
      const Vec3d u = normalized(cross(n, Vec3d(0.3, 0.1, 1.0)));
      expect_a_wall(over_wall(b, on + side * 0.5 * d * n, u, cross(n, u)));
      Dice dice(2);
      for (int i = 0; i < 300; ++i) {
        const Vec3d any = dice.in_cube(9 * d), foot = any - dot(any - on, n) * n;
        if (!stage.contains(foot)) continue;
        EXPECT_LE(nearest(b, foot), 0.7 * d);
      }
    }
  }
}

TEST(Boundary, EndlessShapesWithoutTheirCut) {
  const Aabb stage{{0, -4 * d, 0}, {20 * d, 10 * d, 20 * d}};
  const Shape ground =
      make_union({make_plane({0, 0, 0}, {0, 1, 0}), make_sphere({15 * d, 0, 15 * d}, 3 * d)});
  const BoundarySamples b = sample_boundary(ground, false, d, 3, stage);
  expect_sunk(b, ground);
  expect_a_wall(over_wall(b, {6 * d, 0.5 * d, 6 * d}, kX, kZ));

  // A corner without an end, from within: nothing farther from it than the rounded edge is.
  const Shape corner =
      make_intersection({make_plane({0, 0, 0}, {0, -1, 0}), make_plane({0, 0, 0}, {-1, 0, 0})});
  const BoundarySamples c = sample_boundary(corner, true, d, 3, stage);
  for (const Vec3d& p : c.points) EXPECT_TRUE(std::abs(std::min(p.x, p.y) + 0.5 * d) < 0.1 * d);
  expect_a_wall(over_wall(c, {10 * d, 0.5 * d, 10 * d}, kX, kZ));
}

TEST(Boundary, AStandIn) {
  const Shape bunny = testing::mesh_shape(stock_mesh("bunny"));
  const Mesh& mesh = bunny.mesh->mesh();
  // Sunk, the surface is smaller; the coarser the more.
  struct Expected {
    double spacing, share;  // [m]; of the sum of weights in area / spacing^2
  };
  for (const auto& [spacing, share] : {Expected{0.05, 0.70}, Expected{0.02, 0.88}}) {
    const BoundarySamples b = sample_boundary(bunny, false, spacing, 3, {});
    for (const Vec3d& p : b.points) {
      EXPECT_FALSE(farther_than(bunny, p, 0.02 * spacing));
      EXPECT_FALSE(deeper_than(bunny, p, 0.55 * spacing));
    }
    double area = 0.0, worst = 0.0;
    for (const Triangle& t : mesh.triangles) {
      const Vec3d a = mesh.corner(t, 0), e = mesh.corner(t, 1) - a, f = mesh.corner(t, 2) - a;
      area += 0.5 * length(cross(e, f));
      worst = std::max(worst, nearest(b, a + (e + f) / 3.0));
    }
    EXPECT_LE(worst, 1.2 * spacing);
    EXPECT_NEAR(total(b) * spacing * spacing / area, share, 0.04);
  }
}

TEST(Boundary, TheSameForTheSameSeed) {
  const Shape ball = make_sphere({0, 0, 0}, 5 * d);
  const BoundarySamples a = sample(ball), b = sample(ball);
  EXPECT_EQ(a.points, b.points);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_NE(a.points, sample_boundary(ball, false, d, 4, {}).points);
}

TEST(Boundary, SaysWhyItCannot) {
  const Shape plane = make_plane({0, 0, 0}, {0, 1, 0});
  EXPECT_THROW(sample_boundary(big_box(), false, 0.0, 1, {}), Error);
  EXPECT_THROW(sample_boundary(big_box(), false, 1e-6, 1, {}), Error);
  EXPECT_THROW(sample_boundary(make_sphere({0, 0, 0}, -1.0), false, d, 1, {}), Error);
  EXPECT_THROW(sample_boundary(plane, false, d, 1, Aabb::everything()), Error);
  EXPECT_TRUE(sample_boundary(plane, false, d, 1, {}).points.empty());
}

}  // namespace
}  // namespace barchan
