// Text to Scene: walks the sections, lets field_reader and shape_reader read the values, and checks
// what spans several sections.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/nearest_name.h"
#include "scene/field_reader.h"
#include "scene/node.h"
#include "scene/overrides.h"
#include "scene/sections.h"
#include "scene/shape_reader.h"

namespace barchan {

namespace {

std::vector<std::string> names_of(const ParamTable& table) {
  std::vector<std::string> names;
  for (const ParamField& field : table.fields) names.push_back(field.name);
  return names;
}

// Reads every plain key of `node`; the special ones are left to the caller.
void read_section(const Node& node, const ParamTable& table, const std::string& section,
                  void* object) {
  if (node.kind == Node::Kind::list) {
    reject_at(node.source, "there is one {0} only: write {0} with one pair of brackets",
              section_title(section));
  }
  expect_table(node, section_title(section));
  for (const Node::Member& member : node.members) {
    const ParamField* field = table.find(member.key);
    if (!field) reject_unknown_key(member, section, names_of(table));
    read_field(member, *field, section, object);
  }
}

ShapeValue required_shape(const Node& node, const std::string& section) {
  const Node::Member* shape = node.find("shape");
  if (!shape) reject_at(node.source, "{} needs a shape", section_title(section));
  // A section that --set made stands in no file.
  const std::string scene_file = node.source.line > 0 ? node.source.file : "";
  return read_shape(shape->value, section_title(section), scene_file);
}

// The known values behind `preset`.
void apply_preset(const std::string& preset, MaterialParams& material) {
  if (preset == "dry-sand") {
    material.density = 1600, material.friction_angle = 35, material.cohesion = 0;
    material.color = {0.76, 0.62, 0.42};
  } else if (preset == "wet-sand") {
    material.density = 1900, material.friction_angle = 38, material.cohesion = 500;
    material.color = {0.45, 0.34, 0.22};
  } else if (preset == "gravel") {
    material.density = 1700, material.friction_angle = 42, material.cohesion = 0;
    material.color = {0.45, 0.44, 0.42};
  } else if (preset == "water") {
    material.density = 1000, material.friction_angle = 0, material.cohesion = 0;
    material.viscosity = 0.001;
    material.color = {0.10, 0.35, 0.60};
  }
}

void read_materials(const Node& node, Scene& scene) {
  if (node.kind != Node::Kind::table) {
    reject_at(node.source, "materials have names: write [material.sand], then density = ...");
  }
  for (const Node::Member& member : node.members) {
    const std::string section = "material." + member.key;
    if (!is_valid_name(member.key)) {
      reject_at(member.source,
                "'{}' is no name for a material: use letters, digits, '_' and '-' "
                "(at most 64)",
                member.key);
    }
    if (member.value.kind != Node::Kind::table) {
      reject_at(member.source, "materials have names: write [material.sand], then {} = ...",
                member.key);
    }
    Material material{member.key, {}, "\"sphere\""};
    const ParamTable& table = table_of<MaterialParams>();
    if (const Node::Member* preset = member.value.find("preset")) {
      read_field(*preset, *table.find("preset"), section, &material.params);
      apply_preset(material.params.preset, material.params);
    }
    read_section(member.value, table, section, &material.params);
    if (const Node::Member* grain = member.value.find("grain")) {
      check_grain(grain->value, "'grain' in [" + section + "]");
      material.grain_toml = inline_toml(grain->value);
    }
    const std::vector<double>& radius = material.params.radius;
    if (radius.size() == 2 && radius[0] > radius[1]) {
      reject_at(member.value.find("radius")->value.source,
                "'radius' in [{}] must be [smallest, largest], but {} is above {}", section,
                radius[0], radius[1]);
    }
    scene.materials.push_back(std::move(material));
  }
  if (scene.materials.size() > 255) reject_at(node.source, "a scene holds at most 255 materials");
}

// The material that `item` names; the first one where it names none.
int find_material(const Scene& scene, const Node& item) {
  const Node::Member* member = item.find("material");
  if (!member) return 0;
  const std::string& name = member->value.text;
  std::vector<std::string> known;
  for (std::size_t m = 0; m < scene.materials.size(); ++m) {
    if (scene.materials[m].name == name) return static_cast<int>(m);
    known.push_back(scene.materials[m].name);
  }
  reject_at(member->value.source, "unknown material '{}': the scene has no [material.{}]{}", name,
            name, suggestion(name, known));
}

void read_fill(const Node& item, Scene& scene) {
  Fill fill;
  read_section(item, table_of<FillParams>(), "[fill]", &fill.params);
  fill.shape = required_shape(item, "[fill]");
  fill.material = find_material(scene, item);
  fill.params.material = scene.materials[static_cast<std::size_t>(fill.material)].name;
  fill.place = item.source.text();
  if (!bounds(fill.shape.shape).is_bounded()) {
    reject_at(item.find("shape")->value.source,
              "the shape of this fill has no end; intersect it with a box");
  }
  scene.fills.push_back(std::move(fill));
}

void read_solid(const Node& item, Scene& scene) {
  SceneSolid solid;
  solid.params.name = fmt::format("solid{}", scene.solids.size() + 1);
  read_section(item, table_of<SolidParams>(), "[solid]", &solid.params);
  solid.shape = required_shape(item, "[solid]");
  for (const SceneSolid& other : scene.solids) {
    if (other.params.name == solid.params.name) {
      const Node::Member* name = item.find("name");
      reject_at(name ? name->value.source : item.source,
                "two solids are called '{}'; give each its own name", solid.params.name);
    }
  }
  const Node::Member* keyframes = item.find("keyframes");
  if (keyframes) {
    solid.keyframes = read_keyframes(keyframes->value, "'keyframes' in [[solid]]");
    solid.keyframes_toml = inline_toml(keyframes->value);
    if (solid.params.motion != "keyframes") {
      reject_at(keyframes->source,
                "keyframes are given, but motion = \"{}\"; set motion = \"keyframes\"",
                solid.params.motion);
    }
  } else if (solid.params.motion == "keyframes") {
    reject_at(item.source,
              "motion = \"keyframes\" needs keyframes = [ {{ time = 0, position = [..] }}, .. ]");
  }
  scene.solids.push_back(std::move(solid));
}

void read_list(const Node::Member& member, Scene& scene, void (*read)(const Node&, Scene&)) {
  const bool is_list = member.value.kind == Node::Kind::list;
  if (!is_list && member.source.line == 0 && member.value.kind == Node::Kind::table) {
    reject_at(member.source, "the scene has no [[{}]] to set this in", member.key);  // --set
  }
  if (!is_list) {
    reject_at(member.source, "'{}' is a list: write [[{}]] with two brackets", member.key,
              member.key);
  }
  for (const Node& item : member.value.items) {
    expect_table(item, "[[" + member.key + "]]");
    read(item, scene);
  }
}

const Node::Member* scene_member(const Node& document, const char* key) {
  const Node::Member* member = document.find(key);
  if (!member) return nullptr;
  const std::string missing = not_available_yet("", key, "");
  if (!missing.empty()) reject_at(member->source, "{} is not available yet", missing);
  return member;
}

// Every key at the top of the file is a scene parameter, a section, or unknown.
void read_top_level(const Node& document, Scene& scene) {
  const ParamTable& table = table_of<SceneParams>();
  std::vector<std::string> known = names_of(table);
  for (const char* list : {"material", "fill", "solid", "emitter", "sink", "probe"}) {
    known.emplace_back(list);
  }
  for (const SingleSection& single : single_sections()) known.push_back(single.table->section);
  for (const Node::Member& member : document.members) {
    if (const ParamField* field = table.find(member.key)) {
      read_field(member, *field, "", &scene.general);
    } else if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      const bool is_section = member.value.kind == Node::Kind::table;
      if (is_section) {
        reject_at(member.source, "unknown section [{}]{}", member.key,
                  suggestion(member.key, known));
      }
      reject_unknown_key(member, "", known);
    }
  }
  // Subtracted, because -9.81 * 0 would be -0.
  if (!is_set(scene.general.gravity)) scene.general.gravity = Vec3d() - 9.81 * scene.up();
}

// Where `key` of a section stands, or the section itself, or the document.
Source source_of(const Node& document, const char* section, const char* key) {
  const Node::Member* inner = document.find(section);
  if (!inner) return document.source;
  const Node::Member* member = inner->value.find(key);
  return member ? member->value.source : inner->source;
}

void check_whole(const Scene& scene, const Node& document) {
  if (scene.fills.empty() && scene.emitters.empty()) {
    reject_at(document.source, "the scene holds no particles: add a [[fill]] with a shape");
  }
  const GranularSphParams& sph = scene.granular_sph;
  if (sph.iterations_min > sph.iterations_max) {
    reject_at(source_of(document, "granular-sph", "iterations_min"),
              "'iterations_min' in [granular-sph] is {}, above 'iterations_max' of {}",
              sph.iterations_min, sph.iterations_max);
  }
  const double frames = scene.general.duration * scene.general.fps;
  if (frames > 1e7) {
    reject_at(source_of(document, "duration", ""),
              "duration x fps asks for {:.0f} frames; 10 million is the most", frames);
  }
}

}  // namespace

