#include "render/light_map.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "geometry/sdf.h"

namespace barchan {

namespace {

constexpr float kLeastRadius = 0.8f;  // of a particle on the map [texels]
constexpr int kSpan = 5;              // width of the soft edge [texels]

}  // namespace

LightMap::LightMap(std::span<const Vec3> position, const Vec3d& offset, double radius,
                   const Vec3& to_light, const Vec3& center, double half_width, int size,
                   const ThreadPool& pool)
    : across_(sdf::across(to_light)),
      along_(cross(to_light, across_)),
      to_light_(to_light),
      center_(center),
      scale_(static_cast<float>(size / (2.0 * half_width))) {
  const auto r = static_cast<float>(radius), middle = 0.5f * static_cast<float>(size);
  std::vector<Disc> discs(position.size());
  for_items(pool, position.size(), [&](std::size_t i) {
    const Vec3 arm = Vec3(Vec3d(position[i]) + offset) - center_;
    if (!is_finite(arm)) return;
    discs[i] = {middle + scale_ * dot(arm, across_), middle + scale_ * dot(arm, along_),
                std::max(scale_ * r, kLeastRadius), dot(arm, to_light_), r};
  });
  front_ = draw_discs(discs, size, size, -std::numeric_limits<float>::infinity(), pool);
}

float LightMap::lit(const Vec3& point, float bias) const {
  const Vec3 arm = point - center_;
  const float middle = 0.5f * static_cast<float>(front_.width - kSpan);
  const float x = middle + scale_ * dot(arm, across_), y = middle + scale_ * dot(arm, along_);
  const auto room = static_cast<float>(front_.width - kSpan - 1);
  if (!(x >= 0.0f && y >= 0.0f && x < room && y < room)) return 1.0f;

  // A box of kSpan x kSpan texels anywhere between the texels: those at its edges count in part.
  const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
  const float part_x = x - static_cast<float>(x0), part_y = y - static_cast<float>(y0);
  const float level = dot(arm, to_light_) + bias;
  float sum = 0.0f;
  for (int j = 0; j <= kSpan; ++j) {
    const float* row = front_.value.data() + static_cast<std::size_t>(y0 + j) * front_.width + x0;
    float in_row = row[0] <= level ? 1.0f - part_x : 0.0f;
    for (int i = 1; i < kSpan; ++i) in_row += row[i] <= level ? 1.0f : 0.0f;
    in_row += row[kSpan] <= level ? part_x : 0.0f;
    sum += in_row * (j == 0 ? 1.0f - part_y : (j == kSpan ? part_y : 1.0f));
  }
  return sum / (kSpan * kSpan);
}

}  // namespace barchan
