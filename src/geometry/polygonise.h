// A closed mesh around where a function is negative.
#pragma once

#include <functional>

#include "geometry/aabb.h"
#include "geometry/mesh.h"
#include "math/vec3.h"

namespace barchan {

// Dual contouring on cubes of edge `cell` [m]: a vertex in every cube that the surface passes, a
// quadrangle (cut in two) around every edge of the lattice that it crosses. The vertex is where the
// tangent planes at the crossings meet best, so that edges and corners stay sharp. Closed and
// facing outwards by construction; the function is taken as positive beyond `box`.
Mesh polygonise(const std::function<double(const Vec3d&)>& field, const Aabb& box, double cell);

}  // namespace barchan
