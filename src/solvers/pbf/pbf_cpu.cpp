#include "compute/cpu.h"
#include "solvers/pbf/pbf_step.h"

namespace barchan {

template class PbfSolver<Cpu>;

}  // namespace barchan
