#include "compute/cuda.cuh"
#include "solvers/flip/transfers.h"

namespace barchan::flip {

// Several threads a cell, which has some 200 particles around it: what they read lies side by side,
// and few cells keep all of the GPU busy.
template <bool kAffine, int kThreads>
struct ToFacesTogether {
  ToFaces kernel;
  LayerView near;
  __device__ void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item) / kThreads;
    if (!near.has(cell)) return;
    const auto sums = kernel.sums_at<kAffine, kThreads>(cell);
    if (item % kThreads == 0) kernel.put(cell, sums);
  }
};

template <int kThreads>
void to_faces_together(Cuda& device, const ToFaces& kernel, const LayerView& near) {
  const std::int64_t threads = static_cast<std::int64_t>(near.all.size) * 64 * kThreads;
  if (kernel.c.empty()) {
    for_each(device, "to grid", threads, ToFacesTogether<false, kThreads>{kernel, near});
  } else {
    for_each(device, "to grid", threads, ToFacesTogether<true, kThreads>{kernel, near});
  }
}

template <>
void to_faces(Cuda& device, const ToFaces& kernel, const LayerView& near) {
  constexpr std::size_t kFewCells = 1 << 20;
  if (near.all.size * 64 <= kFewCells) {
    to_faces_together<4>(device, kernel, near);
  } else {
    to_faces_together<2>(device, kernel, near);
  }
}

template <>
void carry(Cuda& device, const CarryParticles& kernel) {
  for_each(device, "to particles", static_cast<std::int64_t>(kernel.x.size), kernel);
}

}  // namespace barchan::flip
