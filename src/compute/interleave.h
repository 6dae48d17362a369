// How per-particle lists lie in memory: one after the other on a CPU, where one core reads a whole
// list; interleaved by 32 on a GPU, where the 32 threads of a warp read their k-th entries
// together.
#pragma once

#include "base/hd.h"

namespace barchan {

inline constexpr int kWarp = 32;

HD constexpr int list_stride() {
#if defined(__CUDA_ARCH__)
  return kWarp;
#else
  return 1;
#endif
}

}  // namespace barchan
