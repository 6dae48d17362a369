// Where the samples of a picture are gathered, and how they become one.
#pragma once

#include <vector>

#include "compute/parallel.h"
#include "math/vec3.h"
#include "render/camera.h"
#include "render/image.h"
#include "render/path_tracer.h"

namespace barchan {

// Linear light, rows from the top.
struct LightImage {
  int width = 0, height = 0;  // [pixels]
  std::vector<Vec3> light;
};

// Means over the samples of each pixel.
struct Exposed {
  int width = 0, height = 0;    // [pixels]
  std::vector<Vec3> light;      // radiance
  std::vector<Vec3> plain;      // see Sight
  std::vector<Vec3> normal;     // shorter than 1 where the samples differ
  std::vector<float> depth;     // [m]; 0: the sky
  std::vector<float> variance;  // of the mean of light's luminance
};

class Film {
 public:
  Film(int width, int height);

  // Adds `samples` more samples to every pixel. `view` is about the scene's origin. The same bytes
  // on any number of threads.
  void expose(const TraceScene& scene, const TraceSettings& settings, const Projection& view,
              int samples, const ThreadPool& pool);

  Exposed means() const;

 private:
  Exposed sum_;                // of the samples
  std::vector<float> square_;  // sum of squared luminances
  int samples_ = 0;
};

// Calls work(y) for each of `rows` rows, in any order.
template <class Work>
void for_rows(const ThreadPool& pool, int rows, const Work& work) {
  constexpr int kRows = 4;
  pool.parallel_blocks(static_cast<std::size_t>((rows + kRows - 1) / kRows), [&](std::size_t b) {
    const int begin = static_cast<int>(b) * kRows;
    const int end = begin + kRows < rows ? begin + kRows : rows;
    for (int y = begin; y < end; ++y) work(y);
  });
}

inline float luminance(const Vec3& c) {
  return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
}

// From light to what a screen shows: a film's curve, which is near a straight line in the middle
// and bends highlights towards white, and sRGB.
Image tone_mapped(const LightImage& light, float exposure, const ThreadPool& pool);
// The curve alone, one channel.
float film_curve(float light);

}  // namespace barchan
