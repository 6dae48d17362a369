// A field that is negative inside the surface, summed from particles a brick at a time.
#pragma once

#include <memory>

#include "compute/cpu.h"
#include "params/output_params.h"
#include "surface/sorted_particles.h"

namespace barchan {

class ParticleField {
 public:
  virtual ~ParticleField() = default;
  // No sample depends on a particle further away than this [voxels].
  virtual float reach() const = 0;
  // Where no particle is within reach, and deep inside [voxels].
  virtual float outside() const = 0;
  virtual float inside() const = 0;
  // At the 64 samples of a brick, x fastest [voxels].
  virtual void sample(const NearParticles& near, float* phi) const = 0;
};

// Lengths that fields are made from [voxels].
struct FieldScale {
  float radius;   // how far a particle is felt
  float depth;    // from the outermost particles to the surface
  float spacing;  // of the particles
};

std::unique_ptr<ParticleField> make_zhu_bridson(const FieldScale& scale, bool concavity_fix);
// `level` NaN: that of a lone particle's sphere.
std::unique_ptr<ParticleField> make_blobby(const FieldScale& scale, double level);
// Moves the particles.
std::unique_ptr<ParticleField> make_anisotropic(const FieldScale& scale,
                                                const SurfaceParams& params,
                                                SortedParticles& particles, Cpu& device);

}  // namespace barchan
