#include "geometry/shape_mesh.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "geometry/tessellate.h"

namespace barchan {

namespace {

constexpr int kAround = 64;      // parts of a circle
constexpr double kCells = 96.0;  // of a composed shape, along its longest side

// A point of an outline that is turned about an axis.
struct Turned {
  double along;   // the axis [m]
  double radius;  // from it [m]; 0: a tip
};

// What a circle about (along, radius) leaves behind between two angles [rad], from the axis' back
// end (-pi / 2) by the outside (0) to its front end.
void add_arc(const Turned& center, double circle, double from, double to,
             std::vector<Turned>& outline) {
  const int parts = static_cast<int>(std::lround(kAround * (to - from) / (2.0 * std::numbers::pi)));
  for (int k = 0; k <= parts; ++k) {
    const double angle = from + (to - from) * k / parts;
    const double radius = center.radius + circle * std::cos(angle);
    // Where the outline meets the axis, it does so exactly
    outline.push_back(
        {center.along + circle * std::sin(angle), radius < 1e-9 * circle ? 0 : radius});
  }
}

// The outline, which runs with the axis on its outer side, turned about it. One that is `closed`
// goes back to its beginning; others begin and end in a tip.
Mesh turn(const Vec3d& origin, const Vec3d& axis, const std::vector<Turned>& outline, bool closed) {
  const Vec3d a = normalized(axis);
  const Vec3d aside = std::abs(a.x) < 0.6 ? Vec3d(1, 0, 0) : Vec3d(0, 1, 0);
  const Vec3d u = normalized(cross(aside, a)), w = cross(a, u);  // u x w = a
  Mesh mesh;
  std::vector<std::uint32_t> first;
  for (const Turned& point : outline) {
    first.push_back(static_cast<std::uint32_t>(mesh.vertices.size()));
    for (int k = 0; k < (point.radius > 0.0 ? kAround : 1); ++k) {
      const double angle = 2.0 * std::numbers::pi * k / kAround;
      mesh.vertices.push_back(origin + point.along * a +
                              point.radius * (std::cos(angle) * u + std::sin(angle) * w));
    }
  }
  const auto corner = [&](std::size_t ring, std::uint32_t k) {
    return first[ring] + (outline[ring].radius > 0.0 ? k % kAround : 0);
  };
  for (std::size_t low = 0; low + (closed ? 0 : 1) < outline.size(); ++low) {
    const std::size_t high = (low + 1) % outline.size();
    for (std::uint32_t k = 0; k < kAround; ++k) {
      if (outline[low].radius > 0.0) {
        mesh.triangles.push_back({corner(low, k), corner(low, k + 1), corner(high, k)});
      }
      if (outline[high].radius > 0.0) {
        mesh.triangles.push_back({corner(high, k), corner(low, k + 1), corner(high, k + 1)});
      }
    }
  }
  return mesh;
}

Mesh box_mesh(const Vec3d& lo, const Vec3d& hi) {
  Mesh mesh;
  for (int i = 0; i < 8; ++i) {
    mesh.vertices.emplace_back((i & 1) ? hi.x : lo.x, (i & 2) ? hi.y : lo.y, (i & 4) ? hi.z : lo.z);
  }
  mesh.triangles = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                    {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
  return mesh;
}

// A cylinder or a cone; either end may be a tip.
Mesh flat_ended(const Vec3d& from, const Vec3d& to, double radius_from, double radius_to) {
  const double height = length(to - from);
  std::vector<Turned> outline = {{0.0, 0.0}};
  if (radius_from > 0.0) outline.push_back({0.0, radius_from});
  if (radius_to > 0.0) outline.push_back({height, radius_to});
  outline.push_back({height, 0.0});
  return turn(from, to - from, outline, false);
}

Mesh round_ended(const Vec3d& from, const Vec3d& to, double radius) {
  constexpr double kRight = 0.5 * std::numbers::pi;
  const double height = length(to - from);
  std::vector<Turned> outline;
  add_arc({0.0, 0.0}, radius, -kRight, 0.0, outline);
  if (!(height > 0.0)) outline.pop_back();  // a sphere: both arcs have this point
  add_arc({height, 0.0}, radius, 0.0, kRight, outline);
  return turn(from, height > 0.0 ? to - from : Vec3d(0, 1, 0), outline, false);
}

Mesh ring(const Shape& shape) {
  std::vector<Turned> outline;
  add_arc({0.0, shape.radius}, shape.minor_radius, -std::numbers::pi, std::numbers::pi, outline);
  outline.pop_back();  // the first point again
  return turn(shape.center, shape.axis, outline, true);
}

Mesh placed(Mesh mesh, const Pose& placement) {
  for (Vec3d& v : mesh.vertices) v = placement.to_world(v);
  return mesh;
}

}  // namespace

Mesh shape_mesh(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::box:
      return placed(box_mesh(shape.lo, shape.hi), shape.placement);
    case Shape::Kind::sphere:
      return placed(round_ended(shape.center, shape.center, shape.radius), shape.placement);
    case Shape::Kind::cylinder:
      return placed(flat_ended(shape.from, shape.to, shape.radius, shape.radius), shape.placement);
    case Shape::Kind::cone:
      return placed(flat_ended(shape.from, shape.to, shape.radius, shape.radius_to),
                    shape.placement);
    case Shape::Kind::capsule:
      return placed(round_ended(shape.from, shape.to, shape.radius), shape.placement);
    case Shape::Kind::torus:
      return placed(ring(shape), shape.placement);
    default:
      break;
  }
  const Vec3d extent = bounds(shape).extent();
  return tessellate(shape, std::max({extent.x, extent.y, extent.z}) / kCells);
}

}  // namespace barchan
