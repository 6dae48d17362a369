#include "surface/surface.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/error.h"
#include "surface/field.h"
#include "surface/level_set.h"
#include "surface/level_set_mesh.h"
#include "surface/material_velocity.h"
#include "surface/sorted_particles.h"

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

void check(const SurfaceInput& input, const SurfaceParams& params) {
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

SurfaceMesh make_surface(const SurfaceInput& input, const SurfaceParams& params, Cpu& device) {
  SurfaceMesh mesh;
  check(input, params);
  const double voxel = params.voxel * input.spacing;
  const FieldScale scale = scale_of(input, params);
  SortedParticles particles(input.position, voxel, device);
  const auto field = make_field(scale, params, particles, device);
  LevelSet level_set = sample_field(*field, particles, scale.spacing, device);
  smooth(level_set, params.smoothing, device);
  close_blocks(level_set, device);
  const std::vector<BrickVertices> bricks = mesh_level_set(level_set, device, mesh);
  put_velocities(bricks, MaterialVelocity(particles, input.velocity, scale.radius), voxel, device,
                 mesh);
  return mesh;
}

}  // namespace barchan
