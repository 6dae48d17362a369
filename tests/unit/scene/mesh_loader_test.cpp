// Where the meshes of a scene come from.
#include "scene/mesh_loader.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"

namespace barchan {
namespace {

namespace fs = std::filesystem;

TEST(MeshLoader, FilesAreRelativeToTheSceneAndBecomeAbsolute) {
  EXPECT_EQ(mesh_path("cup.obj", "/scenes/kitchen/pour.toml"), "/scenes/kitchen/cup.obj");
  EXPECT_EQ(mesh_path("../cup.obj", "/scenes/kitchen/pour.toml"), "/scenes/cup.obj");
  EXPECT_EQ(mesh_path("/meshes/cup.obj", "/scenes/pour.toml"), "/meshes/cup.obj");
  const std::string here = fs::current_path().string();
  EXPECT_EQ(mesh_path("cup.obj", "pour.toml"), here + "/cup.obj");
  EXPECT_EQ(mesh_path("cup.obj", "shots/pour.toml"), here + "/shots/cup.obj");
  EXPECT_EQ(mesh_path("cup.obj", ""), here + "/cup.obj");
  // An absolute path stays what it is: scene.toml of a run can be read again from anywhere.
  const std::string settled = mesh_path("cup.obj", "shots/pour.toml");
  EXPECT_EQ(mesh_path(settled, "/elsewhere/scene.toml"), settled);
}

TEST(MeshLoader, NamesOfStockMeshesStayNames) {
  EXPECT_TRUE(is_stock_mesh("bunny"));
  EXPECT_FALSE(is_stock_mesh("bunny.obj"));
  EXPECT_EQ(mesh_path("bunny", "/scenes/pour.toml"), "bunny");
}

TEST(MeshLoader, WhatIsMissingIsSaid) {
  EXPECT_THROW(load_mesh("nowhere.obj", "", {1, 1, 1}), Error);
  EXPECT_THROW(load_mesh("bunnny", "", {1, 1, 1}), Error);
}

}  // namespace
}  // namespace barchan
