// From a scene to the State it starts with.
#pragma once

#include <memory>

#include "compute/device.h"
#include "geometry/solid.h"
#include "scene/scene.h"
#include "sim/solver.h"
#include "sim/state.h"

namespace barchan {

SolverSetup solver_setup(const Scene& scene);
SolidSet make_solids(const Scene& scene, Device& device);

// Particles of all fills, those inside solids left out. Rejects fills that end up empty and fills
// that overlap, naming them.
void fill_state(const Scene& scene, const SolidSet& solids, State& state);

}  // namespace barchan
