// A shape's surface covered with spheres of one size, evenly spaced: what boundary particles of
// solids and the bodies of discrete grains are made of.
//
// Bell, Yu & Mucha 2005, section 3.3.1, after Witkin & Heckbert 1994: random seeds on the triangles
// of the surface become floaters that repel each other and are held on the zero set of the signed
// distance, until they are still; floaters that are too near to others die, and gaps get new ones.
//
// How many. Floaters at rest are about hexagonal. At the spacing s there is one on sqrt(3)/2 s^2,
// and the middle of three is s/sqrt(3) = 0.577 s from them; around the defects that any curved
// surface must have, up to 0.75 s. With s = kCoveringSpacing r that is 1.1 r, so the spheres number
// about 0.59 A / r^2, and each point of the surface is within kCoveringGap r of a centre.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "geometry/shape.h"
#include "math/vec3.h"

namespace barchan {

inline constexpr double kCoveringSpacing = 1.4;  // of neighbours, in radii
inline constexpr double kCoveringGap = 1.2;      // largest distance of the surface, in radii

// The stream of Random that seeds draw from.
inline constexpr std::uint32_t kCoveringStream = 0x636f7672;  // "covr"

struct Covering {
  std::vector<Vec3d> points;  // centres, on the surface [m]
  double radius = 0.0;        // [m]
};

// Covers the shape's surface, moved outwards by `offset` [m]. Rejects degenerate and endless shapes
// and a radius that would take more than 50 million spheres. Parts thinner than a radius may be
// missed, but for those of meshes. The same for any number of threads.
Covering cover(const Shape& shape, double radius, std::uint64_t seed, double offset = 0.0);

struct CoveringStatistics {
  std::size_t count = 0;
  double nearest_mean = 0.0;       // distance of a centre to its nearest neighbour, in radii
  double nearest_cv = 0.0;         // its standard deviation over its mean
  double worst_gap = 0.0;          // distance of the surface to the nearest centre, in radii
  double worst_off_surface = 0.0;  // distance of a centre to the surface, in radii
};
// Over a dense sample of surface points, some thirty a sphere.
CoveringStatistics measure(const Covering& covering, const Shape& shape, double offset = 0.0);

}  // namespace barchan
