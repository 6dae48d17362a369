#include "surface/surface.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "surface/field.h"
#include "surface/level_set_mesh.h"

namespace barchan {

namespace {

FieldScale scale_of(const SurfaceInput& input, const SurfaceParams& params) {
  return {static_cast<float>(params.radius / params.voxel),
          static_cast<float>(input.radius / (params.voxel * input.spacing)),
          static_cast<float>(1.0 / params.voxel)};
}

std::unique_ptr<ParticleField> make_field(const FieldScale& scale, const SurfaceParams& params,
                                          SortedParticles& particles, Cpu& device) {
  if (params.method == "anisotropic") return make_anisotropic(scale, params, particles, device);
  if (params.method == "blobby") return make_blobby(scale, params.level);
  return make_zhu_bridson(scale, params.concavity_fix);
}

const SurfaceInput& checked(const SurfaceInput& input, const SurfaceParams& params) {
  check_surface_params(params);
  if (!(input.spacing > 0.0) || !(input.radius > 0.0)) {
    fail("a surface needs a spacing and a radius above 0, not {} and {} m", input.spacing,
         input.radius);
  }
  if (!(input.radius < params.radius * input.spacing)) {
    reject(
        "[surface] radius is {} spacings of {} m, but the surface is to be {} m from the "
        "particles; give a larger radius",
        params.radius, input.spacing, input.radius);
  }
  return input;
}

void put_velocities(const std::vector<BrickVertices>& bricks, const MaterialVelocity& velocity,
                    double voxel, Cpu& device, SurfaceMesh& mesh) {
  const HostTimer timer(device.profiler(), "surface: velocities");
  mesh.velocities.resize(mesh.vertices.size());
  constexpr std::size_t kChunk = 16;  // bricks a task
  device.pool().parallel_blocks((bricks.size() + kChunk - 1) / kChunk, [&](std::size_t c) {
    MaterialVelocity::Scratch scratch;
    std::vector<Vec3> points;
    for (std::size_t b = c * kChunk; b < std::min(bricks.size(), (c + 1) * kChunk); ++b) {
      const BrickVertices& own = bricks[b];
      const Index3 first = kBrick * own.brick;
      points.clear();
      for (std::uint32_t v = own.begin; v < own.end; ++v) {
        points.push_back(Vec3(Vec3d(mesh.vertices[v]) / voxel - Vec3d(first.x, first.y, first.z)));
      }
      velocity(own.brick, points, std::span(mesh.velocities).subspan(own.begin, points.size()),
               scratch);
    }
  });
}

}  // namespace

void check_surface_params(const SurfaceParams& params) {
  constexpr double kMostVoxels = 48.0;  // bricks around a brick go with the cube of that
  if (params.radius / params.voxel > kMostVoxels) {
    reject("[surface] radius = {} is {:.0f} voxels of {}, more than {:.0f}; give a voxel of {:.3g}",
           params.radius, params.radius / params.voxel, params.voxel, kMostVoxels,
           params.radius / kMostVoxels);
  }
}

ParticleSurface::ParticleSurface(const SurfaceInput& input, const SurfaceParams& params,
                                 Cpu& device)
    : input_(checked(input, params)),
      device_(device),
      scale_(scale_of(input, params)),
      particles_(input.position, params.voxel * input.spacing, device) {
  const auto field = make_field(scale_, params, particles_, device);
  level_set_ = sample_field(*field, particles_, scale_.spacing, device);
  smooth(level_set_, params.smoothing, device);
  close_blocks(level_set_, device);
}

SurfaceMesh ParticleSurface::mesh() const {
  SurfaceMesh mesh;
  const std::vector<BrickVertices> bricks = mesh_level_set(level_set_, device_, mesh);
  put_velocities(bricks, velocity(), level_set_.voxel, device_, mesh);
  return mesh;
}

SurfaceMesh make_surface(const SurfaceInput& input, const SurfaceParams& params, Cpu& device) {
  return ParticleSurface(input, params, device).mesh();
}

}  // namespace barchan
