#include "compute/cuda.cuh"
#include "solvers/pbf/pbf_step.h"
#include "spatial/sort_then.cuh"

namespace barchan {

template class PbfSolver<Cuda>;

}  // namespace barchan
