#include "render/trace_scene.h"

#include <cmath>
#include <cstdint>

#include "math/random.h"
#include "math/scalar.h"

namespace barchan {

namespace {

constexpr float kJoint = 0.008f;      // half width of the joint between tiles, share of their edge
constexpr float kJointShade = 0.80f;  // its brightness
constexpr float kVariation = 0.06f;   // of the tiles' brightness, each way

// The share of [x - width / 2, x + width / 2] that is within `half` of a whole number.
float covered_by_lines(float x, float width, float half) {
  const auto integral = [half](float t) {  // of the indicator, from 0 to t
    const float whole = std::floor(t + 0.5f);
    return whole * 2.0f * half + clamp(t - whole, -half, half);
  };
  if (width <= 1e-6f) return std::fabs(x - std::floor(x + 0.5f)) < half ? 1.0f : 0.0f;
  return (integral(x + 0.5f * width) - integral(x - 0.5f * width)) / width;
}

}  // namespace

Vec3 Ground::color_at(const Vec3& point, float width) const {
  if (!(tile > 0.0f)) return color;
  float plain = 1.0f;
  std::uint64_t place = 0;
  for (int k = 0; k < 2; ++k) {
    const float x = (dot(point, axis[k]) + start[k]) / tile;
    plain *= 1.0f - covered_by_lines(x, width / tile, kJoint);
    place = (place << 32) | static_cast<std::uint32_t>(static_cast<std::int32_t>(std::floor(x)));
  }
  // Tiles differ a little, as long as a pixel does not see several
  const float differ = kVariation * clamp(2.0f - 4.0f * width / tile, 0.0f, 1.0f);
  const float shade = 1.0f + differ * (2.0f * Random{}.uniform(place, 0x54494C45u) - 1.0f);
  return color * (shade * (kJointShade + (1.0f - kJointShade) * plain));
}

float Ground::faded(const Vec3& point) const {
  if (!(fade > 0.0f)) return 0.0f;
  const float away = length(point - middle) / fade - 1.0f;
  return away > 0.0f ? 1.0f - std::exp(-0.35f * away * away / (1.0f + 0.3f * away)) : 0.0f;
}

void TraceScene::add_solid(int object, Finish finish) {
  solid_finish.resize(static_cast<std::size_t>(object) + 1);
  solid_finish.back() = std::move(finish);
}

void TraceScene::build() {
  solid.build();
  water.build();
  panes.build();
}

void TraceScene::cast_caustics(int photons, const ThreadPool& pool) {
  if (water.empty() || photons < 1) return;
  for (Ground& ground : grounds) {
    ground.caustics = std::make_shared<const CausticMap>(*this, ground, photons, pool);
  }
}

}  // namespace barchan
