// Particles that fill a shape, one per cube of a lattice.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/shape.h"
#include "math/vec3.h"

namespace barchan {

// The stream of Random that jitter draws from; its id is the particle's.
inline constexpr std::uint32_t kFillStream = 0x66696c6c;  // "fill"

struct FillSettings {
  double spacing = 0.01;  // edge of a particle's cube [m]
  bool jittered = false;
  double jitter = 1.0;  // 0..1: how much of its cube a particle may be in
  std::uint64_t seed = 0;
  std::uint64_t first_id = 0;  // the id of the first particle; the others count on
};

// Cubes start at the lower corner of the shape's bounding box; a cube whose centre is inside the
// shape holds one particle: in the centre, or jittered anywhere in the cube (eight to a cell of two
// spacings, one per sub-cube), but in the centre where that would leave the shape. The order is x
// fastest, then y, then z. Rejects degenerate and endless shapes and more than 2^31 - 1 particles.
std::vector<Vec3> fill_shape(const Shape& shape, const FillSettings& settings);

}  // namespace barchan
