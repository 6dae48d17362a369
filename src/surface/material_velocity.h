// The material's velocity at points near its surface: the particles' mean, by the kernel that the
// surface is made with.
#pragma once

#include <span>

#include "math/vec3.h"
#include "surface/sorted_particles.h"

namespace barchan {

class MaterialVelocity {
 public:
  // `velocity` [m/s] is in the particles' own order; `radius` in voxels.
  MaterialVelocity(const SortedParticles& particles, std::span<const Vec3> velocity, float radius)
      : particles_(particles), velocity_(velocity), radius_(radius) {}

  struct Scratch {
    NearParticles near;
    std::vector<Vec3> velocity;
  };
  // Of points within a brick [voxels from its first sample]. Zero where there are no velocities or
  // no particle is within a radius of the brick.
  void operator()(Index3 brick, std::span<const Vec3> points, std::span<Vec3> out,
                  Scratch& scratch) const;

 private:
  const SortedParticles& particles_;
  std::span<const Vec3> velocity_;
  float radius_;
};

}  // namespace barchan
