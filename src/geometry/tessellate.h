// Any bounded shape as a closed triangle mesh.
#pragma once

#include "geometry/mesh.h"
#include "geometry/shape.h"

namespace barchan {

// The surface where the shape's distance, sampled every `cell` [m], changes its sign. Closed and
// oriented outwards; edges come out rounded by about a cell, and parts thinner than a cell may be
// missing. A mesh is returned as it is, placed. Rejects degenerate and endless shapes, and more
// than 2^33 cells. The same for any number of threads.
Mesh tessellate(const Shape& shape, double cell);

}  // namespace barchan
