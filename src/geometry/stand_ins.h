// Meshes that are always there, made in code: animals, buildings and tools for scenes that show
// what well-known models show elsewhere, and a few plain bodies for tests.
//
// Each stands on y = 0, its bounding box centred in x and z, and is 1 m tall; the ring and the
// torus lie flat and are 1 m across. Animals look along +x, the blade pushes along +x. All are
// closed and face outwards.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "geometry/mesh.h"

namespace barchan {

// "armadillo", "bulldozer", "bunny", ...: in alphabetical order.
std::vector<std::string> stock_mesh_names();

// assets/NAME.obj, which stands for the made mesh where it exists (`make assets` fetches some).
std::filesystem::path asset_file(const std::filesystem::path& assets_folder,
                                 const std::string& name);

// The mesh by its name: from assets_folder, mended and brought to the convention above, or made.
// Rejects unknown names with the nearest known one.
Mesh stock_mesh(const std::string& name, const std::filesystem::path& assets_folder = {});

}  // namespace barchan
