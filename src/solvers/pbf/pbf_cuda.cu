#include "compute/cuda.cuh"
#include "solvers/pbf/pbf_step.h"

namespace barchan {

template class PbfSolver<Cuda>;

}  // namespace barchan
