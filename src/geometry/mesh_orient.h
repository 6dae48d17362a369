// The second half of mending (mesh_mend.h): which way triangles face. Triangles with three
// different corners each; `name` is what messages begin with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "geometry/mesh.h"

namespace barchan {

// Patches: triangles connected over edges that two of them share.
struct Patches {
  std::vector<std::uint32_t> of;  // each triangle's
  std::uint32_t count = 0;
  std::size_t turned = 0;  // triangles that faced the other way than most of their patch
};

// Turns triangles so that the two at an edge run along it in opposite directions, as most of each
// patch does. Rejects one-sided surfaces.
Patches orient_patches(Mesh& mesh, const std::string& name);

struct Parts {
  std::size_t count = 0;   // closed surfaces that enclose something
  std::size_t turned = 0;  // those that faced the wrong way
  std::size_t flat = 0;    // surfaces that enclosed nothing; dropped
};

// For closed meshes. A part is a patch, or several that are closed only together. Parts face
// outwards; a part inside another one is the wall of a hollow and faces into it; a part inside that
// one is material again, and so on. Rejects edges that triangles do not use in both directions
// alike (two boxes that touch along an edge do), and meshes that enclose nothing.
Parts orient_parts(Mesh& mesh, const Patches& patches, const std::string& name);

// The volume that a closed mesh encloses [m^3]; negative if it is inside out.
double signed_volume(const Mesh& mesh);

}  // namespace barchan
