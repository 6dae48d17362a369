// { box = [[..], [..]], translate = [..], rotate = { axis = [..], angle = 90 } } and its kin.
#pragma once

#include <string>
#include <vector>

#include "geometry/grain.h"
#include "geometry/keyframes.h"
#include "scene/node.h"
#include "scene/scene.h"

namespace barchan {

// Mesh files are relative to the scene file; the text that goes with the shape has absolute paths,
// so that it can be read from anywhere.
ShapeValue read_shape(const Node& node, const std::string& what, const std::string& scene_file);

// { axis = [..], angle = degrees }
struct AxisAngle {
  Vec3d axis{0, 1, 0};
  double angle = 0.0;  // [rad]
};
AxisAngle read_rotation(const Node& node, const std::string& what);

// "sphere", "tetrahedron", "cube" or [ { center = [..], radius = .. }, .. ]
std::vector<GrainSphere> read_grain(const Node& node, const std::string& what);

std::vector<Keyframe> read_keyframes(const Node& node, const std::string& what);

// [ { time = .., position = [..], target = [..] }, .. ]
std::vector<CameraKey> read_camera_keys(const Node& node, const std::string& what);

}  // namespace barchan
