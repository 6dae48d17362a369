// The first half of mending (mesh_mend.h): corners that coincide become one, and triangles that
// are nothing go. All of it is deterministic: the lower number stays.
#pragma once

#include <cstddef>

#include "geometry/mesh.h"

namespace barchan {

// Merges vertices that are equal, then those within `tolerance` [m] of one that stays. Returns how
// many were merged though they were not equal.
std::size_t weld(Mesh& mesh, double tolerance);

// Triangles with a corner twice. Returns how many went.
std::size_t drop_collapsed(Mesh& mesh);

// Triangles over the same three corners: copies that face the same way become one. Two that face
// each other go both where the rest of the mesh is closed without them (the wall between two boxes
// that share it), and become one where it is not. Returns how many went.
std::size_t drop_duplicates(Mesh& mesh);

// Triangles without area that have three different corners cannot just go: they hold their
// neighbours together. Corner b on the edge a c of the sliver a b c: the triangle on the other
// side, a c d, becomes a b d and b c d, and the sliver is gone. One whose short edges nobody
// shares, beside two others at the long edge, just goes. Returns how many went; those whose
// neighbour is a sliver, too, or that have no one neighbour there, stay.
std::size_t drop_slivers(Mesh& mesh);

void drop_unused_vertices(Mesh& mesh);

}  // namespace barchan
