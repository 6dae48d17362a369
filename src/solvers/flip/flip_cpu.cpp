#include "compute/cpu.h"
#include "solvers/flip/flip_step.h"

namespace barchan {

template class FlipSolver<Cpu>;

}  // namespace barchan
