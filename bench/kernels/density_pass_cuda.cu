#include "compute/cuda.cuh"
#include "kernels/density_pass.h"

namespace barchan {

void density_pass(Cuda& device, const DensityPass<View<const Float4>>& pass) {
  for_each(device, "density", static_cast<std::int64_t>(pass.x.size), pass);
}

}  // namespace barchan
