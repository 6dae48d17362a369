// The solver that a scene asks for, on a device.
#pragma once

#include <memory>

#include "compute/device.h"
#include "scene/scene.h"
#include "sim/solver.h"

namespace barchan {

std::unique_ptr<Solver> make_solver(const Scene& scene, Device& device);

}  // namespace barchan
