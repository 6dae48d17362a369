// The fast picture of a frame: particles as little shaded spheres coloured by their speed, solids
// around them, light, shadow and a scale. No ray is traced but for the solids.
#pragma once

#include <span>
#include <string>

#include "compute/parallel.h"
#include "geometry/solid.h"
#include "math/vec3.h"
#include "render/camera.h"
#include "render/image.h"

namespace barchan {

struct PreviewInput {
  std::span<const Vec3> position;    // [m]; those that are not finite are left out
  std::span<const Vec3> velocity;    // [m/s]; as many, or none: then all are at rest
  double radius = 0.0;               // of a particle's disc [m]; drawn at least a pixel wide
  double speed_max = 0.0;            // top of the colour scale [m/s]; not positive: no scale
  const SolidSet* solids = nullptr;  // may be null
  double time = 0.0;                 // where the solids are [s]
};

struct PreviewSettings {
  int width = 960, height = 540;  // [pixels]
  Camera camera;
  bool scale_bar = true;  // the scale bar and the colour bar
  std::string caption;
};

// The same bytes on any number of threads.
Image render_preview(const PreviewInput& input, const PreviewSettings& settings,
                     const ThreadPool& pool);

}  // namespace barchan
