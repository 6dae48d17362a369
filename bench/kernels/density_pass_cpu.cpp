#include "compute/cpu.h"
#include "kernels/density_pass.h"

namespace barchan {

void density_pass(Cpu& device, const DensityPass<View3<const float>>& pass) {
  for_each(device, "density", static_cast<std::int64_t>(pass.x.size), pass);
}

}  // namespace barchan
