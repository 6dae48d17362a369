// Holes of a mesh: loops of edges that one triangle alone uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "geometry/aabb.h"
#include "geometry/mesh.h"

namespace barchan {

struct Hole {
  std::vector<std::uint32_t> rim;  // vertices, in the direction that triangles in it would run
  Aabb box;                        // around the rim [m]

  double across() const { return length(box.extent()); }  // [m]
};

// In the order of their lowest edge. For meshes whose neighbours agree (mesh_orient.h). Rejects
// edges that an odd number of triangles share, other than one: no closing would help.
std::vector<Hole> find_holes(const Mesh& mesh, const std::string& name);

// A slit is a hole without area: its rim lies within `tolerance` [m] of a line. On one side an
// edge, on the other several that end to end are as long; however long it is, nothing shows
// through.
bool is_slit(const Mesh& mesh, const Hole& hole, double tolerance);
// By slivers (mesh_clean.h), a fan about one of its ends.
void close_slit(Mesh& mesh, const Hole& hole);

// One triangle, or a fan around the middle of the rim.
void close_hole(Mesh& mesh, const Hole& hole);

}  // namespace barchan
