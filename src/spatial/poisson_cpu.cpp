#include "spatial/poisson_impl.h"
#include "spatial/poisson_rows_cpu.h"

namespace barchan {

template class PoissonSolver<Cpu>;

}  // namespace barchan
