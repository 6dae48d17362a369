// Triangle meshes from and to files: OBJ, PLY (text and binary) and STL (text and binary).
//
// A mesh comes as the file has it: corners are not merged, holes not closed, nothing is turned
// (mesh_mend.h does that). Polygons are cut into triangles; normals, colours, textures and groups
// are passed over. Whatever is wrong with a file is one message:
//     camel.obj:17: vertex number 9 does not exist: the file has 8 vertices; ...
//     camel.ply: byte 1312: the file ends within vertex 40 of 100; ...
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "geometry/mesh.h"

namespace barchan {

enum class MeshFormat { obj, ply, stl };

// By the file's ending, in capitals or not. Rejects other endings.
MeshFormat mesh_format(const std::filesystem::path& file);

// At least one vertex and one triangle, not all triangles without area, all corners there, all
// coordinates finite and below 1e12 m: or it is rejected.
Mesh read_mesh(const std::filesystem::path& file);
// The same from memory; `name` is what messages begin with.
Mesh read_mesh_text(std::string_view bytes, const std::string& name, MeshFormat format);

// Whole or not at all (base/atomic_file.h). PLY: binary, coordinates as doubles, so that reading it
// gives the same mesh to the last bit. OBJ: text, with as many digits as that takes.
void write_ply(const Mesh& mesh, const std::filesystem::path& file);
void write_obj(const Mesh& mesh, const std::filesystem::path& file);

}  // namespace barchan
