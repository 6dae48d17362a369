#include "scene/shape_reader.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"
#include "scene/field_reader.h"
#include "scene/mesh_loader.h"

namespace barchan {

namespace {

constexpr int kDeepest = 32;

const std::vector<std::string> kKinds = {"box",   "sphere",     "cylinder",     "capsule",
                                         "cone",  "torus",      "plane",        "mesh",
                                         "union", "difference", "intersection", "offset"};

// The keys of one shape, read by name. Unknown keys are complained about first: 'centre' is a
// better answer than a missing 'center'.
class Keys {
 public:
  Keys(const Node& node, std::string what, const std::vector<std::string>& known)
      : node_(node), what_(std::move(what)) {
    expect_table(node_, what_);
    for (const Node::Member& member : node_.members) {
      if (std::find(known.begin(), known.end(), member.key) == known.end()) {
        reject_at(member.source, "unknown key '{}' in {}{}", member.key, what_,
                  suggestion(member.key, known));
      }
    }
  }
  const Node& required(const std::string& key) const {
    const Node* value = optional(key);
    if (!value) reject_at(node_.source, "{} needs '{}'", what_, key);
    return *value;
  }
  const Node* optional(const std::string& key) const {
    const Node::Member* member = node_.find(key);
    return member ? &member->value : nullptr;
  }
  double number(const std::string& key) const { return read_number(required(key), called(key)); }
  Vec3d vector(const std::string& key) const { return read_vector(required(key), called(key)); }
  std::string called(const std::string& key) const { return "'" + key + "' of " + what_; }

