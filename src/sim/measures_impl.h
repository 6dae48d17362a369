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
  const View<const float> masses =
      state.has("mass") ? state.numbers<float>("mass") : View<const float>{};
  return reduce<JoinSums>(
      device, "ledger: sums", static_cast<std::int64_t>(state.size()),
      ReadSums{state.position(), state.velocity(), state.material(), mass_of, masses});
}

// volume[i] of the sorted points x.
template <class Device>
void particle_volumes(Device& device, const CellsView& cells, View3<const float> x,
                      const CubicSpline& W, float lattice_sum, View<float> volume) {
  Buffer<std::uint32_t> table(device);
  const RunsView runs = find_runs(device, "ledger: volume", cells, cells, table);
  for_each(device, "ledger: volume", static_cast<std::int64_t>(x.size),
           ParticleVolume{runs, x, W, lattice_sum, volume});
}

template <class Device>
double volume_on(Device& device, const State& state, float spacing, float lattice_sum) {
  const float support = 2.0f * spacing;
  CellSort<Device> cells(device);
  cells.sort(state.position(), support);
  Buffer3 sorted(device);
  permute(device, state.position(), cells.order(), sorted);
  Buffer<float> volume(device, state.size());
  particle_volumes(device, cells.cells(), std::as_const(sorted).view(), CubicSpline(support),
                   lattice_sum, volume.view());
  return reduce<Sum<double>>(device, "ledger: volume", static_cast<std::int64_t>(state.size()),
                             ReadVolume{std::as_const(volume).view()});
}

}  // namespace barchan
