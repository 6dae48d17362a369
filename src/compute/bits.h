// Bit tricks that host and device spell differently.
#pragma once

#include <cstdint>

#include "base/hd.h"

namespace barchan {

// Place of the lowest set bit of a number that is not 0.
HD inline std::uint32_t lowest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
#else
  return static_cast<std::uint32_t>(__builtin_ctz(bits));
#endif
}

}  // namespace barchan
