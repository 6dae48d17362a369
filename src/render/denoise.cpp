#include "render/denoise.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace barchan {

namespace {

constexpr int kLevels = 5;
constexpr float kLeastPlain = 0.02f;   // darker surfaces are divided by this
constexpr float kLightReach = 3.0f;    // standard deviations
constexpr float kNormalReach = 0.18f;  // |difference|
constexpr float kDepthReach = 0.012f;  // share of the depth and pixel of distance
constexpr float kPlainReach = 0.10f;   // |difference|, relative

struct Lighting3 {
  std::vector<Vec3> light;
  std::vector<float> variance;
};

Vec3 divided(const Vec3& a, const Vec3& b) {
  return {a.x / std::max(b.x, kLeastPlain), a.y / std::max(b.y, kLeastPlain),
          a.z / std::max(b.z, kLeastPlain)};
}

float square(float x) {
  return x * x;
}

// How alike two pixels are, but for their light; the exponent of a weight.
float unlike(const Exposed& in, std::size_t p, std::size_t q, int apart) {
  const float normal = length_squared(in.normal[p] - in.normal[q]) / square(kNormalReach);
  const float far = std::max(in.depth[p], in.depth[q]);
  const float depth = far > 0.0f ? std::fabs(in.depth[p] - in.depth[q]) /
                                       (kDepthReach * far * static_cast<float>(apart))
                                 : 0.0f;
  const float a = luminance(in.plain[p]), b = luminance(in.plain[q]);
  const float plain =
      length_squared(in.plain[p] - in.plain[q]) / square(kPlainReach * (std::max(a, b) + 0.05f));
  return normal + depth + plain;
}

void filter_pixel(const Exposed& in, const Lighting3& now, int x, int y, int step,
                  Lighting3& next) {
  static constexpr float kWeight[3] = {1.0f, 2.0f, 1.0f};
  const auto at = [&](int i, int j) {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(in.width) +
           static_cast<std::size_t>(i);
  };
  const std::size_t p = at(x, y);
  const float noise = kLightReach * std::sqrt(now.variance[p]) + 1e-3f;
  Vec3 sum;
  float weights = 0.0f, variance = 0.0f;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      const int i = x + dx * step, j = y + dy * step;
      if (i < 0 || j < 0 || i >= in.width || j >= in.height) continue;
      const std::size_t q = at(i, j);
      const float light = std::fabs(luminance(now.light[p] - now.light[q])) / noise;
      const float w = kWeight[dx + 1] * kWeight[dy + 1] * std::exp(-light - unlike(in, p, q, step));
      sum += w * now.light[q];
      weights += w;
      variance += w * w * now.variance[q];
    }
  }
  next.light[p] = sum / weights;
  next.variance[p] = variance / (weights * weights);
}

// The noise measured at one pixel from a few samples is itself noisy: the mean of 5 x 5, or the
// pixel's own where that is larger.
std::vector<float> steadied(const Exposed& in, const std::vector<float>& variance,
                            const ThreadPool& pool) {
  std::vector<float> mean(variance.size());
  for_rows(pool, in.height, [&](int y) {
    for (int x = 0; x < in.width; ++x) {
      float sum = 0.0f;
      int count = 0;
      for (int j = std::max(0, y - 2); j <= std::min(in.height - 1, y + 2); ++j) {
        for (int i = std::max(0, x - 2); i <= std::min(in.width - 1, x + 2); ++i, ++count) {
          sum += variance[static_cast<std::size_t>(j) * static_cast<std::size_t>(in.width) +
                          static_cast<std::size_t>(i)];
        }
      }
      mean[static_cast<std::size_t>(y) * static_cast<std::size_t>(in.width) +
           static_cast<std::size_t>(x)] = sum / static_cast<float>(count);
    }
  });
  return mean;
}

}  // namespace

LightImage denoised(const Exposed& in, const ThreadPool& pool) {
  // The lighting and its noise
  Lighting3 now{std::vector<Vec3>(in.light.size()), std::vector<float>(in.light.size())};
  for (std::size_t i = 0; i < in.light.size(); ++i) {
    now.light[i] = divided(in.light[i], in.plain[i]);
    now.variance[i] = in.variance[i] / square(std::max(luminance(in.plain[i]), kLeastPlain));
  }
  now.variance = steadied(in, now.variance, pool);

  Lighting3 next = now;
  for (int level = 0; level < kLevels; ++level) {
    for_rows(pool, in.height, [&](int y) {
      for (int x = 0; x < in.width; ++x) filter_pixel(in, now, x, y, 1 << level, next);
    });
    std::swap(now, next);
  }
  LightImage out{in.width, in.height, std::move(now.light)};
  for (std::size_t i = 0; i < out.light.size(); ++i) {
    const Vec3 plain = max(in.plain[i], Vec3(kLeastPlain, kLeastPlain, kLeastPlain));
    out.light[i] = multiply(out.light[i], plain);
  }
  return out;
}

}  // namespace barchan
