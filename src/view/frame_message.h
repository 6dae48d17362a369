// A frame as the page takes it: one binary message, little-endian, made to go to the graphics card
// as it is.
//
//   offset  type
//        0  4 bytes   "BVF1"
//        4  u32       n, spheres
//        8  f64       time [s]
//       16  i32       frame
//       20  u32       b, bodies
//       24  f32 x 3   lo: corner of the box that positions are measured in [m]
//       36  f32 x 3   extent of that box [m]
//       48  f32       largest radius [m]
//       52  f32 x 2   speeds that bytes 0 and 255 stand for [m/s]
//       60  f32 x 2   densities, over the material's [1]
//       68  f32 x 2   pressures [Pa]
//       76  u32       which quantities there are: 1 speed, 2 density, 4 pressure
//       80  u16 x 4   n times: x, y, z in the box from 0 to 65535, radius over the largest likewise
//           u8 x 4    n times: speed, density, pressure, number of the material
//           u32       n times: id, its low 32 bits
//           f32 x 7   b times: position x y z [m], orientation x y z w
//
// 16 bytes a sphere. Positions are off by at most extent / 131070.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "geometry/pose.h"
#include "math/vec3.h"

namespace barchan {

// Arrays of one length; those that are empty are not known.
struct ViewParticles {
  std::span<const float> x, y, z;                    // [m]
  std::span<const float> speed_x, speed_y, speed_z;  // velocity [m/s]
  std::span<const float> density;                    // [kg/m^3]
  std::span<const float> pressure;                   // [Pa]
  std::span<const float> radius;                     // [m]
  std::span<const std::uint8_t> material;
  std::span<const std::uint64_t> id;
};

struct ViewMoment {
  double time = 0.0;  // [s]
  std::int64_t frame = 0;
  double radius = 0.0;               // where particles do not say [m]
  std::vector<double> rest_density;  // by material [kg/m^3]
  std::vector<Pose> bodies;
};

inline constexpr std::size_t kViewHeaderBytes = 80;
inline constexpr std::size_t kViewSphereBytes = 16;
inline constexpr std::size_t kViewBodyBytes = 28;

// Writes over `message`, whose memory is used again. Throws where the arrays' lengths differ.
void encode_frame(const ViewParticles& particles, const ViewMoment& moment, std::string& message);

}  // namespace barchan
