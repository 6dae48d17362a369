// A closed surface around particles, for pictures and for other programs.
//
// Three ways to define it ([surface] method of a scene):
//   zhu-bridson   phi(x) = |x - mean of the particles near x| - radius: one particle gives back its
//                 sphere, many give a skin that is smoother than the particles
//   anisotropic   kernels flattened along the surface (Yu & Turk 2013): the smoothest water
//   blobby        a level of a sum of bumps (Blinn 1982): what the others are compared with
// Each frame is on its own. Cost follows the particles and their surface, not the box around them.
#pragma once

#include <span>

#include "compute/cpu.h"
#include "math/vec3.h"
#include "params/output_params.h"
#include "surface/level_set.h"
#include "surface/material_velocity.h"
#include "surface/sorted_particles.h"
#include "surface/surface_mesh.h"

namespace barchan {

struct SurfaceInput {
  std::span<const Vec3> position;  // [m]
  std::span<const Vec3> velocity;  // [m/s]; may be empty: then the surface's velocities are zero
  double spacing = 0.0;            // of the particles [m]
  double radius = 0.0;             // from the outermost particles to the surface [m]
};

// Rejects settings that would each do by themselves, but not together.
void check_surface_params(const SurfaceParams& params);

// The field around the particles, sampled: from it come the mesh and the level set for other
// programs. Keeps spans of the input and the device.
class ParticleSurface {
 public:
  // Throws (exit code 1) where a particle's position is not finite or too far away to have a voxel
  // number.
  ParticleSurface(const SurfaceInput& input, const SurfaceParams& params, Cpu& device);

  SurfaceMesh mesh() const;
  const LevelSet& level_set() const { return level_set_; }
  MaterialVelocity velocity() const { return {particles_, input_.velocity, scale_.radius}; }
  Cpu& device() const { return device_; }

 private:
  SurfaceInput input_;
  Cpu& device_;
  FieldScale scale_;
  SortedParticles particles_;
  LevelSet level_set_;
};

// The same for any number of threads. For a shutter time, move the particles along their velocities
// first.
SurfaceMesh make_surface(const SurfaceInput& input, const SurfaceParams& params, Cpu& device);

}  // namespace barchan
