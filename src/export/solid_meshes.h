// The solids of a scene as meshes for other programs, and OBJ files that hold them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cache/frame_file.h"
#include "geometry/mesh.h"
#include "geometry/pose.h"
#include "geometry/solid.h"
#include "surface/surface_mesh.h"

namespace barchan {

struct NamedMesh {
  std::string name;
  Mesh mesh;               // in the solid's own frame, as frames and bodies.csv place it [m]
  bool container = false;  // inside out: the material is inside
  bool moves = false;      // its pose differs from frame to frame
};

// Endless solids (planes) are left out.
std::vector<NamedMesh> solid_meshes(const SolidSet& solids);

// Where a frame has a solid. An Error names the frame if it does not know it.
Pose pose_in(const LoadedFrame& frame, const std::string& solid);

// Text, one object `o` a mesh, whole or not at all (base/atomic_file.h).
// All solids, each in its own frame.
void write_solids_obj(const std::vector<NamedMesh>& solids, const std::filesystem::path& file);
// The object `surface`, with normals, and the solids where the frame has them. Containers are left
// out: they would hide what is in them.
void write_frame_obj(const LoadedFrame& frame, const SurfaceMesh& surface,
                     const std::vector<NamedMesh>& solids, const std::filesystem::path& file);

}  // namespace barchan
