// Takes the place of cuda.cu where no CUDA compiler was found.
#include "base/error.h"
#include "compute/device.h"

namespace barchan {

std::unique_ptr<Device> make_cuda_device() {
  reject(
      "--device cuda: this build has no CUDA; install NVIDIA's CUDA toolkit (nvcc) and build "
      "again, "
      "or use --device cpu");
}

}  // namespace barchan