std::int64_t Scene::frame_count() const {
  // A duration of 2 s at 24 fps is 48 frames, also where 2 * 24 comes out a hair below.
  return static_cast<std::int64_t>(std::floor(general.duration * general.fps + 1e-6));
}

Scene read_scene(const std::string& text, const std::string& file,
                 const std::vector<std::string>& overrides) {
  constexpr std::size_t kLargest = std::size_t{16} << 20;
  if (text.size() > kLargest) reject("{}: a scene file of more than 16 MiB is refused", file);
  Node document = parse_toml(text, file);
  document.source = {file, 1, 1};
  for (const std::string& setting : overrides) apply_override(setting, document);

  Scene scene;
  scene.name = std::filesystem::path(file).stem().string();
  read_top_level(document, scene);
  if (const Node::Member* materials = scene_member(document, "material")) {
    read_materials(materials->value, scene);
  }
  if (scene.materials.empty()) {  // a scene that names no material is water
    Material water{"water", {}, "\"sphere\""};
    water.params.preset = "water";
    apply_preset("water", water.params);
    scene.materials.push_back(water);
  }
  if (const Node::Member* fills = scene_member(document, "fill")) {
    read_list(*fills, scene, read_fill);
  }
  if (const Node::Member* solids = scene_member(document, "solid")) {
    read_list(*solids, scene, read_solid);
  }
  for (const char* later : {"emitter", "sink", "probe"}) scene_member(document, later);
  for (const SingleSection& single : single_sections()) {
    if (const Node::Member* member = document.find(single.table->section)) {
      read_section(member->value, *single.table, member->key, single.object(scene));
    }
  }
  check_whole(scene, document);
  return scene;
}

}  // namespace barchan
