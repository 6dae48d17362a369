// What the particles look like from a far light: how much of it reaches a point.
#pragma once

#include <span>

#include "compute/parallel.h"
#include "math/vec3.h"
#include "render/discs.h"

namespace barchan {

class LightMap {
 public:
  // A square of `size` x `size` texels across the light, `half_width` [m] around `center`. Points
  // are given from some common origin, positions being `offset` from there.
  LightMap(std::span<const Vec3> position, const Vec3d& offset, double radius, const Vec3& to_light,
           const Vec3& center, double half_width, int size, const ThreadPool& pool);

  // The share of the light that comes by the particles, averaged over a few texels; 1 outside of
  // the map. Nothing within `bias` [m] of the point shades it.
  float lit(const Vec3& point, float bias) const;

  float texel() const { return 1.0f / scale_; }  // [m]

 private:
  Vec3 across_, along_, to_light_, center_;
  float scale_;  // [texels/m]
  DiscBuffer front_;
};

}  // namespace barchan