 private:
  const Node& node_;
  std::string what_;
};

// Where a shape stands: in which file, and in how many others.
struct Nest {
  const std::string& scene_file;
  int depth = 0;
  Nest deeper() const { return {scene_file, depth + 1}; }
};

Shape read_tree(const Node& node, const std::string& what, const Nest& nest);

std::vector<Shape> read_list(const Node& node, const std::string& what, std::size_t least,
                             const Nest& nest) {
  if (node.kind != Node::Kind::list || node.items.size() < least) {
    reject_at(node.source, "{} must be a list of at least {} shape{}, not {}", what, least,
              least == 1 ? "" : "s", describe(node));
  }
  std::vector<Shape> shapes;
  for (const Node& item : node.items) shapes.push_back(read_tree(item, what, nest.deeper()));
  return shapes;
}

Shape read_box(const Node& value, const std::string& what) {
  if (value.kind != Node::Kind::list || value.items.size() != 2) {
    reject_at(value.source, "{} must be two corners [[x, y, z], [x, y, z]], not {}", what,
              describe(value));
  }
  const Vec3d lo = read_vector(value.items[0], "the lower corner of " + what);
  const Vec3d hi = read_vector(value.items[1], "the upper corner of " + what);
  return make_box(lo, hi);
}

// Keys are read one a statement: the order of a call's arguments is the compiler's choice, and with
// it which of two faults is reported.
Shape read_round(const std::string& kind, const Node& value, const std::string& what) {
  std::vector<std::string> known = {"from", "to", "radius"};
  if (kind == "cone") known.emplace_back("radius_to");
  const Keys keys(value, what, known);
  const Vec3d from = keys.vector("from");
  const Vec3d to = keys.vector("to");
  const double radius = keys.number("radius");
  if (kind == "cylinder") return make_cylinder(from, to, radius);
  if (kind == "capsule") return make_capsule(from, to, radius);
  const Node* tip = keys.optional("radius_to");
  return make_cone(from, to, radius, tip ? read_number(*tip, keys.called("radius_to")) : 0.0);
}

Shape read_primitive(const std::string& kind, const Node& value, const std::string& what) {
  if (kind == "box") return read_box(value, what);
  if (kind == "sphere") {
    const Keys keys(value, what, {"center", "radius"});
    const Vec3d center = keys.vector("center");
    return make_sphere(center, keys.number("radius"));
  }
  if (kind == "torus") {
    const Keys keys(value, what, {"center", "axis", "major", "minor"});
    const Vec3d center = keys.vector("center");
    const Vec3d axis = keys.vector("axis");
    const double major = keys.number("major");
    return make_torus(center, axis, major, keys.number("minor"));
  }
  if (kind == "plane") {
    const Keys keys(value, what, {"point", "normal"});
    const Vec3d point = keys.vector("point");
    return make_plane(point, keys.vector("normal"));
  }
  return read_round(kind, value, what);
}

// `rotate`, then `translate`, of the table that holds them.
Pose read_placement(const Node& table, const std::string& what) {
  Pose pose;
  if (const Node::Member* rotate = table.find("rotate")) {
    const AxisAngle turn = read_rotation(rotate->value, "'rotate' of " + what);
    pose.orientation = from_axis_angle(turn.axis, turn.angle);
  }
  if (const Node::Member* translate = table.find("translate")) {
    pose.position = read_vector(translate->value, "'translate' of " + what);
  }
  return pose;
}

// One number for all axes, or one each.
Vec3d read_scale(const Node& node, const std::string& what) {
  Vec3d scale;
  if (node.kind == Node::Kind::list) {
    scale = read_vector(node, what);
  } else {
    const double all = read_number(node, what);
    scale = {all, all, all};
  }
  for (int i = 0; i < 3; ++i) {
    if (!(scale[i] > 0.0)) reject_at(node.source, "{} must be above 0, not {}", what, scale[i]);
  }
  return scale;
}

Shape read_mesh_shape(const Node& value, const std::string& what, const Nest& nest) {
  const Keys keys(value, what, {"file", "scale", "translate", "rotate"});
  const Node& file = keys.required("file");
  if (file.kind != Node::Kind::text || file.text.empty()) {
    reject_at(file.source, "{} must be the name of a mesh or its file, not {}", keys.called("file"),
              describe(file));
  }
  const Node* factor = keys.optional("scale");
  const Vec3d scale = factor ? read_scale(*factor, keys.called("scale")) : Vec3d(1.0, 1.0, 1.0);
  const Pose pose = read_placement(value, what);
  try {
    return placed(make_mesh(load_mesh(file.text, nest.scene_file, scale)), pose);
  } catch (const Error& error) {
    if (error.fault() != Fault::input) throw;
    reject_at(file.source, "{}: {}", what, error.what());
  }
}

Shape read_kind(const std::string& kind, const Node& value, const std::string& what,
                const Nest& nest) {
  if (kind == "union") return make_union(read_list(value, what, 1, nest));
  if (kind == "intersection") return make_intersection(read_list(value, what, 1, nest));
  if (kind == "difference") {
    std::vector<Shape> parts = read_list(value, what, 2, nest);
    Shape first = std::move(parts.front());
    parts.erase(parts.begin());
    return make_difference(std::move(first),
                           parts.size() == 1 ? std::move(parts[0]) : make_union(std::move(parts)));
  }
  if (kind == "offset") {
    const Keys keys(value, what, {"shape", "by"});
    Shape shape = read_tree(keys.required("shape"), what, nest.deeper());
    const double by = keys.number("by");
    return make_offset(std::move(shape), by);
  }
  if (kind == "mesh") return read_mesh_shape(value, what, nest);
  return read_primitive(kind, value, what);
}

Shape read_tree(const Node& node, const std::string& what, const Nest& nest) {
  if (nest.depth > kDeepest)
    reject_at(node.source, "shapes are nested more than {} deep", kDeepest);
  if (node.kind != Node::Kind::table) {
    reject_at(node.source,
              "a shape of {} must be a table like {{ box = [[0, 0, 0], [1, 1, 1]] }}, not {}", what,
              describe(node));
  }
  const Node::Member* chosen = nullptr;
  for (const Node::Member& member : node.members) {
    if (member.key == "translate" || member.key == "rotate") continue;
    if (std::find(kKinds.begin(), kKinds.end(), member.key) == kKinds.end()) {
      reject_at(member.source, "unknown shape '{}' in {}{}", member.key, what,
                suggestion(member.key, kKinds));
    }
    if (chosen) {
      reject_at(member.source, "{} has both '{}' and '{}'; combine them with union = [..]", what,
                chosen->key, member.key);
    }
    chosen = &member;
  }
  if (!chosen) reject_at(node.source, "{} names no shape{}", what, suggestion("", kKinds));

  Shape shape = read_kind(chosen->key, chosen->value, "the " + chosen->key + " of " + what, nest);
  // Meshes have a placement of their own already.
  const Pose pose = read_placement(node, what);
  shape.placement = shape.kind == Shape::Kind::mesh ? compose(pose, shape.placement) : pose;
  const std::string fault = describe_fault(shape);
  if (!fault.empty()) reject_at(chosen->source, "the {} of {}: {}", chosen->key, what, fault);
  return shape;
}

// Makes the paths of all meshes in a shape absolute.
void settle_files(Node& node, const std::string& scene_file) {
  for (Node& item : node.items) settle_files(item, scene_file);
  for (Node::Member& member : node.members) {
    Node::Member* file = member.key == "mesh" ? member.value.find("file") : nullptr;
    if (file) file->value.text = mesh_path(file->value.text, scene_file);
    settle_files(member.value, scene_file);
  }
}

}  // namespace

ShapeValue read_shape(const Node& node, const std::string& what, const std::string& scene_file) {
  Shape shape = read_tree(node, what, {scene_file});
  Node settled = node;
  settle_files(settled, scene_file);
  return {std::move(shape), inline_toml(settled)};
}

AxisAngle read_rotation(const Node& node, const std::string& what) {
  const Keys keys(node, what, {"axis", "angle"});
  AxisAngle turn{keys.vector("axis"), radians(keys.number("angle"))};
  const double size = length(turn.axis);
  if (!(size > 0.0) || !std::isfinite(size)) {
    reject_at(node.source, "the axis of {} has no direction", what);
  }
  turn.axis /= size;
  return turn;
}

namespace {

// Velocities come from differences of keyframes: these limits keep them finite, also as floats.
void check_keyframe(const Keyframe& frame, const std::vector<Keyframe>& earlier,
                    const Source& source) {
  constexpr double kLargest = 1e12;   // [m], [rad]
  constexpr double kShortest = 1e-6;  // [s]
  const Vec3d& p = frame.position;
  if (std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z), std::abs(frame.angle)}) > kLargest) {
    reject_at(source, "a keyframe holds a number beyond 1e12");
  }
  if (earlier.empty()) return;
  const double before = earlier.back().time;
  if (!(frame.time > before)) {
    reject_at(source, "keyframe times must grow: {} comes after {}", frame.time, before);
  }
  if (frame.time - before < kShortest) {
    reject_at(source, "keyframes must be at least {} s apart; {} comes after {}", kShortest,
              frame.time, before);
  }
}

}  // namespace

