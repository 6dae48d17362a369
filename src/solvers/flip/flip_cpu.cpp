#include "compute/cpu.h"
#include "solvers/flip/flip_step.h"
#include "solvers/flip/sand_rows_cpu.h"

namespace barchan {

template class FlipSolver<Cpu>;

}  // namespace barchan
