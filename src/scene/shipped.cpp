// SCENE by name: scenes/shipped, scenes/papers, scenes/bench beside the program or in the source.
#include <algorithm>

#include "base/atomic_file.h"
#include "base/data_folder.h"
#include "base/nearest_name.h"
#include "scene/field_reader.h"
#include "scene/node.h"
#include "scene/scene.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

void collect(const fs::path& folder, const std::string& prefix, std::vector<ShippedScene>& out) {
  std::error_code none;
  if (!fs::is_directory(folder, none)) return;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, none)) {
    if (entry.path().extension() != ".toml") continue;
    fs::path name = fs::relative(entry.path(), folder);
    name.replace_extension();
    out.push_back({prefix + name.generic_string(), entry.path(), ""});
  }
}

std::vector<ShippedScene> list_shipped() {
  const fs::path folder = data_folder("scenes", "shipped");
  std::vector<ShippedScene> scenes;
  collect(folder / "shipped", "", scenes);
  collect(folder / "papers", "", scenes);
  collect(folder / "bench", "bench/", scenes);
  std::sort(scenes.begin(), scenes.end(),
            [](const ShippedScene& a, const ShippedScene& b) { return a.name < b.name; });
  return scenes;
}

}  // namespace

std::vector<ShippedScene> shipped_scenes() {
  std::vector<ShippedScene> scenes = list_shipped();
  for (ShippedScene& scene : scenes) {
    const Node document = parse_toml(read_text_file(scene.path), scene.path.string());
    if (const Node::Member* title = document.find("title")) scene.title = title->value.text;
  }
  return scenes;
}

fs::path assets_folder() {
  return data_folder("scenes", "shipped").parent_path() / "assets";
}

Scene load_scene(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  std::error_code none;
  if (fs::exists(name_or_path, none)) {
    return read_scene(read_text_file(name_or_path), name_or_path, overrides);
  }
  const std::vector<ShippedScene> shipped = list_shipped();
  std::vector<std::string> names;
  for (const ShippedScene& scene : shipped) {
    if (scene.name == name_or_path) {
      return read_scene(read_text_file(scene.path), scene.path.string(), overrides);
    }
    names.push_back(scene.name);
  }
  const std::string nearest = nearest_name(name_or_path, names);
  reject("no scene '{}': it is neither a file nor a shipped scene ({})", name_or_path,
         nearest.empty() ? "`barchan scenes` lists them" : "did you mean '" + nearest + "'?");
}

}  // namespace barchan
