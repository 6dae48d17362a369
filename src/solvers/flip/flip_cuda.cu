#include "solvers/flip/flip_step.h"
#include "spatial/tile_cells.cuh"
#include "spatial/tile_layers.cuh"

namespace barchan {

template class FlipSolver<Cuda>;

}  // namespace barchan
