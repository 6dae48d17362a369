#include "compute/cuda.cuh"
#include "solvers/flip/transfers_impl.h"

namespace barchan::flip {

template void to_faces(Cuda&, const ToFaces&);
template void from_faces(Cuda&, const FromFaces&);

}  // namespace barchan::flip
