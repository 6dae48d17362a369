// Particles to put surfaces around.
#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "math/vec3.h"
#include "surface/surface.h"

namespace barchan {

inline constexpr double kSpacing = 0.02;  // [m]

// Points of a lattice of the spacing, shifted by up to `jitter` spacings along each axis, where
// inside(p) holds for the point of the lattice; p in spacings from -n to n.
template <class Inside>
std::vector<Vec3> jittered(int n, double jitter, const Inside& inside) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> shift(-jitter, jitter);
  std::vector<Vec3> points;
  for (int z = -n; z <= n; ++z) {
    for (int y = -n; y <= n; ++y) {
      for (int x = -n; x <= n; ++x) {
        const Vec3d p(x + 0.5, y + 0.5, z + 0.5);
        const Vec3d moved = p + Vec3d(shift(random), shift(random), shift(random));
        if (inside(p)) points.push_back(Vec3(kSpacing * moved));
      }
    }
  }
  return points;
}

inline SurfaceInput input_of(const std::vector<Vec3>& points) {
  return {points, {}, kSpacing, 0.5 * kSpacing};
}

inline SurfaceMesh surface_of(const std::vector<Vec3>& points, const SurfaceParams& params = {},
                              int threads = 2) {
  Cpu device(threads);
  return make_surface(input_of(points), params, device);
}

}  // namespace barchan
