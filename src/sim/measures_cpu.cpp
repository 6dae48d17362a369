#include "compute/cpu.h"
#include "sim/measures_impl.h"

namespace barchan {

template VitalSigns vitals_on(Cpu&, const State&);
template ParticleSums sums_on(Cpu&, const State&, View<const double>);
template double volume_on(Cpu&, const State&, float, float);

}  // namespace barchan
