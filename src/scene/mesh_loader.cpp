#include "scene/mesh_loader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "geometry/mesh_file.h"
#include "geometry/mesh_mend.h"
#include "geometry/stand_ins.h"
#include "scene/field_reader.h"
#include "scene/scene.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

const std::vector<std::string>& stock_names() {
  static const std::vector<std::string> names = stock_mesh_names();
  return names;
}

// Closed and facing outwards. What had to be mended is said, for it may not be what was meant.
Mesh read_closed_mesh(const std::string& path) {
  if (is_stock_mesh(path)) return stock_mesh(path, assets_folder());
  Mended mended = mend(read_mesh(path), path);
  for (const std::string& what : mended.notes) warn("{}", what);
  return std::move(mended.mesh);
}

void check_there(const std::string& file, const std::string& path) {
  std::error_code none;
  if (is_stock_mesh(file) || fs::is_regular_file(path, none)) return;
  if (fs::path(file).has_extension() || fs::path(file).has_parent_path()) {
    reject("there is no file '{}'; paths are relative to the scene file", file);
  }
  reject("'{}' is neither a file nor a mesh that the program makes{}", file,
         suggestion(file, stock_names()));
}

Mesh scaled(Mesh mesh, const Vec3d& scale) {
  for (Vec3d& v : mesh.vertices) v = multiply(v, scale);
  return mesh;
}

}  // namespace

bool is_stock_mesh(const std::string& file) {
  return std::find(stock_names().begin(), stock_names().end(), file) != stock_names().end();
}

std::string mesh_path(const std::string& file, const std::string& scene_file) {
  if (is_stock_mesh(file)) return file;
  return fs::absolute(fs::path(scene_file).parent_path() / file).lexically_normal().string();
}

std::shared_ptr<const SolidMesh> load_mesh(const std::string& file, const std::string& scene_file,
                                           const Vec3d& scale) {
  using Key = std::pair<std::string, std::array<double, 3>>;
  static std::mutex guard;
  static std::map<Key, std::weak_ptr<const SolidMesh>> loaded;

  const std::string path = mesh_path(file, scene_file);
  check_there(file, path);
  const std::lock_guard lock(guard);
  std::weak_ptr<const SolidMesh>& known = loaded[{path, {scale.x, scale.y, scale.z}}];
  std::shared_ptr<const SolidMesh> mesh = known.lock();
  if (!mesh) {
    mesh = std::make_shared<const SolidMesh>(scaled(read_closed_mesh(path), scale));
    known = mesh;
  }
  return mesh;
}

}  // namespace barchan
