#include "compute/grid.cuh"
#include "solvers/flip/flip_step.h"

namespace barchan {

template class FlipSolver<Cuda>;

}  // namespace barchan
