#include "geometry/shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "geometry/solid_mesh.h"

namespace barchan {

Shape make_box(const Vec3d& lo, const Vec3d& hi) {
  Shape s;
  s.kind = Shape::Kind::box;
  s.lo = lo, s.hi = hi;
  return s;
}
Shape make_sphere(const Vec3d& center, double radius) {
  Shape s;
  s.kind = Shape::Kind::sphere;
  s.center = center, s.radius = radius;
  return s;
}
Shape make_cylinder(const Vec3d& from, const Vec3d& to, double radius) {
  Shape s;
  s.kind = Shape::Kind::cylinder;
  s.from = from, s.to = to, s.radius = radius;
  return s;
}
Shape make_capsule(const Vec3d& from, const Vec3d& to, double radius) {
  Shape s = make_cylinder(from, to, radius);
  s.kind = Shape::Kind::capsule;
  return s;
}
Shape make_cone(const Vec3d& from, const Vec3d& to, double radius, double radius_to) {
  Shape s = make_cylinder(from, to, radius);
  s.kind = Shape::Kind::cone;
  s.radius_to = radius_to;
  return s;
}
Shape make_torus(const Vec3d& center, const Vec3d& axis, double major_radius, double minor_radius) {
  Shape s;
  s.kind = Shape::Kind::torus;
  s.center = center, s.axis = axis, s.radius = major_radius, s.minor_radius = minor_radius;
  return s;
}
Shape make_plane(const Vec3d& point, const Vec3d& normal) {
  Shape s;
  s.kind = Shape::Kind::plane;
  s.point = point, s.normal = normal;
  return s;
}
Shape make_mesh(std::shared_ptr<const SolidMesh> mesh) {
  Shape s;
  s.kind = Shape::Kind::mesh;
  s.mesh = std::move(mesh);
  return s;
}
Shape make_union(std::vector<Shape> parts) {
  Shape s;
  s.kind = Shape::Kind::shape_union;
  s.children = std::move(parts);
  return s;
}
Shape make_difference(Shape from, Shape take_away) {
  Shape s;
  s.kind = Shape::Kind::difference;
  s.children.push_back(std::move(from));
  s.children.push_back(std::move(take_away));
  return s;
}
Shape make_intersection(std::vector<Shape> parts) {
  Shape s = make_union(std::move(parts));
  s.kind = Shape::Kind::intersection;
  return s;
}
Shape make_offset(Shape shape, double by) {
  Shape s;
  s.kind = Shape::Kind::offset;
  s.children.push_back(std::move(shape));
  s.by = by;
  return s;
}
Shape placed(Shape shape, const Pose& pose) {
  shape.placement = compose(pose, shape.placement);
  return shape;
}

namespace {

// ---- bounds

// A disc of `radius` about `center`, across the unit vector u, reaches radius sqrt(1 - u_i^2) along
// the coordinate axis i.
Aabb disc_bounds(const Vec3d& center, const Vec3d& u, double radius) {
  Vec3d reach;
  for (int i = 0; i < 3; ++i) reach[i] = radius * std::sqrt(std::max(0.0, 1.0 - u[i] * u[i]));
  return {center - reach, center + reach};
}

Aabb box_bounds(const Shape& s, const Pose& frame) {
  Aabb all;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d p = frame.to_world(
        {corner & 1 ? s.hi.x : s.lo.x, corner & 2 ? s.hi.y : s.lo.y, corner & 4 ? s.hi.z : s.lo.z});
    all = join(all, {p, p});
  }
  return all;
}

// A half space ends along a coordinate axis only if its normal is that axis.
Aabb plane_bounds(const Vec3d& point, const Vec3d& n) {
  Aabb all = Aabb::everything();
  for (int i = 0; i < 3; ++i) {
    if (n[i] > 1.0 - 1e-14) all.hi[i] = point[i];
    if (n[i] < -1.0 + 1e-14) all.lo[i] = point[i];
  }
  return all;
}

// Turned, the box of the corners, not the corners of the box.
Aabb mesh_bounds(const SolidMesh& mesh, const Pose& frame) {
  if (frame.orientation == Quatd::identity()) {
    return {mesh.box().lo + frame.position, mesh.box().hi + frame.position};
  }
  Aabb all;
  for (const Triangle& t : mesh.mesh().triangles) {
    for (int k = 0; k < 3; ++k) {
      const Vec3d p = frame.to_world(mesh.mesh().corner(t, k));
      all = join(all, {p, p});
    }
  }
  return all;
}

Aabb bounds_in(const Shape& s, const Pose& outer) {
  using Kind = Shape::Kind;
  const Pose frame = compose(outer, s.placement);
  const Vec3d from = frame.to_world(s.from), to = frame.to_world(s.to);
  const Vec3d center = frame.to_world(s.center), along = normalized(to - from);
  switch (s.kind) {
    case Kind::box:
      return box_bounds(s, frame);
    case Kind::sphere:
      return Aabb{center, center}.grown(s.radius);
    case Kind::cylinder:
      return join(disc_bounds(from, along, s.radius), disc_bounds(to, along, s.radius));
    case Kind::capsule:
      return join(Aabb{from, from}, Aabb{to, to}).grown(s.radius);
    case Kind::cone:
      return join(disc_bounds(from, along, s.radius), disc_bounds(to, along, s.radius_to));
    case Kind::torus:
      return disc_bounds(center, rotate(frame.orientation, normalized(s.axis)), s.radius)
          .grown(s.minor_radius);
    case Kind::plane:
      return plane_bounds(frame.to_world(s.point), rotate(frame.orientation, normalized(s.normal)));
    case Kind::mesh:
      return mesh_bounds(*s.mesh, frame);
    case Kind::difference:
      return bounds_in(s.children.front(), frame);
    case Kind::offset:
      return bounds_in(s.children.front(), frame).grown(s.by);
    case Kind::shape_union:
    case Kind::intersection:
      break;
  }
  Aabb all = s.kind == Kind::shape_union ? Aabb() : Aabb::everything();
  for (const Shape& part : s.children) {
    const Aabb box = bounds_in(part, frame);
    all = s.kind == Kind::shape_union ? join(all, box) : meet(all, box);
  }
  return all;
}

// ---- direct inequalities

// A point as seen from an axis that starts at `from`: how far along it and how far off it.
struct AxisPoint {
  double along, off;
};
AxisPoint seen_from_axis(const Vec3d& from, const Vec3d& direction, const Vec3d& p) {
  const Vec3d u = normalized(direction), d = p - from;
  return {dot(d, u), length(cross(u, d))};
}

double distance_to_segment(double px, double py, double ax, double ay, double bx, double by) {
  const double ex = bx - ax, ey = by - ay, ee = ex * ex + ey * ey;
  const double t = ee > 0.0 ? std::clamp(((px - ax) * ex + (py - ay) * ey) / ee, 0.0, 1.0) : 0.0;
  return std::hypot(px - ax - t * ex, py - ay - t * ey);
}

bool box_below(const Shape& s, const Vec3d& p, double level) {
  if (level <= 0.0) {
    return s.lo.x - level < p.x && p.x < s.hi.x + level && s.lo.y - level < p.y &&
           p.y < s.hi.y + level && s.lo.z - level < p.z && p.z < s.hi.z + level;
  }
  return length(p - min(max(p, s.lo), s.hi)) < level;
}

bool cylinder_below(const Shape& s, const Vec3d& p, double level) {
  const AxisPoint q = seen_from_axis(s.from, s.to - s.from, p);
  const double end = length(s.to - s.from);
  if (level <= 0.0) return -level < q.along && q.along < end + level && q.off < s.radius + level;
  const double beyond = std::max({-q.along, q.along - end, 0.0});
  return std::hypot(beyond, std::max(q.off - s.radius, 0.0)) < level;
}

bool cone_below(const Shape& s, const Vec3d& p, double level) {
  const AxisPoint q = seen_from_axis(s.from, s.to - s.from, p);
  const double end = length(s.to - s.from), slope = (s.radius - s.radius_to) / end;
  // Across the axis the side is at radius - slope * along; at right angles to the side that gap is
  // shorter by cos(atan(slope)).
  const double side = (s.radius - slope * q.along - q.off) / std::sqrt(1.0 + slope * slope);
  const double margin = std::max(-level, 0.0);
  if (q.along > margin && q.along < end - margin && side > margin) return true;
  if (level <= 0.0) return false;
  // Outside: the nearest of base, top and side, in the half plane through the axis and the point.
  return distance_to_segment(q.along, q.off, 0, 0, 0, s.radius) < level ||
         distance_to_segment(q.along, q.off, end, 0, end, s.radius_to) < level ||
         distance_to_segment(q.along, q.off, 0, s.radius, end, s.radius_to) < level;
}

bool capsule_below(const Shape& s, const Vec3d& p, double level) {
  const AxisPoint q = seen_from_axis(s.from, s.to - s.from, p);
  const double end = length(s.to - s.from);
  const double beyond = std::max({-q.along, q.along - end, 0.0});
  return std::hypot(beyond, q.off) < s.radius + level;
}

// Inside, and farther from the surface than -level; or inside or nearer to it than level.
bool mesh_below(const SolidMesh& mesh, const Vec3d& p, double level) {
  if (!mesh.box().grown(std::max(level, 0.0)).contains(p)) return false;
  if (level <= 0.0) return mesh.inside(p) && !mesh.nearer_than(p, -level);
  return mesh.nearer_than(p, level) || mesh.inside(p);
}

// The signed distance is below `level` [m], with unions and intersections as minima and maxima.
bool below(const Shape& s, const Vec3d& world, double level) {
  using Kind = Shape::Kind;
  const Vec3d p = s.placement.to_local(world);
  const auto part_below = [&](const Shape& part) { return below(part, p, level); };
  switch (s.kind) {
    case Kind::box:
      return box_below(s, p, level);
    case Kind::sphere:
      return length(p - s.center) < s.radius + level;
    case Kind::cylinder:
      return cylinder_below(s, p, level);
    case Kind::capsule:
      return capsule_below(s, p, level);
    case Kind::cone:
      return cone_below(s, p, level);
    case Kind::torus: {
      const AxisPoint q = seen_from_axis(s.center, s.axis, p);
      return std::hypot(q.off - s.radius, q.along) < s.minor_radius + level;
    }
    case Kind::plane:
      return dot(p - s.point, normalized(s.normal)) < level;
    case Kind::mesh:
      return mesh_below(*s.mesh, p, level);
    case Kind::shape_union:
      return std::any_of(s.children.begin(), s.children.end(), part_below);
    case Kind::intersection:
      return std::all_of(s.children.begin(), s.children.end(), part_below);
    case Kind::offset:
      return below(s.children.front(), p, level + s.by);
    case Kind::difference:
      break;
  }
  // Away from what is taken away: -d < level is d > -level, and "not d < the next number" is that.
  const double over = std::nextafter(-level, std::numeric_limits<double>::infinity());
  return part_below(s.children.front()) &&
         std::none_of(s.children.begin() + 1, s.children.end(),
                      [&](const Shape& part) { return below(part, p, over); });
}

// ---- faults

constexpr int kDeepest = 64;       // shapes within shapes; more is a mistake, not a scene
constexpr double kLargest = 1e12;  // [m]; squares of more come near what a float holds

bool sane(const Vec3d& v) {
  return is_finite(v) && std::abs(v.x) < kLargest && std::abs(v.y) < kLargest &&
         std::abs(v.z) < kLargest;
}
bool sane(double a) {
  return std::abs(a) < kLargest;
}

std::string radius_fault(const char* what, double radius) {
  if (radius > 0.0) return "";
  return fmt::format("{} is {} m; it must be above 0", what, radius);
}

std::string axis_fault(const char* shape, const Shape& s) {
  if (length(s.to - s.from) > 0.0) return "";
  return fmt::format("the {}'s from and to are the same point ({}, {}, {})", shape, s.from.x,
                     s.from.y, s.from.z);
}

std::string cone_fault(const Shape& s) {
  if (s.radius < 0.0 || s.radius_to < 0.0) {
    return fmt::format("the cone's radii are {} m and {} m; neither may be negative", s.radius,
                       s.radius_to);
  }
  if (s.radius == 0.0 && s.radius_to == 0.0) return "both radii of the cone are 0";
  return axis_fault("cone", s);
}

std::string torus_fault(const Shape& s) {
  if (!(length(s.axis) > 0.0)) return "the torus has an axis of length 0";
  if (!(s.minor_radius > 0.0)) return radius_fault("the torus' minor radius", s.minor_radius);
  if (s.minor_radius >= s.radius) {
    return fmt::format("the torus' minor radius {} m must be below its major radius {} m",
                       s.minor_radius, s.radius);
  }
  return "";
}

std::string box_fault(const Shape& s) {
  for (int i = 0; i < 3; ++i) {
    if (!(s.lo[i] < s.hi[i])) {
      return fmt::format("the box is empty along {}: it goes from {} m to {} m", "xyz"[i], s.lo[i],
                         s.hi[i]);
    }
  }
  return "";
}

const char* kind_name(Shape::Kind kind) {
  constexpr const char* kNames[] = {"box",   "sphere",     "cylinder",     "capsule",
                                    "cone",  "torus",      "plane",        "mesh",
                                    "union", "difference", "intersection", "offset"};
  return kNames[static_cast<int>(kind)];
}

std::string primitive_fault(const Shape& s) {
  using Kind = Shape::Kind;
  switch (s.kind) {
    case Kind::box:
      return box_fault(s);
    case Kind::sphere:
      return radius_fault("the sphere's radius", s.radius);
    case Kind::cylinder:
    case Kind::capsule: {
      const char* name = kind_name(s.kind);
      const std::string fault = axis_fault(name, s);
      return fault.empty() ? radius_fault(fmt::format("the {}'s radius", name).c_str(), s.radius)
                           : fault;
    }
    case Kind::cone:
      return cone_fault(s);
    case Kind::torus:
      return torus_fault(s);
    case Kind::plane:
      return length(s.normal) > 0.0 ? "" : "the plane has a normal of length 0";
    case Kind::mesh:
      return s.mesh ? "" : "the mesh has not been loaded";
    default:
      return "";
  }
}

bool all_numbers_sane(const Shape& s) {
  const Quatd& q = s.placement.orientation;
  return sane(s.lo) && sane(s.hi) && sane(s.center) && sane(s.from) && sane(s.to) && sane(s.axis) &&
         sane(s.point) && sane(s.normal) && sane(s.radius) && sane(s.radius_to) &&
         sane(s.minor_radius) && sane(s.by) && sane(s.placement.position) &&
         std::abs(length(q) - 1.0) < 1e-6;
}

std::string fault_at(const Shape& s, int depth) {
  using Kind = Shape::Kind;
  const char* name = kind_name(s.kind);
  if (depth > kDeepest) return fmt::format("shapes are nested more than {} deep", kDeepest);
  if (!all_numbers_sane(s)) {
    return fmt::format("the {} holds a number that is not finite or beyond {} m", name, kLargest);
  }
  if (s.kind < Kind::shape_union) return primitive_fault(s);

  const std::size_t parts = s.children.size();
  if (parts == 0) return fmt::format("the {} has no parts", name);
  if (s.kind == Kind::difference && parts < 2) return "the difference needs two parts";
  if (s.kind == Kind::offset && parts > 1) return "the offset takes one shape";
  for (std::size_t i = 0; i < parts; ++i) {
    const std::string fault = fault_at(s.children[i], depth + 1);
    if (fault.empty()) continue;
    if (depth + 1 > kDeepest || fault.starts_with("shapes are nested")) return fault;
    return fmt::format("part {} of the {}: {}", i + 1, name, fault);
  }
  if (s.kind == Kind::intersection && bounds(s).is_empty()) {
    return "the parts of the intersection do not meet";
  }
  if (s.kind == Kind::offset && bounds(s).is_empty()) {
    return fmt::format("the offset by {} m leaves nothing of the shape", s.by);
  }
  return "";
}

}  // namespace

std::string describe_fault(const Shape& shape) {
  return fault_at(shape, 1);
}

Aabb bounds(const Shape& shape) {
  return bounds_in(shape, Pose());
}

bool deeper_than(const Shape& shape, const Vec3d& point, double margin) {
  return below(shape, point, -margin);
}

bool farther_than(const Shape& shape, const Vec3d& point, double margin) {
  return !below(shape, point, std::nextafter(margin, std::numeric_limits<double>::infinity()));
}

}  // namespace barchan
