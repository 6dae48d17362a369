// How the material is drawn: balls with colours, sand made of many small grains, water.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/vec3.h"
#include "render/trace_scene.h"

namespace barchan {

// Balls, each with its colour; those that are nowhere are left out. Places are absolute [m].
void add_balls(std::span<const Vec3> position, std::span<const float> radius,
               std::span<const Vec3> color, const Vec3d& origin, float roughness,
               TraceScene& scene);

// Sand. A particle is a lump of kGrains grains of different size, which move with it. Their
// colours come from a texture in space, coarse and fine, which is looked up where the particle was
// born and so is carried along, as in the papers; and from the grain itself.
inline constexpr int kGrains = 8;
struct SandInput {
  std::span<const Vec3> position;  // [m]
  std::span<const std::uint64_t> id;
  std::span<const Vec3> birthplace;  // [m]
  std::span<const Vec3> color;       // of the material, linear
  double spacing = 0.0;              // [m]
};
void add_sand(const SandInput& input, const Vec3d& origin, TraceScene& scene);

// Water of the given colour: that of white light which has gone `depth` [m] through it.
void add_water(TraceMesh surface, const Vec3& color, double depth, TraceScene& scene);

}  // namespace barchan
