#include "spatial/poisson_cells.cuh"
#include "spatial/poisson_impl.h"

namespace barchan {

template class PoissonSolver<Cuda>;

}  // namespace barchan