std::vector<GrainSphere> read_grain(const Node& node, const std::string& what) {
  if (node.kind == Node::Kind::text) {
    std::vector<GrainSphere> known = grain_spheres(node.text);
    if (!known.empty()) return known;
  }
  if (node.kind != Node::Kind::list || node.items.empty()) {
    reject_at(node.source,
              "{} must be \"sphere\", \"tetrahedron\", \"cube\" or a list of spheres "
              "{{ center, radius }}, not {}",
              what, describe(node));
  }
  if (node.items.size() > kMostGrainSpheres) {
    reject_at(node.source, "{} has {} spheres; at most {} are possible", what, node.items.size(),
              kMostGrainSpheres);
  }
  std::vector<GrainSphere> spheres;
  for (const Node& sphere : node.items) {
    const Keys keys(sphere, "a sphere of " + what, {"center", "radius"});
    const GrainSphere read{keys.vector("center"), keys.number("radius")};
    if (!(read.radius > 0.0)) {
      reject_at(sphere.find("radius")->value.source, "{} must be above 0, not {}",
                keys.called("radius"), read.radius);
    }
    spheres.push_back(read);
  }
  return spheres;
}

std::vector<Keyframe> read_keyframes(const Node& node, const std::string& what) {
  if (node.kind != Node::Kind::list || node.items.empty()) {
    reject_at(node.source, "{} must be a list of at least one keyframe, not {}", what,
              describe(node));
  }
  std::vector<Keyframe> frames;
  for (const Node& item : node.items) {
    const Keys keys(item, "a keyframe", {"time", "position", "rotation"});
    Keyframe frame{};
    frame.time = keys.number("time");
    if (const Node* position = keys.optional("position")) {
      frame.position = read_vector(*position, keys.called("position"));
    }
    frame.axis = {0, 1, 0};
    if (const Node* rotation = keys.optional("rotation")) {
      const AxisAngle turn = read_rotation(*rotation, keys.called("rotation"));
      frame.axis = turn.axis;
      frame.angle = turn.angle;
    }
    check_keyframe(frame, frames, item.source);
    frames.push_back(frame);
  }
  return frames;
}

std::vector<CameraKey> read_camera_keys(const Node& node, const std::string& what) {
  if (node.kind != Node::Kind::list || node.items.empty()) {
    reject_at(node.source, "{} must be a list of at least one keyframe, not {}", what,
              describe(node));
  }
  std::vector<CameraKey> keys;
  for (const Node& item : node.items) {
    const Keys values(item, "a keyframe of the camera", {"time", "position", "target"});
    const CameraKey key{values.number("time"), values.vector("position"), values.vector("target")};
    if (!keys.empty() && !(key.time > keys.back().time)) {
      reject_at(item.source, "keyframe times must grow: {} comes after {}", key.time,
                keys.back().time);
    }
    if (!(length(key.target - key.position) > 0.0)) {
      reject_at(item.source, "the camera looks nowhere: position and target are the same point");
    }
    keys.push_back(key);
  }
  return keys;
}

}  // namespace barchan
