// From a number between 0 and 1 to a colour, and from linear light to what a screen shows.
#pragma once

#include <array>
#include <cstddef>

#include "math/vec3.h"

namespace barchan {

// Deep blue, teal, green, yellow: lightness rises steadily, so that order can be read off the
// picture in grey and by most eyes (like viridis, without its near-black end, which would hide the
// shading). Linear light; t outside of [0, 1] is clamped, not-a-number is 0.
class ColorMap {
 public:
  ColorMap();
  Vec3 operator()(float t) const {
    const float place = t > 0.0f ? (t < 1.0f ? t : 1.0f) * (kEntries - 1) : 0.0f;
    return table_[static_cast<std::size_t>(place + 0.5f)];
  }

 private:
  static constexpr int kEntries = 512;
  std::array<Vec3, kEntries> table_;
};

// One channel, 0 to 1: sRGB as in files, and linear light.
float srgb_to_linear(float srgb);
float linear_to_srgb(float linear);
// 0xRRGGBB in sRGB as linear light.
Vec3 linear_color(unsigned rgb);

}  // namespace barchan
