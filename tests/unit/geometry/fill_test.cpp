// Filling shapes: how many particles, where, in what order, and the same again.
#include "geometry/fill.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "barchan/error.h"
#include "math/random.h"
#include "random_shapes.h"
#include "test_meshes.h"

namespace barchan {
namespace {

using testing::Dice;

FillSettings lattice(double spacing) {
  FillSettings settings;
  settings.spacing = spacing;
  return settings;
}
FillSettings jittered(double spacing, double jitter = 1.0) {
  FillSettings settings = lattice(spacing);
  settings.jittered = true;
  settings.jitter = jitter;
  settings.seed = 42;
  settings.first_id = 1000;
  return settings;
}

std::string what_fill_says(const Shape& shape, const FillSettings& settings) {
  try {
    fill_shape(shape, settings);
  } catch (const Error& e) {
    EXPECT_EQ(e.fault(), Fault::input);
    return e.what();
  }
  return "";
}

// What fill_shape must give, one cube at a time.
std::vector<Vec3> plainly(const Shape& shape, double h) {
  std::vector<Vec3> out;
  const Aabb box = bounds(shape);
  for (double z = box.lo.z + 0.5 * h; z < box.hi.z; z += h) {
    for (double y = box.lo.y + 0.5 * h; y < box.hi.y; y += h) {
      for (double x = box.lo.x + 0.5 * h; x < box.hi.x; x += h) {
        if (deeper_than(shape, {x, y, z}, 0.0)) out.push_back(Vec3(Vec3d(x, y, z)));
      }
    }
  }
  return out;
}

TEST(Fill, ABoxOfWholeSpacingsHoldsExactlyAsMany) {
  EXPECT_EQ(fill_shape(make_box({-0.2, 0, -0.2}, {0.2, 0.6, 0.2}), lattice(0.01)).size(),
            40u * 60u * 40u);
  for (const double h : {0.1, 0.01, 0.03, 1.0 / 3, 0.007}) {
    for (const Vec3d& lo : {Vec3d(0, 0, 0), Vec3d(-0.1, 7.3, 100.7)}) {
      const Shape box = make_box(lo, lo + Vec3d(7 * h, 5 * h, 9 * h));
      EXPECT_EQ(fill_shape(box, lattice(h)).size(), 7u * 5u * 9u) << h;
      EXPECT_EQ(fill_shape(box, jittered(h)).size(), 7u * 5u * 9u) << h;
    }
  }
}

TEST(Fill, LatticeIsInOrderAtTheCentres) {
  const auto x = fill_shape(make_box({0, 0, 0}, {0.3, 0.2, 0.2}), lattice(0.1));
  ASSERT_EQ(x.size(), 12u);
  EXPECT_LT(length(x[0] - Vec3(0.05f, 0.05f, 0.05f)), 1e-7f);
  EXPECT_LT(length(x[1] - Vec3(0.15f, 0.05f, 0.05f)), 1e-7f);
  EXPECT_LT(length(x[3] - Vec3(0.05f, 0.15f, 0.05f)), 1e-7f);
  EXPECT_LT(length(x[6] - Vec3(0.05f, 0.05f, 0.15f)), 1e-7f);
}

TEST(Fill, ASphereHoldsItsVolume) {
  const double r = 0.5, h = 0.02;
  const auto x = fill_shape(make_sphere({1, 2, 3}, r), lattice(h));
  const double volume = 4.0 / 3 * std::acos(-1.0) * r * r * r;
  EXPECT_NEAR(double(x.size()) * h * h * h / volume, 1.0, 0.01);
}

RC_GTEST_PROP(FillProperty, BlocksChangeNothing, (testing::Seed seed)) {
  Dice dice(seed);
  const Shape shape = testing::random_tree(dice, 2);
  const Aabb box = bounds(shape);
  if (!box.is_bounded() || box.is_empty()) return;
  const double h = std::max({box.extent().x, box.extent().y, box.extent().z}) / 20.3;
  const auto fast = fill_shape(shape, lattice(h));
  const auto slow = plainly(shape, h);
  RC_ASSERT(fast.size() == slow.size());
  for (std::size_t i = 0; i < fast.size(); ++i) RC_ASSERT(length(fast[i] - slow[i]) < 1e-5f);
}

TEST(Fill, LatticeParticlesKeepTheirDistance) {
  const double h = 0.05;
  const auto x = fill_shape(make_torus({0.1, 0.2, 0.3}, {1, 1, 0}, 0.3, 0.12), lattice(h));
  ASSERT_GT(x.size(), 100u);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) ASSERT_GT(length(x[i] - x[j]), 0.999f * float(h));
  }
}

