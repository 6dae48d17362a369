#include "compute/cpu.h"
#include "sim/boundary_impl.h"

namespace barchan {

template class Boundary<Cpu>;

}  // namespace barchan
