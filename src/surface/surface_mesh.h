// The surface as triangles.
#pragma once

#include <vector>

#include "geometry/mesh.h"
#include "math/vec3.h"

namespace barchan {

// Closed, manifold, and facing outwards; empty where there are no particles.
struct SurfaceMesh {
  std::vector<Vec3> vertices;    // [m]
  std::vector<Vec3> normals;     // of unit length, outwards
  std::vector<Vec3> velocities;  // of the material there [m/s]
  std::vector<Triangle> triangles;
};

}  // namespace barchan
