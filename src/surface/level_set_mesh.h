// From a level set to triangles.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/cpu.h"
#include "surface/level_set.h"
#include "surface/surface_mesh.h"

namespace barchan {

// Which vertices lie in which brick: those on edges that begin at its samples.
struct BrickVertices {
  Index3 brick;
  std::uint32_t begin, end;
};

// Vertices where the field, linear along edges, is zero; normals along its gradient. Fills all but
// the velocities. The blocks must be closed (level_set.h).
std::vector<BrickVertices> mesh_level_set(const LevelSet& level_set, Cpu& device,
                                          SurfaceMesh& mesh);

}  // namespace barchan
