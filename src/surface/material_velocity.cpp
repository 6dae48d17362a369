#include "surface/material_velocity.h"

#include <algorithm>

#include "surface/brick_lanes.h"

namespace barchan {

void MaterialVelocity::operator()(Index3 brick, std::span<const Vec3> points, std::span<Vec3> out,
                                  Scratch& scratch) const {
  std::fill(out.begin(), out.end(), Vec3());
  if (velocity_.empty()) return;
  NearParticles& near = scratch.near;
  particles_.gather(brick, radius_, near, 1.0f);
  if (near.count == 0) return;
  scratch.velocity.resize(near.count);
  for (std::size_t i = 0; i < near.count; ++i) {
    scratch.velocity[i] = velocity_[particles_.order()[near.index[i]]];
  }
  const float inverse = 1.0f / radius_;
  for (std::size_t first = 0; first < points.size(); first += kLanes) {
    const std::size_t count = std::min<std::size_t>(kLanes, points.size() - first);
    Lanes x{}, y{}, z{}, k{}, vx{}, vy{}, vz{};
    for (std::size_t n = 0; n < count; ++n) {
      x[n] = points[first + n].x, y[n] = points[first + n].y, z[n] = points[first + n].z;
    }
    for (std::size_t i = 0; i < near.count; ++i) {
      const Lanes dx = (near.x[i] - x) * inverse, dy = (near.y[i] - y) * inverse,
                  dz = (near.z[i] - z) * inverse;
      const Lanes q = max(1.0f - dx * dx - dy * dy - dz * dz, 0.0f);
      // A trace of every particle around, for points that none of them reaches
      constexpr float kTrace = 1e-12f;
      const Lanes w = q * q * q + kTrace;
      const Vec3 v = scratch.velocity[i];
      k += w, vx += w * v.x, vy += w * v.y, vz += w * v.z;
    }
    const Lanes one_over_k = 1.0f / k;
    for (std::size_t n = 0; n < count; ++n) {
      out[first + n] = one_over_k[n] * Vec3(vx[n], vy[n], vz[n]);
    }
  }
}

}  // namespace barchan
