// Grains as rigid clusters of spheres: what shape they have, what resists turning them.
#pragma once

#include <string>
#include <vector>

#include "math/vec3.h"

namespace barchan {

struct GrainSphere {
  Vec3d center;
  double radius = 1.0;
};

// A grain of radius 1: the origin is its centre of mass, the axes are the principal ones, and the
// farthest point of any sphere is at distance 1. Where spheres overlap, their volume counts once.
struct GrainShape {
  std::vector<GrainSphere> spheres;
  double volume = 0.0;  // of the union
  Vec3d moments;        // of inertia at density 1
  double reach = 0.0;   // of the farthest sphere's centre
  bool compound() const { return spheres.size() > 1; }
};

inline constexpr std::size_t kMostGrainSpheres = 256;

// "sphere"; "tetrahedron": four spheres, edge 1.5 radii; "cube": eight, edge 1.5 radii. Empty for
// other names.
std::vector<GrainSphere> grain_spheres(const std::string& name);

// From spheres in any unit and place.
GrainShape make_grain(const std::vector<GrainSphere>& spheres);

}  // namespace barchan
