// { box = [[..], [..]], translate = [..], rotate = { axis = [..], angle = 90 } } and its kin.
#pragma once

#include <string>
#include <vector>

#include "geometry/keyframes.h"
#include "scene/node.h"
#include "scene/scene.h"

namespace barchan {

ShapeValue read_shape(const Node& node, const std::string& what);

// { axis = [..], angle = degrees }
struct AxisAngle {
  Vec3d axis{0, 1, 0};
  double angle = 0.0;  // [rad]
};
AxisAngle read_rotation(const Node& node, const std::string& what);

// "sphere", "tetrahedron", "cube" or [ { center = [..], radius = .. }, .. ]
void check_grain(const Node& node, const std::string& what);

std::vector<Keyframe> read_keyframes(const Node& node, const std::string& what);

}  // namespace barchan
