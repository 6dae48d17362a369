#include "compute/cpu.h"
#include "solvers/dem/motion_cpu.h"
#include "solvers/dem/pairs_cpu.h"
// After the way grains move and pairs are pushed here.
#include "solvers/dem/dem_step.h"

namespace barchan {

template class DemSolver<Cpu>;

}  // namespace barchan
