// Shapes as Bullet wants them: convex pieces, half spaces and triangle surfaces.
#pragma once

#include <memory>
#include <vector>

#include "geometry/pose.h"
#include "geometry/shape.h"

class btCollisionShape;

namespace barchan {

// A piece of a solid's surface; it owns whatever Bullet needs of it.
struct ContactPart {
  std::shared_ptr<btCollisionShape> shape;
  Pose pose;  // in the solid's own frame
};

// A body that moves: convex primitives as they are (cylinders and cones as prisms of kSides),
// unions piece by piece, anything else as spheres that cover its surface from within.
std::vector<ContactPart> body_parts(const Shape& shape);

// A solid that others bump into. A container's box is six slabs, a plane a very large block;
// whatever is neither convex nor a union becomes the triangles of its surface, `cell` [m] wide. A
// plane ends five kilometres from its point.
std::vector<ContactPart> obstacle_parts(const Shape& shape, bool inside_out, double cell);

// The parts joined to one shape, seen from a frame that is turned by `axes` (the principal axes).
std::shared_ptr<btCollisionShape> joined(const std::vector<ContactPart>& parts, const Pose& axes);

}  // namespace barchan
