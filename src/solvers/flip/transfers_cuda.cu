#include "compute/cuda.cuh"
#include "solvers/flip/transfers.h"

namespace barchan::flip {

template <>
void to_faces(Cuda& device, const ToFaces& kernel, const LayerView& near) {
  for_each_of(device, "to grid", near, kernel);
}

template <>
void carry(Cuda& device, const CarryParticles& kernel) {
  for_each(device, "to particles", static_cast<std::int64_t>(kernel.x.size), kernel);
}

}  // namespace barchan::flip
