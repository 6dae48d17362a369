#include "compute/cuda.cuh"
#include "sim/measures_impl.h"

namespace barchan {

template VitalSigns vitals_on(Cuda&, const State&);
template ParticleSums sums_on(Cuda&, const State&, View<const double>);
template double volume_on(Cuda&, const State&, float, float);

}  // namespace barchan
