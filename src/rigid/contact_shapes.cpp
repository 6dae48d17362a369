#include "rigid/contact_shapes.h"

#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "geometry/covering.h"
#include "geometry/sdf.h"
#include "geometry/tessellate.h"

namespace barchan {

namespace {

constexpr int kSides = 48;          // of a prism that stands for a cylinder: 0.2 % off the circle
constexpr double kMargin = 1e-4;    // of a hull's size: the rounding that Bullet gives its edges
constexpr double kHalfSpace = 5e3;  // [m] from a plane's point to where it ends for bodies
constexpr int kCoverSpheres = 400;  // about as many cover a body of no simple shape

btVector3 to_bullet(const Vec3d& v) {
  return {v.x, v.y, v.z};
}
btTransform to_bullet(const Pose& pose) {
  const Quatd& q = pose.orientation;
  return btTransform(btQuaternion(q.x, q.y, q.z, q.w), to_bullet(pose.position));
}

// The turn that takes the y axis, along which Bullet's capsules lie, to `axis`.
Quatd from_y_axis(const Vec3d& axis) {
  const Vec3d y(0, 1, 0), u = normalized(axis);
  if (dot(y, u) < -1.0 + 1e-12) return from_axis_angle(Vec3d(1, 0, 0), std::numbers::pi);
  return normalized(Quatd(1.0 + dot(y, u), cross(y, u)));
}

ContactPart box_part(const Vec3d& lo, const Vec3d& hi) {
  return {std::make_shared<btBoxShape>(to_bullet(0.5 * (hi - lo))),
          {0.5 * (lo + hi), Quatd::identity()}};
}

// The two rims of a cone about the y axis; a rim of radius 0 is a point. They lie `margin` within
// the surface, for Bullet puts as much around hulls.
ContactPart cone_part(const Shape& s) {
  const double half = 0.5 * length(s.to - s.from), widest = std::max(s.radius, s.radius_to);
  const double margin = kMargin * std::min(half, widest);
  auto hull = std::make_shared<btConvexHullShape>();
  for (const auto& [radius, height] :
       {std::pair{s.radius, -half + margin}, std::pair{s.radius_to, half - margin}}) {
    const double r = std::max(0.0, radius - margin);
    const int count = r > 0.0 ? kSides : 1;
    for (int k = 0; k < count; ++k) {
      const double a = 2.0 * std::numbers::pi * k / kSides;
      hull->addPoint(btVector3(r * std::cos(a), height, r * std::sin(a)), false);
    }
  }
  hull->setMargin(margin);
  hull->recalcLocalAabb();
  return {hull, {0.5 * (s.from + s.to), from_y_axis(s.to - s.from)}};
}

// The convex primitives; nothing for the other kinds.
std::vector<ContactPart> convex_part(const Shape& s) {
  using Kind = Shape::Kind;
  switch (s.kind) {
    case Kind::box:
      return {box_part(s.lo, s.hi)};
    case Kind::sphere:
      return {{std::make_shared<btSphereShape>(s.radius), {s.center, Quatd::identity()}}};
    case Kind::capsule:
      return {{std::make_shared<btCapsuleShape>(s.radius, length(s.to - s.from)),
               {0.5 * (s.from + s.to), from_y_axis(s.to - s.from)}}};
    case Kind::cylinder:
      return {{std::make_shared<btCylinderShape>(
                   btVector3(s.radius, 0.5 * length(s.to - s.from), s.radius)),
               {0.5 * (s.from + s.to), from_y_axis(s.to - s.from)}}};
    case Kind::cone:
      return {cone_part(s)};
    default:
      return {};
  }
}

void place(const Pose& placement, std::vector<ContactPart>& parts) {
  for (ContactPart& part : parts) part.pose = compose(placement, part.pose);
}

// Spheres that touch the surface from within: as small as the count allows, and small enough for
// the thinnest place that still holds particles.
std::vector<ContactPart> sphere_parts(const Shape& shape) {
  const Vec3d size = bounds(shape).extent();
  const double cell = std::cbrt(size.x * size.y * size.z) / 40.0;
  const Mesh surface = tessellate(shape, cell);
  double area = 0.0, volume = 0.0;
  for (const Triangle& t : surface.triangles) {
    const Vec3d &a = surface.corner(t, 0), &b = surface.corner(t, 1), &c = surface.corner(t, 2);
    area += 0.5 * length(cross(b - a, c - a));
    volume += dot(a, cross(b, c)) / 6.0;
  }
  // A slab of thickness d has d = 2 V/A; spheres of a quarter of that fit in it twice over.
  const double radius = std::min(std::sqrt(area / (2.6 * kCoverSpheres)), 0.5 * volume / area);
  std::vector<ContactPart> parts;
  for (const Vec3d& p : cover(shape, radius, 1, -radius).points) {
    parts.push_back({std::make_shared<btSphereShape>(radius), {p, Quatd::identity()}});
  }
  return parts;
}

// Six slabs around a room, as thick as it is wide: nothing that is in gets through one unseen.
std::vector<ContactPart> room_parts(const Shape& s) {
  const Vec3d size = s.hi - s.lo;
  const double thick = std::max({size.x, size.y, size.z});
  const Vec3d lo = s.lo - Vec3d(thick, thick, thick), hi = s.hi + Vec3d(thick, thick, thick);
  std::vector<ContactPart> parts;
  for (int axis = 0; axis < 3; ++axis) {
    Vec3d below = hi, above = lo;
    below[axis] = s.lo[axis];
    above[axis] = s.hi[axis];
    parts.push_back(box_part(lo, below));
    parts.push_back(box_part(above, hi));
  }
  return parts;
}

// A block so wide that nobody sees its end: against Bullet's own plane whole faces do not rest.
ContactPart half_space_part(const Shape& s) {
  ContactPart block =
      box_part({-kHalfSpace, -kHalfSpace, -kHalfSpace}, {kHalfSpace, 0, kHalfSpace});
  const Pose ground{s.point, from_y_axis(s.normal)};
  block.pose = compose(ground, block.pose);
  return block;
}

ContactPart surface_part(const Shape& shape, double cell) {
  const Mesh mesh = tessellate(shape, cell);
  auto triangles = std::make_shared<btTriangleMesh>(true, false);
  for (const Triangle& t : mesh.triangles) {
    triangles->addTriangle(to_bullet(mesh.corner(t, 0)), to_bullet(mesh.corner(t, 1)),
                           to_bullet(mesh.corner(t, 2)));
  }
  // The shape refers to the triangles: they live as long as it does.
  auto* surface = new btBvhTriangleMeshShape(triangles.get(), true);
  return {std::shared_ptr<btCollisionShape>(
              surface, [triangles](btCollisionShape* shape_) { delete shape_; }),
          {}};
}

}  // namespace

std::vector<ContactPart> body_parts(const Shape& shape) {
  if (shape.kind == Shape::Kind::plane) reject("a dynamic body needs a finite shape, not a plane");
  std::vector<ContactPart> parts = convex_part(shape);
  if (shape.kind == Shape::Kind::shape_union) {
    for (const Shape& child : shape.children) {
      for (ContactPart& part : body_parts(child)) parts.push_back(std::move(part));
    }
  }
  if (parts.empty()) return sphere_parts(shape);  // which sees the placement itself
  place(shape.placement, parts);
  return parts;
}

std::vector<ContactPart> obstacle_parts(const Shape& shape, bool inside_out, double cell) {
  std::vector<ContactPart> parts;
  if (inside_out) {
    if (shape.kind != Shape::Kind::box) return {surface_part(shape, cell)};
    parts = room_parts(shape);
  } else if (shape.kind == Shape::Kind::plane) {
    parts = {half_space_part(shape)};
  } else if (shape.kind == Shape::Kind::shape_union) {
    for (const Shape& child : shape.children) {
      for (ContactPart& part : obstacle_parts(child, false, cell)) parts.push_back(std::move(part));
    }
  } else {
    parts = convex_part(shape);
    if (parts.empty()) return {surface_part(shape, cell)};
  }
  place(shape.placement, parts);
  return parts;
}

std::shared_ptr<btCollisionShape> joined(const std::vector<ContactPart>& parts, const Pose& axes) {
  const Pose into = inverse(axes);
  if (parts.size() == 1 && compose(into, parts[0].pose) == Pose{}) return parts[0].shape;
  auto* all = new btCompoundShape();
  for (const ContactPart& part : parts) {
    all->addChildShape(to_bullet(compose(into, part.pose)), part.shape.get());
  }
  return {all, [parts](btCollisionShape* shape) { delete shape; }};
}

}  // namespace barchan
