#include "export/solid_meshes.h"

#include <fmt/format.h>

#include <iterator>

#include "base/atomic_file.h"
#include "base/error.h"
#include "geometry/shape_mesh.h"
#include "surface/surface_file.h"

namespace barchan {

namespace {

// `before`: how many vertices the file has already.
void append_object(const NamedMesh& solid, const Pose& pose, std::size_t before,
                   std::string& text) {
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "o {}\n", solid.name);
  for (const Vec3d& v : solid.mesh.vertices) {
    const Vec3d x = pose.to_world(v);
    fmt::format_to(to, "v {} {} {}\n", x.x, x.y, x.z);
  }
  for (const Triangle& t : solid.mesh.triangles) {  // numbers begin at 1
    fmt::format_to(to, "f {} {} {}\n", before + t[0] + 1, before + t[1] + 1, before + t[2] + 1);
  }
}

}  // namespace

std::vector<NamedMesh> solid_meshes(const SolidSet& solids) {
  std::vector<NamedMesh> meshes;
  for (int s = 0; s < solids.count(); ++s) {
    const Solid& solid = solids[s];
    if (!bounds(solid.shape).is_bounded()) continue;
    meshes.push_back(
        {solid.name, shape_mesh(solid.shape), solid.inside_out, solid.drive != SolidDrive::fixed});
  }
  return meshes;
}

Pose pose_in(const LoadedFrame& frame, const std::string& solid) {
  for (const BodyState& body : frame.bodies) {
    if (body.name == solid) return {body.position, body.orientation};
  }
  fail("frame {} has no solid '{}', which scene.toml has", frame.index, solid);
}

void write_solids_obj(const std::vector<NamedMesh>& solids, const std::filesystem::path& file) {
  std::string text;
  std::size_t vertices = 0;
  for (const NamedMesh& solid : solids) {
    append_object(solid, Pose(), vertices, text);
    vertices += solid.mesh.vertices.size();
  }
  write_file_atomic(file, text);
}

void write_frame_obj(const LoadedFrame& frame, const SurfaceMesh& surface,
                     const std::vector<NamedMesh>& solids, const std::filesystem::path& file) {
  std::string text = "o surface\n" + surface_obj_text(surface);
  std::size_t vertices = surface.vertices.size();
  for (const NamedMesh& solid : solids) {
    if (solid.container) continue;
    append_object(solid, pose_in(frame, solid.name), vertices, text);
    vertices += solid.mesh.vertices.size();
  }
  write_file_atomic(file, text);
}

}  // namespace barchan
