// Shapes as the scene describes them: a tree of primitives and what is made of them, on the host,
// in double precision. Kernels use the program that sdf.h compiles from it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "geometry/aabb.h"
#include "geometry/pose.h"
#include "math/vec3.h"

namespace barchan {

class SolidMesh;

struct Shape {
  enum class Kind {
    box,           // lo, hi
    sphere,        // center, radius
    cylinder,      // from, to, radius; flat ends
    capsule,       // from, to, radius; round ends, which reach beyond from and to
    cone,          // from, to, radius (at from), radius_to (at to; 0 is a tip)
    torus,         // center, axis, radius (of the ring), minor_radius (of the tube)
    plane,         // point, normal; the half space that the normal points away from is solid
    mesh,          // mesh
    shape_union,   // children
    difference,    // the first child without the others
    intersection,  // children
    offset,        // one child, its surface moved outwards by `by` (inwards if negative)
  };

  Kind kind = Kind::box;
  Vec3d lo, hi;                          // [m]
  Vec3d center;                          // [m]
  Vec3d from, to;                        // [m]
  Vec3d axis{0, 1, 0};                   // any length
  Vec3d point;                           // [m]
  Vec3d normal{0, 1, 0};                 // any length
  double radius = 0.0, radius_to = 0.0;  // [m]
  double minor_radius = 0.0;             // [m]
  double by = 0.0;                       // [m]
  std::shared_ptr<const SolidMesh> mesh;
  std::vector<Shape> children;
  Pose placement;  // turned about the origin, then moved: `rotate` and `translate` of the scene
};

Shape make_box(const Vec3d& lo, const Vec3d& hi);
Shape make_sphere(const Vec3d& center, double radius);
Shape make_cylinder(const Vec3d& from, const Vec3d& to, double radius);
Shape make_capsule(const Vec3d& from, const Vec3d& to, double radius);
Shape make_cone(const Vec3d& from, const Vec3d& to, double radius, double radius_to = 0.0);
Shape make_torus(const Vec3d& center, const Vec3d& axis, double major_radius, double minor_radius);
Shape make_plane(const Vec3d& point, const Vec3d& normal);
Shape make_mesh(std::shared_ptr<const SolidMesh> mesh);
Shape make_union(std::vector<Shape> parts);
Shape make_difference(Shape from, Shape take_away);
Shape make_intersection(std::vector<Shape> parts);
Shape make_offset(Shape shape, double by);
// The shape, turned and moved once more.
Shape placed(Shape shape, const Pose& pose);

// "" or one sentence that says why the shape is degenerate. Everything below needs a sound shape.
std::string describe_fault(const Shape& shape);

// A box around the shape: tight for primitives, as good as its parts' boxes otherwise. Infinite
// where a plane is; the caller tells by is_bounded().
Aabb bounds(const Shape& shape);

// The point is inside and further than `margin` [m] from the surface; and outside, further than
// `margin`. Plain inequalities in double precision that share no code with sdf.h, because they are
// what its results are checked against (counting leaks). In a union a point counts as deep where it
// is deep in one part: near a seam between two parts the answer errs towards "not deep".
bool deeper_than(const Shape& shape, const Vec3d& point, double margin);
bool farther_than(const Shape& shape, const Vec3d& point, double margin);

}  // namespace barchan
