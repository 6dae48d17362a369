// How per-particle lists lie in memory: one after the other on a CPU, where one core reads a whole
// list; interleaved by 32 on a GPU, where the 32 threads of a warp read their k-th entries
// together.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"

namespace barchan {

inline constexpr std::uint32_t kWarp = 32;

HD constexpr int list_stride() {
#if defined(__CUDA_ARCH__)
  return static_cast<int>(kWarp);
#else
  return 1;
#endif
}

// Where list i starts. On a GPU lists usually have the same room each; that place is computed
// rather than read.
struct ListPlaces {
  View<const std::uint32_t> start;  // not looked at where even_width > 0
  std::uint32_t even_width = 0;     // room of every list, interleaved by warps

  HD std::size_t operator()(std::uint32_t i) const {
    if (even_width == 0) return start[i];
    return static_cast<std::size_t>(i / kWarp) * kWarp * even_width + i % kWarp;
  }
};

}  // namespace barchan
