#include "compute/cuda.cuh"
#include "solvers/flip/flip_step.h"
#include "spatial/tile_cells.cuh"

namespace barchan {

template class FlipSolver<Cuda>;

}  // namespace barchan
