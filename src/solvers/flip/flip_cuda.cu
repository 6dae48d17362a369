#include "compute/cuda.cuh"
#include "solvers/flip/flip_step.h"

namespace barchan {

template class FlipSolver<Cuda>;

}  // namespace barchan
