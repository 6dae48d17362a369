#include "compute/cuda.cuh"
#include "sim/boundary_impl.h"

namespace barchan {

template class Boundary<Cuda>;

}  // namespace barchan
