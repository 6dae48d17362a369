#include "compute/cuda.cuh"
#include "solvers/pbf/pbf_step.h"
#include "spatial/tiles.cuh"

namespace barchan {

template class PbfSolver<Cuda>;

}  // namespace barchan
