// Text to Scene: walks the sections, lets field_reader and shape_reader read the values, and checks
// what spans several sections.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/nearest_name.h"
#include "geometry/rectangle.h"
#include "scene/field_reader.h"
#include "scene/node.h"
#include "scene/overrides.h"
#include "scene/sections.h"
#include "scene/shape_reader.h"

namespace barchan {

namespace {

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
    material.color = {0.66, 0.46, 0.26};
  } else if (preset == "wet-sand") {
    material.density = 1900, material.friction_angle = 38, material.cohesion = 500;
    material.color = {0.33, 0.22, 0.13};
  } else if (preset == "gravel") {
    material.density = 1700, material.friction_angle = 42, material.cohesion = 0;
    material.color = {0.45, 0.44, 0.42};
  } else if (preset == "water") {
    material.density = 1000, material.friction_angle = 0, material.cohesion = 0;
    material.viscosity = 0.001;
    material.color = {0.11, 0.43, 0.60};
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
    Material material;
    material.name = member.key;
    const ParamTable& table = table_of<MaterialParams>();
    if (const Node::Member* preset = member.value.find("preset")) {
      read_field(*preset, *table.find("preset"), section, &material.params);
      apply_preset(material.params.preset, material.params);
    }
    read_section(member.value, table, section, &material.params);
    if (const Node::Member* grain = member.value.find("grain")) {
      material.grain = read_grain(grain->value, "'grain' in [" + section + "]");
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
  if (fill.params.sampling.empty()) fill.params.sampling = default_sampling(scene.general.solver);
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

// What only a dynamic body has, and what it may not be.
void check_motion(const Node& item, const SceneSolid& solid) {
  if (solid.params.motion != "dynamic") {
    const bool turns = length(solid.params.angular_velocity) > 0.0;
    if (!turns && !(length(solid.params.velocity) > 0.0)) return;
    const char* key = turns ? "angular_velocity" : "velocity";
    reject_at(item.find(key)->source,
              "'{}' is for bodies, but motion = \"{}\"; set motion = \"dynamic\"", key,
              solid.params.motion);
  }
  const Node::Member* shape = item.find("shape");
  if (solid.params.inside_out) {
    reject_at(
        item.find("inside_out")->source,
        "a dynamic body cannot be inside out; make its wall with difference = [outer, inner]");
  }
  if (!bounds(solid.shape.shape).is_bounded()) {
    reject_at(shape->source, "the shape of this body has no end; intersect it with a box");
  }
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
  check_motion(item, solid);
  scene.solids.push_back(std::move(solid));
}

void read_emitter(const Node& item, Scene& scene) {
  Emitter emitter;
  EmitterParams& params = emitter.params;
  read_section(item, table_of<EmitterParams>(), "[emitter]", &params);
  emitter.shape = required_shape(item, "[emitter]");
  emitter.material = find_material(scene, item);
  params.material = scene.materials[static_cast<std::size_t>(emitter.material)].name;
  emitter.place = item.source.text();
  if (!bounds(emitter.shape.shape).is_bounded()) {
    reject_at(item.find("shape")->value.source,
              "the shape of this emitter has no end; intersect it with a box");
  }
  if (!is_set(params.velocity)) {
    reject_at(item.source,
              "[[emitter]] needs a velocity [m/s]: newborn particles must make room for the next");
  }
  if (length(params.velocity) < 1e-6) {
    reject_at(item.find("velocity")->value.source,
              "'velocity' in [[emitter]] is zero: particles that stay where they are born leave no "
              "room for the next; give the speed at which they leave the shape");
  }
  if (is_set(params.end) && params.end <= params.start) {
    reject_at(item.find("end")->value.source,
              "'end' in [[emitter]] is {} s, but it must be later than 'start' of {} s", params.end,
              params.start);
  }
  scene.emitters.push_back(std::move(emitter));
}

void read_sink(const Node& item, Scene& scene) {
  Sink sink;
  read_section(item, table_of<SinkParams>(), "[sink]", &sink.params);
  sink.shape = required_shape(item, "[sink]");
  scene.sinks.push_back(std::move(sink));
}

// The keys that each kind of probe needs, and no others.
void check_probe_keys(const Node& item, const ProbeParams& probe) {
  static const std::vector<std::pair<std::string, std::string>> kAll = {
      {"at", "[x, y, z]"}, {"axis", "\"x\""},       {"from", "[x, y, z]"},
      {"to", "[x, y, z]"}, {"normal", "[1, 0, 0]"},
  };
  const bool front = probe.kind == "front", flow = probe.kind == "flow";
  const bool velocity = probe.kind == "velocity";
  for (const auto& [key, example] : kAll) {
    const bool needed = key == "axis" ? front || velocity : key == "at" ? !front && !flow : flow;
    const Node::Member* member = item.find(key);
    if (needed && !member) {
      reject_at(item.source, "probe '{}' of kind \"{}\" needs '{}', for example {} = {}",
                probe.name, probe.kind, key, key, example);
    }
    if (!needed && member) {
      reject_at(member->source, "'{}' means nothing to probe '{}' of kind \"{}\"", key, probe.name,
                probe.kind);
    }
  }
}

// The rectangle of a flow probe must be flat, across its normal, and have an area.
void check_flow(const Node& item, const ProbeParams& probe, const Vec3d& up) {
  if (length(probe.normal) < 1e-9) {
    reject_at(item.find("normal")->value.source,
              "'normal' of probe '{}' has no direction: it is zero", probe.name);
  }
  const Rectangle rectangle = level_rectangle(probe.from, probe.to, probe.normal, up);
  const double diagonal = length(probe.to - probe.from);
  const double off = std::abs(dot(probe.to - probe.from, rectangle.normal));
  if (off > 1e-6 * diagonal) {
    reject_at(
        item.find("to")->value.source,
        "'from' and 'to' of probe '{}' must lie in one plane across 'normal', but 'to' is {:.3g} "
        "m off it",
        probe.name, off);
  }
  if (std::min(rectangle.half_along, rectangle.half_across) <= 1e-9 * diagonal) {
    reject_at(item.find("to")->value.source,
              "the rectangle of probe '{}' has no area: 'from' and 'to' must be opposite corners",
              probe.name);
  }
}

void read_probe(const Node& item, Scene& scene) {
  Probe probe;
  ProbeParams& params = probe.params;
  read_section(item, table_of<ProbeParams>(), "[probe]", &params);
  probe.place = item.source.text();
  if (params.name.empty()) {
    reject_at(item.source, "[[probe]] needs a name: it writes to probes/<name>.csv");
  }
  for (const Probe& other : scene.probes) {
    if (other.params.name == params.name) {
      reject_at(item.find("name")->value.source,
                "two probes are called '{}'; give each its own name", params.name);
    }
  }
  check_probe_keys(item, params);
  if (params.kind == "front" && params.axis.ends_with(scene.general.up)) {
    reject_at(item.find("axis")->value.source,
              "a front runs along the floor, but axis \"{}\" is up or down; use kind = \"level\"",
              params.axis);
  }
  if (params.kind == "flow") check_flow(item, params, scene.up());
  scene.probes.push_back(std::move(probe));
}

void read_light(const Node& item, Scene& scene) {
  LightParams light;
  read_section(item, table_of<LightParams>(), "[light]", &light);
  for (const char* key : {"position", "target"}) {
    if (!item.find(key)) reject_at(item.source, "[[light]] needs '{}', for example [0, 3, 0]", key);
  }
  if (!(length(light.target - light.position) > 0.0)) {
    reject_at(item.source, "the light faces nothing: position and target are the same point");
  }
  scene.lights.push_back(light);
}

// The [[paper.KEY]] of a scene, each with the keys it cannot do without.
template <class Params>
std::vector<Params> read_paper_list(const Node& paper, const char* key,
                                    std::initializer_list<const char*> needed) {
  std::vector<Params> items;
  const Node::Member* list = paper.find(key);
  if (!list) return items;
  if (list->value.kind != Node::Kind::list) {
    reject_at(list->source, "'{}' is a list: write [[paper.{}]] with two brackets", key, key);
  }
  const std::string section = std::string("[paper.") + key + "]";
  for (const Node& item : list->value.items) {
    Params params;
    read_section(item, table_of<Params>(), section, &params);
    for (const char* name : needed) {
      if (!item.find(name)) reject_at(item.source, "[{}] needs '{}'", section, name);
    }
    items.push_back(std::move(params));
  }
  return items;
}

// Plots name runs that there are: "run" is the scene's own, the others are variants.
void check_paper(const Node& node, const PaperParams& paper) {
  std::vector<std::string> runs = {"run"};
  for (const PaperVariantParams& variant : paper.variants) {
    if (std::find(runs.begin(), runs.end(), variant.name) != runs.end()) {
      reject_at(node.source, "two runs of [paper] are called '{}'; give each its own name",
                variant.name);
    }
    runs.push_back(variant.name);
  }
  for (const PaperPlotParams& plot : paper.plots) {
    if (plot.kind != "iterations" && plot.value.empty()) {
      reject_at(node.source, "plot '{}' of [paper] needs 'value'", plot.name);
    }
    for (const std::string& run : plot.runs) {
      if (std::find(runs.begin(), runs.end(), run) == runs.end()) {
        reject_at(node.source, "plot '{}' of [paper] names no run '{}'{}", plot.name, run,
                  suggestion(run, runs));
      }
    }
  }
}

void read_paper(const Node& node, Scene& scene) {
  PaperParams& paper = scene.paper;
  read_section(node, table_of<PaperParams>(), "paper", &paper);
  paper.variants = read_paper_list<PaperVariantParams>(node, "variant", {"name", "set"});
  paper.numbers = read_paper_list<PaperNumberParams>(node, "number", {"name", "ours"});
  paper.plots = read_paper_list<PaperPlotParams>(node, "plot", {"name"});
  check_paper(node, paper);
}

void read_camera(const Node& document, Scene& scene) {
  const Node::Member* camera = document.find("camera");
  const Node::Member* keys = camera ? camera->value.find("keyframes") : nullptr;
  if (!keys) return;
  for (const char* still : {"position", "target"}) {
    if (const Node::Member* given = camera->value.find(still)) {
      reject_at(given->source,
                "'{}' in [camera] means nothing beside keyframes, which have their own", still);
    }
  }
  scene.camera.keyframes = read_camera_keys(keys->value, "'keyframes' in [camera]");
  scene.camera.keyframes_toml = inline_toml(keys->value);
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

void read_lists(const Node& document, Scene& scene) {
  using Read = void (*)(const Node&, Scene&);
  constexpr std::pair<const char*, Read> kLists[] = {
      {"fill", read_fill}, {"solid", read_solid}, {"emitter", read_emitter},
      {"sink", read_sink}, {"probe", read_probe}, {"light", read_light}};
  for (const auto& [key, read] : kLists) {
    if (const Node::Member* list = scene_member(document, key)) read_list(*list, scene, read);
  }
}

// Every key at the top of the file is a scene parameter, a section, or unknown.
void read_top_level(const Node& document, Scene& scene) {
  const ParamTable& table = table_of<SceneParams>();
  std::vector<std::string> known = names_of(table);
  for (const char* list : {"material", "fill", "solid", "emitter", "sink", "probe", "light"}) {
    known.emplace_back(list);
  }
  for (const SingleSection& single : single_sections()) known.push_back(single.table->section);
  known.emplace_back("paper");
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
  const bool bodies =
      std::any_of(scene.solids.begin(), scene.solids.end(),
                  [](const SceneSolid& solid) { return solid.params.motion == "dynamic"; });
  if (scene.fills.empty() && scene.emitters.empty() && !bodies) {
    reject_at(document.source,
              "the scene holds no particles: add a [[fill]] or an [[emitter]] with a shape");
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
  return read_scene(std::move(document), file, overrides);
}

Scene read_scene(Node document, const std::string& file,
                 const std::vector<std::string>& overrides) {
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
  read_lists(document, scene);
  for (const SingleSection& single : single_sections()) {
    if (const Node::Member* member = document.find(single.table->section)) {
      read_section(member->value, *single.table, member->key, single.object(scene));
    }
  }
  read_camera(document, scene);
  if (const Node::Member* paper = document.find("paper")) read_paper(paper->value, scene);
  check_whole(scene, document);
  return scene;
}

}  // namespace barchan
