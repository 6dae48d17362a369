#include "compute/cpu.h"
#include "sim/measure_kernels_cpu.h"
#include "sim/measures_impl.h"

namespace barchan {

template <>
void particle_volumes(Cpu& device, const CellsView& cells, View3<const float> x,
                      const CubicSpline& W, float lattice_sum, View<float> volume) {
  for_each_range(device, "ledger: volume", static_cast<std::int64_t>(cells.key.size),
                 kCellsPerBlock, VolumesByCell{cells, x, W, lattice_sum, volume});
}

template VitalSigns vitals_on(Cpu&, const State&);
template ParticleSums sums_on(Cpu&, const State&, View<const double>);
template double volume_on(Cpu&, const State&, float, float);

}  // namespace barchan
