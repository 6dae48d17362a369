// A scene as read: parameters with every default filled in, shapes, and nothing simulated yet.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "geometry/grain.h"
#include "geometry/keyframes.h"
#include "geometry/shape.h"
#include "params/output_params.h"
#include "params/paper_params.h"
#include "params/scene_params.h"
#include "params/solver_params.h"

namespace barchan {

struct Node;

// A value that has no column in a parameter table, with its text for scene.toml.
struct ShapeValue {
  Shape shape;
  std::string toml;
};

struct Material {
  std::string name;
  MaterialParams params;
  std::string grain_toml = "\"sphere\"";
  std::vector<GrainSphere> grain = grain_spheres("sphere");  // dem: what a grain is made of
};

struct Fill {
  FillParams params;
  ShapeValue shape;
  int material = 0;   // index into Scene::materials
  std::string place;  // where it stands in the scene file, for messages
};

struct SceneSolid {
  SolidParams params;
  ShapeValue shape;
  std::vector<Keyframe> keyframes;
  std::string keyframes_toml;
};

struct Emitter {
  EmitterParams params;
  ShapeValue shape;
  int material = 0;   // index into Scene::materials
  std::string place;  // where it stands in the scene file, for messages
};

struct Sink {
  SinkParams params;
  ShapeValue shape;
};

struct Probe {
  ProbeParams params;
  std::string place;  // where it stands in the scene file, for messages
};

struct Scene {
  std::string name;  // of the file, without its ending: names the run folder

  SceneParams general;
  std::vector<Material> materials;
  std::vector<Fill> fills;
  std::vector<SceneSolid> solids;
  std::vector<Emitter> emitters;
  std::vector<Sink> sinks;
  std::vector<LightParams> lights;
  std::vector<Probe> probes;

  BallisticParams ballistic;
  FlipParams flip;
  PbfParams pbf;
  GranularSphParams granular_sph;
  DemParams dem;
  RigidParams rigid;
  CacheParams cache;
  SurfaceParams surface;
  RenderParams render;
  CameraParams camera;
  PaperParams paper;

  Vec3d up() const { return general.up == "z" ? Vec3d{0, 0, 1} : Vec3d{0, 1, 0}; }
  std::int64_t frame_count() const;  // frames after frame 0
};

// Reads a scene from text. `overrides` are the arguments of --set, "section.key=value". Faults are
// Errors with file:line:column, the key, what was expected, and the nearest valid name.
Scene read_scene(const std::string& text, const std::string& file,
                 const std::vector<std::string>& overrides = {});

// The same from a table that is parsed already, such as [scene] of a validation case.
Scene read_scene(Node document, const std::string& file,
                 const std::vector<std::string>& overrides = {});

// SCENE as users give it: a file, or the name of a shipped scene.
Scene load_scene(const std::string& name_or_path, const std::vector<std::string>& overrides = {});

// The scene with every default filled in; reading it again gives the same scene.
std::string to_toml(const Scene& scene);
// One section's keys and values.
std::string to_toml(const SurfaceParams& params);

// ---- Shipped scenes

struct ShippedScene {
  std::string name;  // "dam-break", "zb05/column-sand", "bench/pbf-dam-100k"
  std::filesystem::path path;
  std::string title;
};
std::vector<ShippedScene> shipped_scenes();

// assets/ beside scenes/, where `make assets` puts meshes (geometry/stand_ins.h); it need not
// exist.
std::filesystem::path assets_folder();

// ---- Generated from the parameter tables

std::string parameter_text(const std::string& section);  // for a terminal; "" = all sections
std::string parameter_markdown();                        // docs/reference.md
std::string parameter_json_schema();                     // for editors

}  // namespace barchan
