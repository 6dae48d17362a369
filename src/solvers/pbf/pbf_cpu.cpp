#include "compute/cpu.h"
#include "solvers/pbf/pbf_step.h"
#include "spatial/tiles.h"

namespace barchan {

template class PbfSolver<Cpu>;

}  // namespace barchan
