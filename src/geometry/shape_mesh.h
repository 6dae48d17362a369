// Shapes as triangles for pictures and other programs: few of them, with sharp edges.
#pragma once

#include "geometry/mesh.h"
#include "geometry/shape.h"

namespace barchan {

// Closed and facing outwards. Boxes and meshes as they are; shapes of revolution in 64 parts around
// their axis, corners on the surface; composed shapes by tessellate() in cells of a 96th of their
// longest side, so with edges rounded by about that. Needs a sound, bounded shape.
Mesh shape_mesh(const Shape& shape);

}  // namespace barchan
