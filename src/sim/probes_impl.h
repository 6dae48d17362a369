// The launch behind flow probes, instantiated for each device in probes_cpu.cpp and probes_cuda.cu.
#pragma once

#include "compute/reduce_ops.h"
#include "sim/path_start.h"
#include "sim/probe_kernels.h"
#include "sim/state.h"

namespace barchan {

template <class Device>
double crossing_mass_on(Device& device, const State& state, View<const double> mass_of,
                        const Rectangle& gate) {
  return reduce<Sum<double>>(
      device, "flow probe", static_cast<std::int64_t>(state.size()),
      CrossingMass{state.vectors(kPathStart), state.position(), state.material(), mass_of, gate});
}

}  // namespace barchan
