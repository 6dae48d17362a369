#include "compute/cpu.h"
#include "sim/probes_impl.h"

namespace barchan {

template double crossing_mass_on(Cpu&, const State&, View<const double>, const Rectangle&);

}  // namespace barchan
