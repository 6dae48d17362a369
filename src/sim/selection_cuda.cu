#include "compute/cuda.cuh"
#include "sim/selection_impl.h"

namespace barchan {

template void select_on(Cuda&, std::size_t, const InAny&, Buffer<std::uint32_t>&,
                        Buffer<std::uint32_t>&);
template void select_on(Cuda&, std::size_t, const OutsideAll&, Buffer<std::uint32_t>&,
                        Buffer<std::uint32_t>&);

}  // namespace barchan
