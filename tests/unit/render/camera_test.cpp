// The camera sees what it should.
#include "render/camera.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace barchan {
namespace {

// Of the box's corners on a picture: the largest distance from the middle in half pictures.
double largest_share(const Aabb& box, const Camera& camera, double aspect) {
  const int height = 1000, width = static_cast<int>(1000 * aspect);
  const Projection view = make_projection(camera, width, height);
  double largest = 0.0;
  for (int i = 0; i < 8; ++i) {
    const Vec3d corner((i & 1) ? box.hi.x : box.lo.x, (i & 2) ? box.hi.y : box.lo.y,
                       (i & 4) ? box.hi.z : box.lo.z);
    const Vec3d p = view.project(corner);
    EXPECT_GT(p.z, 0.0);
    largest = std::max(
        {largest, std::fabs(2.0 * p.x / width - 1.0), std::fabs(2.0 * p.y / height - 1.0)});
  }
  return largest;
}

TEST(FitCamera, KeepsAllCornersInViewAndFillsThePicture) {
  const Aabb boxes[] = {{{-1, 0, -0.3}, {1, 0.8, 0.3}},
                        {{0, 0, 0}, {0.01, 3, 0.01}},
                        {{100, 100, 100}, {101, 100, 107}},
                        {{-4, -4, -4}, {4, 4, 4}}};
  for (const Aabb& box : boxes) {
    for (const double aspect : {0.5, 1.0, 960.0 / 540.0, 3.0}) {
      for (const Vec3d& up : {Vec3d(0, 1, 0), Vec3d(0, 0, 1), Vec3d(1, 0, 0), Vec3d(0, 2, 2)}) {
        const double share = largest_share(box, fit_camera(box, up, 0.6, aspect), aspect);
        EXPECT_LE(share, 0.95);
        EXPECT_GE(share, 0.6);
      }
    }
  }
}

TEST(FitCamera, LooksFromTheFrontAndAbove) {
  const Aabb box{{-1, -1, -1}, {1, 1, 1}};
  const Camera y_up = fit_camera(box, {0, 1, 0}, 0.6, 1.5);
  EXPECT_GT(y_up.eye.y, 0.5);
  EXPECT_GT(y_up.eye.z, 0.5);
  const Camera z_up = fit_camera(box, {0, 0, 1}, 0.6, 1.5);
  EXPECT_GT(z_up.eye.z, 0.5);
  EXPECT_LT(z_up.eye.y, -0.5);
}

TEST(FitCamera, TakesAnythingForABox) {
  for (const Aabb& box : {Aabb(), Aabb::everything(), Aabb{{1, 2, 3}, {1, 2, 3}}}) {
    const Camera camera = fit_camera(box, {0, 1, 0}, 0.6, 1.5);
    EXPECT_TRUE(is_finite(camera.eye));
    EXPECT_GT(length(camera.eye - camera.target), 0.1);
  }
}

TEST(Projection, PutsTheTargetInTheMiddleAndUpwardsUp) {
  const Camera camera{{3, 4, 5}, {1, 0, 0}, {0, 1, 0}, 0.7};
  const Projection view = make_projection(camera, 200, 100);
  const Vec3d middle = view.project(camera.target);
  EXPECT_NEAR(middle.x, 100.0, 1e-9);
  EXPECT_NEAR(middle.y, 50.0, 1e-9);
  EXPECT_NEAR(middle.z, length(camera.eye - camera.target), 1e-12);
  EXPECT_LT(view.project({1, 0.1, 0}).y, 50.0);
  EXPECT_NEAR(dot(view.right, view.up), 0.0, 1e-15);
}

TEST(Projection, MayLookStraightDown) {
  const Projection view = make_projection({{0, 5, 0}, {0, 0, 0}, {0, 1, 0}, 0.7}, 100, 100);
  EXPECT_TRUE(is_finite(view.right));
  EXPECT_NEAR(length(view.up), 1.0, 1e-12);
}

TEST(Camera, GoesSmoothlyFromKeyToKey) {
  const std::vector<CameraKey> keys = {
      {0.0, {0, 0, 0}, {0, 0, -1}}, {1.0, {2, 0, 0}, {0, 0, -1}}, {3.0, {6, 4, 0}, {1, 0, -1}}};
  const auto at = [&](double t) { return interpolated(keys, t).position; };
  EXPECT_EQ(at(-5.0), keys[0].position);
  EXPECT_EQ(at(9.0), keys[2].position);
  for (const CameraKey& key : keys) EXPECT_LT(length(at(key.time) - key.position), 1e-12);
  // No jerk at the middle key, and at rest at both ends
  const double e = 1e-5;
  const Vec3d before = (at(1.0) - at(1.0 - e)) / e, after = (at(1.0 + e) - at(1.0)) / e;
  EXPECT_LT(length(before - after), 1e-3);
  EXPECT_GT(length(before), 1.0);
  EXPECT_LT(length(at(e) - at(0.0)) / e, 1e-3);
  EXPECT_LT(length(interpolated(keys, 2.0).target - Vec3d(0.5, 0, -1)), 0.2);
}

}  // namespace
}  // namespace barchan
