// Buildings and tools: outlines in a plane that are drawn along z or turned about y, and a castle
// of shapes.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "geometry/mesh_orient.h"
#include "geometry/polygonise.h"
#include "geometry/sdf.h"
#include "geometry/shape.h"
#include "geometry/stand_in_makers.h"

namespace barchan::stand_ins {

namespace {

constexpr double kPi = std::numbers::pi;

struct Point {
  double x, y;  // [m]; x is the radius of outlines that are turned
};
using Outline = std::vector<Point>;

void face_outwards(Mesh& mesh) {
  if (signed_volume(mesh) >= 0.0) return;
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
}

// Quadrangles between two rows of `count` vertices; the rows are closed if `around`.
void add_strip(Mesh& mesh, std::uint32_t row, std::uint32_t next, std::uint32_t count,
               bool around) {
  for (std::uint32_t k = 0; k + (around ? 0 : 1) < count; ++k) {
    const std::uint32_t l = (k + 1) % count;
    mesh.triangles.push_back({row + k, row + l, next + l});
    mesh.triangles.push_back({row + k, next + l, next + k});
  }
}

// The area between two lines that run up side by side and share their ends or not, drawn from
// z = -depth/2 to depth/2.
Mesh extruded(const Outline& left, const Outline& right, double depth) {
  // The outline, once around; level k of the two lines is k and n - 1 - k of it.
  Outline around = right;
  around.insert(around.end(), left.rbegin(), left.rend());
  const auto n = static_cast<std::uint32_t>(around.size());
  Mesh mesh;
  for (const double z : {-depth / 2.0, depth / 2.0}) {
    for (const Point& p : around) mesh.vertices.push_back({p.x, p.y, z});
  }
  add_strip(mesh, 0, n, n, true);
  for (std::uint32_t k = 0; k + 1 < n / 2; ++k) {
    const std::uint32_t a = k, b = k + 1, c = n - 2 - k, d = n - 1 - k;
    mesh.triangles.push_back({a, c, b}), mesh.triangles.push_back({a, d, c});
    mesh.triangles.push_back({n + a, n + b, n + c}),
        mesh.triangles.push_back({n + a, n + c, n + d});
  }
  face_outwards(mesh);
  return mesh;
}

// A closed outline off the axis, turned about y.
Mesh turned_loop(const Outline& outline, std::uint32_t segments) {
  const auto n = static_cast<std::uint32_t>(outline.size());
  Mesh mesh;
  for (std::uint32_t s = 0; s < segments; ++s) {
    const double angle = 2.0 * kPi * s / segments;
    for (const Point& p : outline) {
      mesh.vertices.push_back({p.x * std::cos(angle), p.y, p.x * std::sin(angle)});
    }
  }
  for (std::uint32_t s = 0; s < segments; ++s)
    add_strip(mesh, n * s, n * ((s + 1) % segments), n, true);
  face_outwards(mesh);
  return mesh;
}

// An outline whose first and last point are on the axis, turned about y.
Mesh turned_arc(const Outline& outline, std::uint32_t segments) {
  const auto n = static_cast<std::uint32_t>(outline.size()) - 2;
  Mesh mesh;
  mesh.vertices = {{0.0, outline.front().y, 0.0}, {0.0, outline.back().y, 0.0}};
  for (std::uint32_t s = 0; s < segments; ++s) {
    const double angle = 2.0 * kPi * s / segments;
    for (std::uint32_t k = 1; k <= n; ++k) {
      const Point& p = outline[k];
      mesh.vertices.push_back({p.x * std::cos(angle), p.y, p.x * std::sin(angle)});
    }
  }
  for (std::uint32_t s = 0; s < segments; ++s) {
    const std::uint32_t row = 2 + n * s, next = 2 + n * ((s + 1) % segments);
    add_strip(mesh, row, next, n, false);
    mesh.triangles.push_back({0, row, next});
    mesh.triangles.push_back({1, next + n - 1, row + n - 1});
  }
  face_outwards(mesh);
  return mesh;
}

// `hollow` as an inner surface, facing into the hollow.
void add_hollow(Mesh& mesh, const Mesh& hollow) {
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.insert(mesh.vertices.end(), hollow.vertices.begin(), hollow.vertices.end());
  for (const Triangle& t : hollow.triangles) {
    mesh.triangles.push_back({first + t[0], first + t[2], first + t[1]});
  }
}

Outline circle(const Point& center, double radius, int points) {
  Outline outline;
  for (int k = 0; k < points; ++k) {
    const double angle = 2.0 * kPi * k / points;
    outline.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
  return outline;
}

}  // namespace

// ---- outlines

Mesh make_house() {
  const Outline left = {{-0.4, 0.0}, {-0.4, 0.6}, {-0.001, 1.0}};
  const Outline right = {{0.4, 0.0}, {0.4, 0.6}, {0.001, 1.0}};  // a ridge beam of 2 mm
  return extruded(left, right, 1.0);
}

// A blade bent to a part of a circle, its hollow side towards +x.
Mesh make_bulldozer() {
  constexpr int kPoints = 24;
  constexpr double kRadius = 0.72, kThickness = 0.07, kWidth = 2.4, kHalfAngle = 0.72;  // m, rad
  Outline back, front;
  for (int k = 0; k <= kPoints; ++k) {
    // From the cutting edge to the top, which leans forward more.
    const double angle = kPi - kHalfAngle + (2.0 * kHalfAngle) * (1.0 - double(k) / kPoints) + 0.1;
    const double c = std::cos(angle), s = std::sin(angle);
    // The cutting edge is half as thick.
    const double thick = kThickness * (k == 0 ? 0.5 : 1.0);
    front.push_back({kRadius * c, kRadius * s});
    back.push_back({(kRadius + thick) * c, (kRadius + thick) * s});
  }
  return extruded(back, front, kWidth);
}

Mesh make_ring() {
  // A bar of 0.2 m by 0.2 m with bevelled edges.
  const Outline bar = {{0.33, 0.0}, {0.47, 0.0}, {0.5, 0.03}, {0.5, 0.17},
                       {0.47, 0.2}, {0.33, 0.2}, {0.3, 0.17}, {0.3, 0.03}};
  return turned_loop(bar, 96);
}

Mesh make_torus() {
  return turned_loop(circle({0.35, 0.15}, 0.15, 64), 128);
}

Mesh make_sphere() {
  constexpr int kRings = 64;
  Outline arc;
  for (int k = 0; k <= kRings; ++k) {
    const double angle = kPi * k / kRings;
    arc.push_back({0.5 * std::sin(angle), -0.5 * std::cos(angle)});
  }
  return turned_arc(arc, 96);
}

Mesh make_cube() {
  return extruded({{-0.5, 0.0}, {-0.5, 1.0}}, {{0.5, 0.0}, {0.5, 1.0}}, 1.0);
}

namespace {

// Inner radius of the hourglass, s from the neck (0) to the end of a bulb (1): out from the neck
// and round to the axis.
double bulb_radius(double s) {
  constexpr double kNeck = 0.03, kBulb = 0.22, kShoulder = 0.75;  // [m], [m], -
  if (s < kShoulder) {
    const double t = s / kShoulder;
    return kNeck + (kBulb - kNeck) * t * t * (3.0 - 2.0 * t);
  }
  const double t = (s - kShoulder) / (1.0 - kShoulder);
  return kBulb * std::sqrt(std::max(0.0, 1.0 - t * t));
}

}  // namespace

Mesh make_hourglass() {
  constexpr int kPoints = 32;                                 // from the neck to either end
  constexpr double kWall = 0.02, kPlate = 0.05, kEnd = 0.07;  // [m]; the hollow starts at kEnd
  constexpr double kReach = 0.5 - kEnd;
  Outline inner, outer = {{0.0, 0.0}, {0.28, 0.0}, {0.28, kPlate}};
  for (int k = -kPoints; k <= kPoints; ++k) {
    // Points crowd towards the ends, where the bulb closes: s = sin(pi/2 t).
    const double s = std::sin(0.5 * kPi * k / kPoints), y = 0.5 + kReach * s;
    inner.push_back({bulb_radius(std::abs(s)), y});
    const bool at_plate = std::abs(s) > 0.75;  // outside, the glass goes straight to its plate
    const double slope =
        (bulb_radius(std::abs(s) + 1e-6) - bulb_radius(std::abs(s))) / (1e-6 * kReach);
    const double wall = at_plate ? kWall : kWall * std::sqrt(1.0 + slope * slope);
    outer.push_back({bulb_radius(std::min(std::abs(s), 0.75)) + wall,
                     std::min(std::max(y, kPlate), 1.0 - kPlate)});
  }
  inner.front().x = inner.back().x = 0.0;
  outer.insert(outer.end(), {{0.28, 1.0 - kPlate}, {0.28, 1.0}, {0.0, 1.0}});
  Mesh glass = turned_arc(outer, 56);
  add_hollow(glass, turned_arc(inner, 56));
  return glass;
}

// ---- the castle

namespace {

constexpr double kHalf = 0.56;  // from the castle's middle to the towers' and walls' [m]
constexpr double kTower = 0.17, kWallThick = 0.13, kTowerTop = 1.0, kWallTop = 0.62;  // [m]
constexpr double kNotch = 0.075;  // width of a gap between merlons; they are as wide [m]

Shape box_about(const Vec3d& center, const Vec3d& half) {
  return make_box(center - half, center + half);
}

Shape turned(const Shape& shape, double angle) {
  return placed(shape, {{}, from_axis_angle(Vec3d(0, 1, 0), angle)});
}

// A wall along x at z = kHalf, a walk behind its parapet, gaps in the parapet.
Shape make_wall(bool with_gate) {
  Shape wall = box_about({0, kWallTop / 2, kHalf}, {kHalf, kWallTop / 2, kWallThick / 2});
  std::vector<Shape> gone;
  for (int k = -2; k <= 2; ++k) {
    gone.push_back(box_about({2 * kNotch * k, kWallTop, kHalf}, {kNotch / 2, 0.07, kWallThick}));
  }
  if (with_gate) {
    gone.push_back(box_about({0, 0.1, kHalf}, {0.11, 0.15, kWallThick}));
    gone.push_back(
        make_cylinder({0, 0.25, kHalf - kWallThick}, {0, 0.25, kHalf + kWallThick}, 0.11));
  }
  return make_difference(std::move(wall), make_union(std::move(gone)));
}

// A round tower with a sunken platform and six gaps in its parapet.
Shape make_tower(double x, double z) {
  Shape tower = make_union({make_cylinder({0, 0, 0}, {0, kTowerTop, 0}, kTower),
                            make_cylinder({0, 0.82, 0}, {0, kTowerTop, 0}, kTower + 0.035)});
  std::vector<Shape> gone = {make_cylinder({0, 0.88, 0}, {0, 1.1, 0}, kTower - 0.035)};
  for (int k = 0; k < 3; ++k) {
    gone.push_back(turned(box_about({0, 1.0, 0}, {0.3, 0.075, kNotch / 2}), k * kPi / 3.0 + 0.26));
  }
  return placed(make_difference(std::move(tower), make_union(std::move(gone))), {{x, 0, z}, {}});
}

}  // namespace

Mesh make_castle() {
  std::vector<Shape> parts;
  for (int side = 0; side < 4; ++side)
    parts.push_back(turned(make_wall(side == 0), side * kPi / 2));
  for (const double x : {-kHalf, kHalf}) {
    for (const double z : {-kHalf, kHalf}) parts.push_back(make_tower(x, z));
  }
  const Shape castle = make_union(std::move(parts));
  const SdfProgram program = compile(castle);
  const auto field = [&](const Vec3d& p) {
    return static_cast<double>(barchan::distance_only(program.begin(), program.end(), Vec3(p)));
  };
  return polygonise(field, bounds(castle), 0.0333);
}

}  // namespace barchan::stand_ins
