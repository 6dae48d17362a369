#include "compute/cpu.h"
#include "solvers/ballistic/ballistic_step.h"

namespace barchan {

template class BallisticSolver<Cpu>;

}  // namespace barchan
