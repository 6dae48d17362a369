#include "render/looks.h"

#include <algorithm>
#include <cmath>

#include "math/random.h"
#include "math/scalar.h"

namespace barchan {

namespace {

constexpr std::uint32_t kPlaceStream = 1, kSizeStream = 2, kTintStream = 3, kNoiseStream = 4;
constexpr float kSmallest = 0.20f, kLargest = 0.36f;  // radius of a grain, share of the spacing
constexpr float kSandRoughness = 0.6f;                // [rad]
constexpr double kCoarse = 14.0, kFine = 4.0;         // cells of the texture [spacings]

// Smooth noise in [0, 1]: random numbers at the corners of unit cubes, mixed.
float noise(const Vec3d& at) {
  const Vec3d base(std::floor(at.x), std::floor(at.y), std::floor(at.z));
  const Vec3d t = at - base;
  const auto ease = [](double x) { return static_cast<float>(x * x * (3.0 - 2.0 * x)); };
  const Vec3 share(ease(t.x), ease(t.y), ease(t.z));
  float sum = 0.0f;
  for (int corner = 0; corner < 8; ++corner) {
    std::uint64_t place = 0;
    float weight = 1.0f;
    for (int axis = 0; axis < 3; ++axis) {
      const int upper = (corner >> axis) & 1;
      const auto index = static_cast<std::int64_t>(base[axis]) + upper;
      place = place * 2097152u + (static_cast<std::uint64_t>(index) & 2097151u);
      weight *= upper ? share[axis] : 1.0f - share[axis];
    }
    sum += weight * Random{}.uniform(place, kNoiseStream);
  }
  return sum;
}

// Mostly the material's colour, some grains of pale quartz, a few dark ones.
Vec3 grain_color(const Vec3& base, float shade, const Vec3& chance) {
  const Vec3 quartz(0.82f, 0.77f, 0.68f), dark(0.14f, 0.11f, 0.09f);
  Vec3 color = base * (shade * (0.82f + 0.36f * chance.y));
  if (chance.x < 0.08f) color += 0.65f * (quartz - color);
  if (chance.x > 0.965f) color += 0.75f * (dark - color);
  return min(color, Vec3(0.9f, 0.9f, 0.9f));
}

}  // namespace

void add_balls(std::span<const Vec3> position, std::span<const float> radius,
               std::span<const Vec3> color, const Vec3d& origin, float roughness,
               TraceScene& scene) {
  std::vector<Ball> balls;
  Finish finish;
  finish.roughness = roughness;
  for (std::size_t i = 0; i < position.size(); ++i) {
    const Vec3 center(Vec3d(position[i]) - origin);
    if (!is_finite(center) || !(radius[i] > 0.0f)) continue;
    balls.push_back({center, radius[i]});
    finish.colors.push_back(color[i]);
  }
  if (!balls.empty()) scene.add_solid(scene.solid.add_balls(balls), std::move(finish));
}

void add_sand(const SandInput& input, const Vec3d& origin, TraceScene& scene) {
  const auto spacing = static_cast<float>(input.spacing);
  std::vector<Ball> balls;
  Finish finish;
  finish.roughness = kSandRoughness;
  finish.broken = true;
  for (std::size_t i = 0; i < input.position.size(); ++i) {
    const Vec3 center(Vec3d(input.position[i]) - origin);
    if (!is_finite(center)) continue;
    const Vec3d born = Vec3d(input.birthplace[i]) / input.spacing;
    const float shade = 0.62f + 0.5f * noise(born / kCoarse) + 0.26f * noise(born / kFine);
    for (std::uint32_t k = 0; k < kGrains; ++k) {
      // Spread over the particle's cube
      const Vec3 place = Random{}.uniform3(input.id[i], kPlaceStream, k) - Vec3(0.5f, 0.5f, 0.5f);
      const float size = Random{}.uniform(input.id[i], kSizeStream, k);
      balls.push_back({center + 1.15f * spacing * place,
                       spacing * (kSmallest + (kLargest - kSmallest) * size * size)});
      const Vec3 chance = Random{}.uniform3(input.id[i], kTintStream, k);
      finish.colors.push_back(grain_color(input.color[i], shade, chance));
    }
  }
  if (!balls.empty()) scene.add_solid(scene.solid.add_balls(balls), std::move(finish));
}

void add_water(TraceMesh surface, const Vec3& color, double depth, TraceScene& scene) {
  // Beer: exp(-absorption x depth) = color
  const auto absorption = [depth](float c) {
    return static_cast<float>(-std::log(clamp(c, 1e-3f, 1.0f)) / depth);
  };
  scene.absorption = {absorption(color.x), absorption(color.y), absorption(color.z)};
  if (surface.triangles.empty()) return;
  scene.water_lo = scene.water_hi = surface.vertices[0];
  for (const Vec3& v : surface.vertices) {
    scene.water_lo = min(scene.water_lo, v);
    scene.water_hi = max(scene.water_hi, v);
  }
  scene.water.add_mesh(std::move(surface));
}

}  // namespace barchan
