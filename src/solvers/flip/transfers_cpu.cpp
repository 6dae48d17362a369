#include "compute/cpu.h"
#include "solvers/flip/transfers_impl.h"

namespace barchan::flip {

template void to_faces(Cpu&, const ToFaces&);
template void from_faces(Cpu&, const FromFaces&);

}  // namespace barchan::flip