TEST(Fill, JitterStaysInItsCubeAndInTheShape) {
  const Shape ball = make_sphere({0, 0, 0}, 0.5);
  const auto centres = fill_shape(ball, lattice(0.05));
  for (const double jitter : {0.0, 0.5, 1.0}) {
    const auto x = fill_shape(ball, jittered(0.05, jitter));
    ASSERT_EQ(x.size(), centres.size());
    std::size_t moved = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Vec3 d = x[i] - centres[i];
      const float most = std::max({std::abs(d.x), std::abs(d.y), std::abs(d.z)});
      EXPECT_LE(most, 0.025f * float(jitter) + 1e-6f);
      EXPECT_LT(length(x[i]), 0.5f + 1e-6f);
      moved += most > 1e-4f;
    }
    EXPECT_GE(moved, jitter > 0 ? x.size() * 9 / 10 : 0);
  }
}

TEST(Fill, JitterIsAFunctionOfSeedAndId) {
  const Shape box = make_box({0, 0, 0}, {1, 1, 1});
  const FillSettings settings = jittered(0.1);
  const auto x = fill_shape(box, settings);
  EXPECT_EQ(x, fill_shape(box, settings));
  FillSettings other = settings;
  other.seed = 43;
  EXPECT_NE(x, fill_shape(box, other));

  // Particle 7 of this fill is particle 0 of one that starts with its id, in another cube.
  other = settings;
  other.first_id = settings.first_id + 7;
  const auto y = fill_shape(box, other);
  EXPECT_LT(length((y[0] - Vec3(0.05f, 0.05f, 0.05f)) - (x[7] - Vec3(0.75f, 0.05f, 0.05f))), 1e-6f);
  const Vec3 u = Random{42}.uniform3(1007, kFillStream);
  EXPECT_LT(length(x[7] - (Vec3(0.7f, 0, 0) + 0.1f * u)), 1e-6f);
}

TEST(Fill, SaysWhyItCannot) {
  const Shape floor = make_plane({0, 0, 0}, {0, 1, 0}), box = make_box({0, 0, 0}, {10, 10, 10});
  EXPECT_NE(what_fill_says(floor, lattice(0.1)).find("intersect it with a box"), std::string::npos);
  EXPECT_NE(what_fill_says(box, lattice(0.005)).find("2,147,483,647"), std::string::npos);
  EXPECT_NE(what_fill_says(make_sphere({}, 6), lattice(0.007)).find("2,147,483,647"),
            std::string::npos);
  EXPECT_NE(what_fill_says(box, lattice(1e-9)).find("larger spacing"), std::string::npos);
  EXPECT_NE(what_fill_says(box, lattice(0)).find("spacing is 0"), std::string::npos);
  EXPECT_NE(what_fill_says(box, jittered(0.1, 2)).find("jitter is 2"), std::string::npos);
  EXPECT_NE(what_fill_says(make_sphere({}, 0), lattice(1)).find("radius is 0"), std::string::npos);
}

TEST(Fill, ShapesSmallerThanHalfASpacingStayEmpty) {
  EXPECT_TRUE(fill_shape(make_box({0, 0, 0}, {0.04, 1, 1}), lattice(0.1)).empty());
  EXPECT_EQ(fill_shape(make_box({0, 0, 0}, {0.06, 0.1, 0.1}), lattice(0.1)).size(), 1u);
}

TEST(Fill, MeshesHoldWhatIsExactlyInside) {
  // A bent ring, turned; a hollow box, whose room is not part of it.
  const Pose turned{{0.1, 0.2, 0.3}, from_axis_angle(normalized(Vec3d(1, 2, 3)), 0.7)};
  const Shape ring = placed(testing::mesh_shape(testing::torus_mesh(0.5, 0.2, 60, 30)), turned);
  const Shape shell =
      testing::mesh_shape(testing::box_shell_mesh({-0.2, -0.2, -0.2}, {0.2, 0.2, 0.2}, 0.1));
  for (const Shape& shape : {ring, shell}) {
    const std::vector<Vec3> points = fill_shape(shape, lattice(0.021));
    const std::vector<Vec3> expected = plainly(shape, 0.021);
    ASSERT_EQ(points.size(), expected.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_LT(length(points[i] - expected[i]), 1e-6f);
    }
    for (const Vec3& p : fill_shape(shape, jittered(0.017))) {
      ASSERT_TRUE(deeper_than(shape, Vec3d(p), 0.0));
    }
  }
}

TEST(Fill, AMeshTakesTheVolumeItEncloses) {
  const auto torus = testing::solid(testing::torus_mesh(0.5, 0.2, 100, 50));
  const double spacing = std::cbrt(torus->volume() / 1e5);
  const std::size_t count = fill_shape(make_mesh(torus), jittered(spacing)).size();
  EXPECT_NEAR(double(count), 1e5, 500);
}

}  // namespace
}  // namespace barchan
