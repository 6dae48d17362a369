#include "compute/cuda.cuh"
#include "solvers/granular_sph/gsph_step.h"

namespace barchan {

template class GsphSolver<Cuda>;

}  // namespace barchan
