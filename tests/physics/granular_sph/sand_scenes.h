// Scenes of sand that several tests share.
#pragma once

#include <string>

namespace barchan {

// A block of sand in a tray, which it slumps into. Height and friction angle as they stand in a
// scene, in metres and degrees.
inline std::string heap_scene(const std::string& height, const std::string& angle) {
  return R"(
solver = "granular-sph"
resolution = 0.04
[[fill]]
sampling = "jittered"
jitter = 0.1
shape = { box = [[0, 0, 0], [0.4, )" +
         height + R"(, 0.2]] }
[[solid]]
name = "tray"
inside_out = true
shape = { box = [[0, 0, 0], [1.6, 1, 0.2]] }
friction = 0.5
[material.sand]
density = 1600
friction_angle = )" +
         angle + "\n";
}

// A layer of so many metres under gravity that leans by 27 degrees; at its foot the ground is
// level.
inline std::string leaning_layer(const std::string& height, const std::string& friction_angle) {
  return R"(
solver = "granular-sph"
resolution = 0.02
gravity = [4.453646799, -8.740773995, 0]
[[fill]]
sampling = "jittered"
jitter = 0.1
shape = { box = [[0, 0, 0], [0.8, )" +
         height + R"(, 0.08]] }
[[solid]]
name = "floor"
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
friction = 1
[[solid]]
name = "ground"
shape = { plane = { point = [0.8, )" +
         height + R"(, 0], normal = [-0.453990500, 0.891006524, 0] } }
friction = 1
[[solid]]
name = "walls"
inside_out = true
shape = { box = [[0, -1, 0], [3, 2, 0.08]] }
friction = 0
[material.sand]
density = 1600
friction_angle = )" +
         friction_angle + "\n";
}

}  // namespace barchan
