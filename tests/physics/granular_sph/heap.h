// A block of sand in a tray, which it slumps into.
#pragma once

#include <string>

namespace barchan {

// Height and friction angle as they stand in a scene, in metres and degrees.
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

}  // namespace barchan
