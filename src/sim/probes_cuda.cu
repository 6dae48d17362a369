#include "compute/cuda.cuh"
#include "sim/probes_impl.h"

namespace barchan {

template double crossing_mass_on(Cuda&, const State&, View<const double>, const Rectangle&);

}  // namespace barchan
