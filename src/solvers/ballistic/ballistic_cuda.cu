#include "compute/cuda.cuh"
#include "solvers/ballistic/ballistic_step.h"

namespace barchan {

template class BallisticSolver<Cuda>;

}  // namespace barchan
