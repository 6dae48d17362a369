#include "render/film.h"

#include <algorithm>
#include <cmath>

#include "render/color_map.h"
#include "render/sampler.h"

namespace barchan {

namespace {

// A tent of one pixel each way: samples near the middle count more, so edges are smooth without
// being ragged.
float tent(float u) {
  return u < 0.5f ? std::sqrt(2.0f * u) - 1.0f : 1.0f - std::sqrt(2.0f - 2.0f * u);
}

}  // namespace

Film::Film(int width, int height) {
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  sum_ = {width,
          height,
          std::vector<Vec3>(pixels),
          std::vector<Vec3>(pixels),
          std::vector<Vec3>(pixels),
          std::vector<float>(pixels),
          {}};
  square_.resize(pixels);
}

void Film::expose(const TraceScene& scene, const TraceSettings& settings, const Projection& view,
                  int samples, const ThreadPool& pool) {
  const Vec3 eye(view.eye), right(view.right), up(view.up), forward(view.forward);
  const auto focal = static_cast<float>(view.focal);
  const auto middle_x = static_cast<float>(view.center_x);
  const auto middle_y = static_cast<float>(view.center_y);
  for_rows(pool, sum_.height, [&](int y) {
    for (int x = 0; x < sum_.width; ++x) {
      const std::size_t pixel = static_cast<std::size_t>(y) * static_cast<std::size_t>(sum_.width) +
                                static_cast<std::size_t>(x);
      Sampler sampler(pixel);
      for (int s = 0; s < samples; ++s) {
        sampler.begin(static_cast<std::uint32_t>(samples_ + s));
        const Pair place = sampler.pair();
        const float u = (static_cast<float>(x) + 0.5f + tent(place.a) - middle_x) / focal;
        const float v = (middle_y - static_cast<float>(y) - 0.5f - tent(place.b)) / focal;
        const Ray ray{eye, normalized(forward + u * right + v * up)};
        const Sight seen = trace(scene, settings, ray, 1.0f / focal, sampler);
        const float bright = luminance(seen.light);
        sum_.light[pixel] += seen.light;
        sum_.plain[pixel] += seen.plain;
        sum_.normal[pixel] += seen.normal;
        sum_.depth[pixel] += seen.depth;
        square_[pixel] += bright * bright;
      }
    }
  });
  samples_ += samples;
}

Exposed Film::means() const {
  Exposed mean = sum_;
  const float share = 1.0f / static_cast<float>(std::max(samples_, 1));
  mean.variance.resize(square_.size());
  for (std::size_t i = 0; i < square_.size(); ++i) {
    mean.light[i] *= share;
    mean.plain[i] *= share;
    mean.normal[i] *= share;
    mean.depth[i] *= share;
    const float bright = luminance(mean.light[i]);
    mean.variance[i] = std::max(0.0f, square_[i] * share - bright * bright) * share;
  }
  return mean;
}

// Narkowicz 2015: a rational fit to the ACES film curve, scaled so that 18 % grey stays where it
// is.
float film_curve(float light) {
  const float x = 0.8f * std::max(light, 0.0f);
  return std::min(1.0f, x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f));
}

Image tone_mapped(const LightImage& light, float exposure, const ThreadPool& pool) {
  // A small ordered noise keeps soft gradients free of bands
  static constexpr int kOrder[4][4] = {
      {0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
  Image image(light.width, light.height);
  for_rows(pool, light.height, [&](int y) {
    for (int x = 0; x < light.width; ++x) {
      const Vec3& from =
          light.light[static_cast<std::size_t>(y) * static_cast<std::size_t>(light.width) +
                      static_cast<std::size_t>(x)];
      const float noise = (static_cast<float>(kOrder[y & 3][x & 3]) + 0.5f) / 16.0f;
      for (int c = 0; c < 3; ++c) {
        const float value = 255.0f * linear_to_srgb(film_curve(exposure * from[c])) + noise;
        image.at(x, y)[c] = static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f));
      }
    }
  });
  return image;
}

}  // namespace barchan
