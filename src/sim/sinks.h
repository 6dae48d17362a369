// [[sink]]: particles that are inside one of the shapes when a step ends are no more.
#pragma once

#include <cstdint>

#include "scene/scene.h"
#include "sim/selection.h"
#include "sim/state.h"

namespace barchan {

class Sinks {
 public:
  Sinks(const Scene& scene, Device& device);

  // Takes the particles inside out of the state; those left keep their order.
  void remove(State& state);

 private:
  SolidSet shapes_;
  RowSelector selector_;
};

// Particles that sinks have taken since the run began.
std::uint64_t removed_particles(const State& state);

}  // namespace barchan
