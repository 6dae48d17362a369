// Sixteen samples at once: a slice of a brick, 4 x 4 samples of one z.
#pragma once

#include "compute/lanes.h"

namespace barchan {

inline constexpr Lanes kLaneX = {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
inline constexpr Lanes kLaneY = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};

BARCHAN_INLINE Lanes sqrt_of(const Lanes& a) {
  constexpr float kTiny = 1e-30f;  // 0 comes out as about 1e-15
  return a * inverse_sqrt(max(a, kTiny));
}
BARCHAN_INLINE void store(const Lanes& a, float* to) {
  __builtin_memcpy(to, &a, sizeof(a));
}

}  // namespace barchan
