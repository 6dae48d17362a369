// Meshes that a scene names: files beside it, or those that the program makes itself.
#pragma once

#include <memory>
#include <string>

#include "geometry/solid_mesh.h"
#include "math/vec3.h"

namespace barchan {

// Whether `file` names a mesh that the program makes: "bunny", "torus" ...
bool is_stock_mesh(const std::string& file);

// Where the file is, as an absolute path: relative ones are relative to the scene file. The names
// of stock meshes stay as they are. "" as the scene's file is the current folder.
std::string mesh_path(const std::string& file, const std::string& scene_file);

// The mesh, mended where that can be done, with its coordinates times `scale`. The same file with
// the same scale is loaded once as long as somebody holds it. Rejects what is missing or no solid.
std::shared_ptr<const SolidMesh> load_mesh(const std::string& file, const std::string& scene_file,
                                           const Vec3d& scale);

}  // namespace barchan
