#include "compute/cpu.h"
#include "solvers/granular_sph/gsph_step.h"

namespace barchan {

template class GsphSolver<Cpu>;

}  // namespace barchan
