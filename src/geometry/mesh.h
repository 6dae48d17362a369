// Triangle meshes as read or made: corners and who joins them, nothing derived.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "geometry/aabb.h"
#include "math/vec3.h"

namespace barchan {

using Triangle = std::array<std::uint32_t, 3>;  // corners, counter-clockwise seen from outside

struct Mesh {
  std::vector<Vec3d> vertices;  // [m]
  std::vector<Triangle> triangles;

  const Vec3d& corner(const Triangle& t, int k) const {
    return vertices[t[static_cast<std::size_t>(k)]];
  }
};

}  // namespace barchan
