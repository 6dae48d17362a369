// From a mesh as people draw it to the boundary of a solid: closed, facing outwards everywhere.
#pragma once

#include <string>
#include <vector>

#include "geometry/mesh.h"

namespace barchan {

struct Mended {
  Mesh mesh;
  std::vector<std::string> notes;  // what had to be done, each one line that begins with the name
};

// In this order:
//   - vertices that are equal, or within a millionth of the mesh's diagonal, become one; triangles
//     that are nothing or there twice go;
//   - neighbours are made to face the same way;
//   - holes at most 15 % of the mesh's diagonal across are closed by a fan about their middle;
//   - parts are turned to face outwards; but a part inside another one is the wall of a hollow and
//     faces into it (a vessel stays a vessel).
// Afterwards every edge is run along as often one way as the other, and the volume is above 0.
// Parts may cut themselves and each other: the winding number tells what is inside.
//
// Rejected, each with where it is: larger holes, one-sided surfaces, edges where more than two
// triangles meet and do not pair up, and what encloses no volume. `name` is what messages begin
// with.
Mended mend(Mesh mesh, const std::string& name);

}  // namespace barchan
