#include "compute/cpu.h"
#include "solvers/pbf/pbf_step.h"
#include "spatial/sort_then_cpu.h"

namespace barchan {

template class PbfSolver<Cpu>;

}  // namespace barchan
