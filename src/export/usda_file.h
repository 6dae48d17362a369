// A run as one USD file in text form, for Blender, Houdini and others: particles, their surface and
// the solids, with a time sample a frame.
//
//   /run                 Xform
//     /particles         Points: points, velocities, ids, widths; displayColor by material
//     /surface           Mesh: triangles, normals and velocities of each frame
//     /solids/<name>     Mesh, once; translate and orient of each frame where it moves
//
// Time codes are frame numbers. USD keeps all samples of an attribute together, while frames come
// one by one: each attribute's samples are put aside on disk until all are there, so memory holds
// one frame, however many there are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cache/frame_file.h"
#include "export/solid_meshes.h"
#include "math/vec3.h"
#include "surface/surface_mesh.h"

namespace barchan {

// What holds for all frames.
struct UsdaStage {
  std::string title;
  bool z_up = false;          // else y
  double fps = 24.0;          // time codes a second
  double width = 0.0;         // of a particle, its diameter [m]
  std::vector<Vec3d> colors;  // by material, 0 to 1
  std::vector<NamedMesh> solids;
};

class UsdaFile {
 public:
  UsdaFile(std::filesystem::path file, UsdaStage stage);
  ~UsdaFile();

  // In rising order of frames. An Error means that the disk is full or the like: there will be no
  // file.
  void add(const LoadedFrame& frame, const SurfaceMesh& surface);
  // Whole or not at all (base/atomic_file.h). At least one frame must be there.
  void finish();

 private:
  struct Samples;
  std::filesystem::path file_;
  UsdaStage stage_;
  std::int64_t first_ = -1, last_ = -1;  // frames
  std::unique_ptr<Samples> samples_;
};

}  // namespace barchan
