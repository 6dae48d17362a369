// Paired samples after Loos & Sloan 2010, "Volumetric obscurance": two points of the depth buffer
// opposite each other about the pixel. 1/z is linear over the picture of a plane, so the pair's
// mean shows whether the pixel lies in a hollow, at any slant and without a normal.
#include "render/occlusion.h"

#include <algorithm>
#include <cmath>

#include "render/discs.h"

namespace barchan {

namespace {

constexpr int kPairs = 4;    // per radius
constexpr int kPattern = 4;  // the directions repeat every 4 x 4 pixels, and are averaged so
constexpr float kMostPixels = 110.0f;
constexpr float kLeastPixels = 1.5f;
constexpr float kWideStrength = 1.15f, kNarrowStrength = 0.75f;
constexpr float kPi = 3.14159265f;
constexpr int kRank[kPairs] = {1, 3, 0, 2};  // of the distances of a pixel's pairs

// Orders the 16 pixels of the pattern so that neighbours differ much.
constexpr int kOrder[kPattern][kPattern] = {
    {0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};

// Where the pairs lie, in radii, for each of the pattern's pixels.
struct Directions {
  float x[16][kPairs], y[16][kPairs];

  Directions() {
    for (int n = 0; n < 16; ++n) {
      const float turn = static_cast<float>(n) / 16.0f;
      for (int k = 0; k < kPairs; ++k) {
        const float angle = (static_cast<float>(k) + turn) * (kPi / kPairs);
        // A different distance for each pair, moved by the pattern: all distances get a share.
        const float share = (static_cast<float>(kRank[k]) + turn) / kPairs;
        const float r = std::sqrt(0.06f + 0.94f * share);
        x[n][k] = r * std::cos(angle);
        y[n][k] = r * std::sin(angle);
      }
    }
  }
};

struct Sampler {
  const OcclusionInput& in;
  Directions way{};

  float near(int x, int y) const {
    x = std::clamp(x, 0, in.width - 1);
    y = std::clamp(y, 0, in.height - 1);
    return (*in.nearness)[static_cast<std::size_t>(y) * static_cast<std::size_t>(in.width) +
                          static_cast<std::size_t>(x)];
  }

  // How far the sample stands out before the pixel, in radii. What stands out by more than the
  // radius is some other thing in front, and counts less and less.
  static float stands_out(float sample, float here, float to_radii) {
    const float d = (sample - here) * to_radii;
    return d < 1.0f ? std::max(d, -1.0f) : std::max(0.0f, 2.0f - d);
  }

  float covered(int x, int y, float here, float radius) const {
    const float pixels = std::clamp(radius * in.focal * here, kLeastPixels, kMostPixels);
    const float reach = pixels / (in.focal * here);  // [m]
    const float to_radii = 1.0f / (here * here * reach);
    const int n = kOrder[y % kPattern][x % kPattern];
    float sum = 0.0f;
    for (int k = 0; k < kPairs; ++k) {
      const int dx = static_cast<int>(std::floor(pixels * way.x[n][k] + 0.5f));
      const int dy = static_cast<int>(std::floor(pixels * way.y[n][k] + 0.5f));
      sum += std::max(0.0f, stands_out(near(x + dx, y + dy), here, to_radii) +
                                stands_out(near(x - dx, y - dy), here, to_radii));
    }
    return 0.5f * sum / kPairs;
  }
};

// The mean over the pattern, of pixels at about the same depth.
float smoothed(const OcclusionInput& in, const std::vector<float>& light, int x, int y) {
  const std::vector<float>& nearness = *in.nearness;
  const auto at = [&](int i, int j) {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(in.width) +
           static_cast<std::size_t>(i);
  };
  const float here = nearness[at(x, y)];
  if (here <= 0.0f) return 1.0f;
  const float same = here * here * std::max(in.narrow, 0.25f * in.wide);
  float sum = 0.0f, count = 0.0f;
  for (int j = std::max(0, y - 2); j < std::min(in.height, y + 2); ++j) {
    for (int i = std::max(0, x - 2); i < std::min(in.width, x + 2); ++i) {
      if (std::fabs(nearness[at(i, j)] - here) > same) continue;
      sum += light[at(i, j)];
      count += 1.0f;
    }
  }
  return count > 0.0f ? sum / count : light[at(x, y)];
}

}  // namespace

std::vector<float> ambient_light(const OcclusionInput& in, const ThreadPool& pool) {
  std::vector<float> light(in.nearness->size(), 1.0f), smooth(in.nearness->size(), 1.0f);
  const Sampler sampler{in, {}};
  for_rows(pool, in.height, [&](int y) {
    for (int x = 0; x < in.width; ++x) {
      const std::size_t pixel = static_cast<std::size_t>(y) * static_cast<std::size_t>(in.width) +
                                static_cast<std::size_t>(x);
      const float here = (*in.nearness)[pixel];
      if (here <= 0.0f) continue;
      const float wide = 1.0f - kWideStrength * sampler.covered(x, y, here, in.wide);
      const float narrow = 1.0f - kNarrowStrength * sampler.covered(x, y, here, in.narrow);
      light[pixel] = std::max(0.0f, wide) * std::max(0.0f, narrow);
    }
  });
  for_rows(pool, in.height, [&](int y) {
    for (int x = 0; x < in.width; ++x) {
      smooth[static_cast<std::size_t>(y) * static_cast<std::size_t>(in.width) +
             static_cast<std::size_t>(x)] = smoothed(in, light, x, y);
    }
  });
  return smooth;
}

}  // namespace barchan
