#include "geometry/mesh_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <iterator>

#include "base/atomic_file.h"
#include "base/error.h"
#include "geometry/mesh_parse.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

bool has_area(const Mesh& mesh, const Triangle& t) {
  const Vec3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
  return length_squared(cross(b - a, c - a)) > 0.0;
}

Mesh parse(std::string_view bytes, const std::string& name, MeshFormat format) {
  switch (format) {
    case MeshFormat::obj:
      return mesh_parse::parse_obj(bytes, name);
    case MeshFormat::ply:
      return mesh_parse::parse_ply(bytes, name);
    case MeshFormat::stl:
      break;
  }
  return mesh_parse::parse_stl(bytes, name);
}

// Little-endian bytes of a number, as the PLY header promises.
template <class T>
void append(std::string& out, T value) {
  auto raw = std::bit_cast<std::array<char, sizeof(T)>>(value);
  if (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
  out.append(raw.data(), raw.size());
}

}  // namespace

MeshFormat mesh_format(const fs::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (ending == ".obj") return MeshFormat::obj;
  if (ending == ".ply") return MeshFormat::ply;
  if (ending == ".stl") return MeshFormat::stl;
  reject("{}: meshes are read from .obj, .ply and .stl files; export it as one of these",
         file.string());
}

Mesh read_mesh_text(std::string_view bytes, const std::string& name, MeshFormat format) {
  if (bytes.empty()) reject("{}: the file is empty; export the mesh again", name);
  Mesh mesh = parse(bytes, name, format);
  if (mesh.vertices.empty())
    reject("{}: the file holds no vertices, and so no surface; export the mesh again", name);
  if (mesh.triangles.empty()) {
    reject("{}: the file holds no triangles; export the surface, not the points alone", name);
  }
  if (mesh.triangles.size() > mesh_parse::kMostVertices) {
    reject("{}: {} triangles; at most {} are read: use a coarser mesh", name, mesh.triangles.size(),
           mesh_parse::kMostVertices);
  }
  if (std::none_of(mesh.triangles.begin(), mesh.triangles.end(),
                   [&](const Triangle& t) { return has_area(mesh, t); })) {
    reject("{}: none of its {} triangles has an area; the corners are in one line or one point",
           name, mesh.triangles.size());
  }
  return mesh;
}

Mesh read_mesh(const fs::path& file) {
  const MeshFormat format = mesh_format(file);
  std::error_code none;
  if (!fs::exists(file, none)) {
    reject("{}: there is no such file; give the mesh's path, relative to the scene file",
           file.string());
  }
  if (!fs::is_regular_file(file, none)) {
    reject("{}: {}; give the path of a mesh file", file.string(),
           fs::is_directory(file, none) ? "this is a folder" : "this is no ordinary file");
  }
  return read_mesh_text(read_text_file(file), file.string(), format);
}

void write_ply(const Mesh& mesh, const fs::path& file) {
  std::string out = fmt::format(
      "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double "
      "y\nproperty double z\nelement face {}\nproperty list uchar uint "
      "vertex_indices\nend_header\n",
      mesh.vertices.size(), mesh.triangles.size());
  out.reserve(out.size() + 24 * mesh.vertices.size() + 13 * mesh.triangles.size());
  for (const Vec3d& v : mesh.vertices) {
    for (int i = 0; i < 3; ++i) append(out, v[i]);
  }
  for (const Triangle& t : mesh.triangles) {
    append(out, std::uint8_t{3});
    for (const std::uint32_t corner : t) append(out, corner);
  }
  write_file_atomic(file, out);
}

void write_obj(const Mesh& mesh, const fs::path& file) {
  std::string out;
  for (const Vec3d& v : mesh.vertices) {
    fmt::format_to(std::back_inserter(out), "v {} {} {}\n", v.x, v.y, v.z);
  }
  for (const Triangle& t : mesh.triangles) {
    // Counted from 1; in 64 bits, because the last one may be 2^32.
    const std::uint64_t a = t[0], b = t[1], c = t[2];
    fmt::format_to(std::back_inserter(out), "f {} {} {}\n", a + 1, b + 1, c + 1);
  }
  write_file_atomic(file, out);
}

}  // namespace barchan
