#include "render/color_map.h"

#include <algorithm>
#include <cmath>

namespace barchan {

namespace {

constexpr std::array<unsigned, 7> kStops = {0x3f5cb5, 0x3681c4, 0x2fa0b8, 0x3fb896,
                                            0x7bcb62, 0xc8d94a, 0xfde85c};

// Oklab (Ottosson 2020): equal steps look equally far apart, so mixing there makes no muddy bands.
Vec3 to_oklab(const Vec3& c) {
  const float l = std::cbrt(0.4122214708f * c.x + 0.5363325363f * c.y + 0.0514459929f * c.z);
  const float m = std::cbrt(0.2119034982f * c.x + 0.6806995451f * c.y + 0.1073969566f * c.z);
  const float s = std::cbrt(0.0883024619f * c.x + 0.2817188376f * c.y + 0.6299787005f * c.z);
  return {0.2104542553f * l + 0.7936177850f * m - 0.0040720468f * s,
          1.9779984951f * l - 2.4285922050f * m + 0.4505937099f * s,
          0.0259040371f * l + 0.7827717662f * m - 0.8086757660f * s};
}

Vec3 from_oklab(const Vec3& lab) {
  const float l = lab.x + 0.3963377774f * lab.y + 0.2158037573f * lab.z;
  const float m = lab.x - 0.1055613458f * lab.y - 0.0638541728f * lab.z;
  const float s = lab.x - 0.0894841775f * lab.y - 1.2914855480f * lab.z;
  const float l3 = l * l * l, m3 = m * m * m, s3 = s * s * s;
  const Vec3 rgb(4.0767416621f * l3 - 3.3077115913f * m3 + 0.2309699292f * s3,
                 -1.2684380046f * l3 + 2.6097574011f * m3 - 0.3413193965f * s3,
                 -0.0041960863f * l3 - 0.7034186147f * m3 + 1.7076147010f * s3);
  return max(rgb, Vec3());
}

}  // namespace

ColorMap::ColorMap() {
  for (int i = 0; i < kEntries; ++i) {
    const float place = static_cast<float>(i) / (kEntries - 1) * (kStops.size() - 1);
    const auto k = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
    const float share = place - static_cast<float>(k);
    const Vec3 a = to_oklab(linear_color(kStops[k])), b = to_oklab(linear_color(kStops[k + 1]));
    table_[static_cast<std::size_t>(i)] = from_oklab(a + share * (b - a));
  }
}

float srgb_to_linear(float c) {
  return c <= 0.04045f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
}

float linear_to_srgb(float c) {
  if (!(c > 0.0f)) return 0.0f;
  if (c >= 1.0f) return 1.0f;
  return c <= 0.0031308f ? 12.92f * c : 1.055f * std::pow(c, 1.0f / 2.4f) - 0.055f;
}

Vec3 linear_color(unsigned rgb) {
  const auto channel = [rgb](unsigned shift) {
    return srgb_to_linear(static_cast<float>((rgb >> shift) & 255u) / 255.0f);
  };
  return {channel(16), channel(8), channel(0)};
}

}  // namespace barchan
