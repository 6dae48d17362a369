// Bodies of the measurements that launch kernels, instantiated for each device in measures_cpu.cpp
// and measures_cuda.cu.
#pragma once

#include "compute/reduce_ops.h"
#include "sim/measure_kernels.h"
#include "sim/state.h"
#include "spatial/cells_impl.h"

namespace barchan {

template <class Device>
VitalSigns vitals_on(Device& device, const State& state) {
  return reduce<JoinVitals>(device, "vitals", static_cast<std::int64_t>(state.size()),
                            ReadVitals{state.position(), state.velocity()});
}

template <class Device>
ParticleSums sums_on(Device& device, const State& state, View<const double> mass_of) {
  return reduce<JoinSums>(device, "ledger: sums", static_cast<std::int64_t>(state.size()),
                          ReadSums{state.position(), state.velocity(), state.material(), mass_of});
}

template <class Device>
double volume_on(Device& device, const State& state, float spacing, float lattice_sum) {
  const auto n = static_cast<std::int64_t>(state.size());
  const float support = 2.0f * spacing;
  CellSort<Device> cells(device);
  cells.sort(state.position(), support);
  Buffer3 sorted(device);
  permute(device, state.position(), cells.order(), sorted);
  Buffer<std::uint32_t> runs(device, 18 * cells.cells().key.size);
  for_each(device, "ledger: volume", static_cast<std::int64_t>(9 * cells.cells().key.size),
           FindRuns{cells.cells(), cells.cells(), runs.view()});
  return reduce<Sum<double>>(
      device, "ledger: volume", n,
      ParticleVolume{cells.cells().cell_of, runs.view(), std::as_const(sorted).view(),
                     CubicSpline(support), lattice_sum});
}

}  // namespace barchan
