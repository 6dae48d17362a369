#include "surface/surface_file.h"

#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <string>

#include "base/atomic_file.h"

namespace barchan {

namespace {

char* put(char* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return to + bytes;
}

}  // namespace

void write_surface_ply(const SurfaceMesh& mesh, const std::filesystem::path& file) {
  std::string header = "ply\nformat binary_little_endian 1.0\n";
  header += fmt::format("element vertex {}\n", mesh.vertices.size());
  for (const char* name : {"x", "y", "z", "nx", "ny", "nz", "vx", "vy", "vz"}) {
    header += fmt::format("property float {}\n", name);
  }
  header += fmt::format("element face {}\nproperty list uchar uint vertex_indices\nend_header\n",
                        mesh.triangles.size());
  constexpr std::size_t kVertex = 3 * sizeof(Vec3), kFace = 1 + sizeof(Triangle);
  std::string out = header;
  out.resize(header.size() + kVertex * mesh.vertices.size() + kFace * mesh.triangles.size());
  char* at = out.data() + header.size();
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    at = put(at, &mesh.vertices[v], sizeof(Vec3));
    at = put(at, &mesh.normals[v], sizeof(Vec3));
    at = put(at, &mesh.velocities[v], sizeof(Vec3));
  }
  for (const Triangle& t : mesh.triangles) {
    *at++ = 3;
    at = put(at, t.data(), sizeof(Triangle));
  }
  write_file_atomic(file, out);
}

std::string surface_obj_text(const SurfaceMesh& mesh) {
  std::string out;
  const auto to = std::back_inserter(out);
  for (const Vec3& v : mesh.vertices) fmt::format_to(to, "v {} {} {}\n", v.x, v.y, v.z);
  for (const Vec3& n : mesh.normals) fmt::format_to(to, "vn {:.4f} {:.4f} {:.4f}\n", n.x, n.y, n.z);
  for (const Triangle& t : mesh.triangles) {  // numbers begin at 1
    fmt::format_to(to, "f {0}//{0} {1}//{1} {2}//{2}\n", t[0] + 1, t[1] + 1, t[2] + 1);
  }
  return out;
}

void write_surface_obj(const SurfaceMesh& mesh, const std::filesystem::path& file) {
  write_file_atomic(file, surface_obj_text(mesh));
}

}  // namespace barchan
