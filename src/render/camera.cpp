#include "render/camera.h"

#include <algorithm>
#include <cmath>

namespace barchan {

namespace {

constexpr double kAzimuth = 0.56;    // from the front towards the right [rad]
constexpr double kElevation = 0.36;  // above the horizon [rad]
// Shares of the half picture for the subject: to the sides, above, below (where the scales are).
constexpr double kSideways = 0.88, kAbove = 0.88, kBelow = 0.76;
constexpr double kLeastAspect = 0.05;  // of the box's edges to its longest

// Horizontal axes of a scene: y up gives x and z, z up gives x and -y.
void horizontal_axes(const Vec3d& up, Vec3d& right, Vec3d& front) {
  const Vec3d side = std::fabs(up.x) < 0.9 ? Vec3d(1, 0, 0) : Vec3d(0, 1, 0);
  right = normalized(side - dot(side, up) * up);
  front = cross(right, up);
}

// A box with some volume: a flat or needle-like one would let the camera into the subject.
Aabb solid_box(const Aabb& subject) {
  if (subject.is_empty() || !subject.is_bounded()) return {{-0.5, -0.5, -0.5}, {0.5, 0.5, 0.5}};
  const Vec3d center = subject.center(), extent = subject.extent();
  double longest = std::max({extent.x, extent.y, extent.z});
  if (!(longest > 0.0)) longest = 1.0;
  const double least = kLeastAspect * longest;
  const Vec3d half = 0.5 * max(extent, Vec3d(least, least, least));
  return {center - half, center + half};
}

// Along one picture axis point i at offset a_i and depth z_i is in view from an eye at (e, z) if
//     -(z_i - z) minus <= a_i - e <= (z_i - z) plus,   minus and plus being slopes. So
//     e - z plus >= A = max(a_i - z_i plus)   and   e + z minus <= B = min(a_i + z_i minus),
// the nearest eye is at z = (B - A) / (plus + minus), and from there or farther away the middle of
// what is allowed is e = (A + B + z (plus - minus)) / 2.
struct Fit {
  double minus, plus;
  double a = -Aabb::kEndless, b = Aabb::kEndless;

  void add(double offset, double depth) {
    a = std::max(a, offset - depth * plus);
    b = std::min(b, offset + depth * minus);
  }
  double nearest() const { return (b - a) / (plus + minus); }
  double offset(double depth) const { return 0.5 * (a + b + depth * (plus - minus)); }
};

}  // namespace

Camera fit_camera(const Aabb& subject, const Vec3d& up, double fov, double aspect) {
  const Vec3d upward = normalized(up, Vec3d(0, 1, 0));
  Vec3d right, front;
  horizontal_axes(upward, right, front);

  // Axes of the view
  const Vec3d level = std::cos(kAzimuth) * front + std::sin(kAzimuth) * right;
  const Vec3d forward = -std::cos(kElevation) * level - std::sin(kElevation) * upward;
  const Vec3d across = normalized(cross(forward, upward));
  const Vec3d over = cross(across, forward);

  // The nearest eye that has all corners in view
  const Aabb box = solid_box(subject);
  const Vec3d center = box.center();
  const double slope = std::tan(0.5 * fov), side = kSideways * slope * aspect;
  Fit wide{side, side}, tall{kBelow * slope, kAbove * slope};
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d p((corner & 1) ? box.hi.x : box.lo.x, (corner & 2) ? box.hi.y : box.lo.y,
                  (corner & 4) ? box.hi.z : box.lo.z);
    const Vec3d arm = p - center;
    wide.add(dot(arm, across), dot(arm, forward));
    tall.add(dot(arm, over), dot(arm, forward));
  }
  const double depth = std::min(wide.nearest(), tall.nearest());
  const Vec3d sideways = wide.offset(depth) * across + tall.offset(depth) * over;

  Camera camera;
  camera.eye = center + sideways + depth * forward;
  camera.target = center + sideways;
  camera.up = upward;
  camera.fov = fov;
  return camera;
}

CameraKey interpolated(const std::vector<CameraKey>& keys, double time) {
  const auto later = std::upper_bound(keys.begin(), keys.end(), time,
                                      [](double t, const CameraKey& key) { return t < key.time; });
  if (later == keys.begin()) return keys.front();
  if (later == keys.end()) return keys.back();

  // A cubic with the keys' places at its ends and there the slope between the keys before and
  // after (Catmull & Rom 1974); at rest at the first and the last key.
  const std::size_t k = static_cast<std::size_t>(later - keys.begin()) - 1;
  const CameraKey &a = keys[k], &b = keys[k + 1];
  const double span = b.time - a.time, s = (time - a.time) / span;
  const auto between = [&](Vec3d CameraKey::*place) {
    const auto slope = [&](std::size_t i) {
      if (i == 0 || i + 1 == keys.size()) return Vec3d();
      return (keys[i + 1].*place - keys[i - 1].*place) / (keys[i + 1].time - keys[i - 1].time);
    };
    const double r = 1.0 - s;
    return r * r * (1.0 + 2.0 * s) * (a.*place) + s * s * (1.0 + 2.0 * r) * (b.*place) +
           span * s * r * (r * slope(k) - s * slope(k + 1));
  };
  return {time, between(&CameraKey::position), between(&CameraKey::target)};
}

Vec3d Projection::project(const Vec3d& point) const {
  const Vec3d arm = point - eye;
  const double z = dot(arm, forward);
  return {center_x + focal * dot(arm, right) / z, center_y - focal * dot(arm, up) / z, z};
}

Projection make_projection(const Camera& camera, int width, int height) {
  Projection view;
  const Vec3d upward = normalized(camera.up, Vec3d(0, 1, 0));
  view.eye = camera.eye;
  view.forward = normalized(camera.target - camera.eye, Vec3d(0, 0, -1));
  // Looking straight along the up axis any direction may be to the right.
  Vec3d right, front;
  horizontal_axes(upward, right, front);
  const Vec3d side = cross(view.forward, upward);
  view.right = length(side) > 1e-9 ? normalized(side) : right;
  view.up = cross(view.right, view.forward);
  view.focal = 0.5 * height / std::tan(0.5 * camera.fov);
  view.center_x = 0.5 * width;
  view.center_y = 0.5 * height;
  view.width = width;
  view.height = height;
  return view;
}

}  // namespace barchan
