// What a hand does to the particles between two steps: pours some in, pushes some away. For the
// live view; a run that must repeat itself has emitters instead.
#pragma once

#include <cstddef>

#include "geometry/solid.h"
#include "sim/state.h"

namespace barchan {

struct Pour {
  Vec3d at;             // middle of the ball that is filled [m]
  double radius = 0.0;  // of the ball [m]
  Vec3d velocity;       // [m/s]
  std::uint8_t material = 0;
};
// New particles a spacing apart, where there is room among the others and no solid. Returns how
// many. The solver must be asked to complete them.
std::size_t pour(const Pour& what, const SolidSet& solids, double spacing, State& state);

struct Push {
  Vec3d at;             // [m]
  double radius = 0.0;  // how far it reaches, fading out [m]
  Vec3d velocity;       // what particles at its middle get [m/s]
};
void push(const Push& what, State& state);

}  // namespace barchan
