#include "solvers/flip/flip_step.h"
#include "solvers/flip/sand_cells.cuh"
#include "spatial/tile_layers.cuh"

namespace barchan {

template class FlipSolver<Cuda>;

}  // namespace barchan
