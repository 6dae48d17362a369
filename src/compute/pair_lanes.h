// As many neighbours as a CPU works on at once in pair_sums.h: sixteen with AVX-512, otherwise
// eight. g++ lowers vectors wider than the machine's through memory, at ten times the cost.
#pragma once

#include "compute/lanes.h"

#if !defined(__CUDACC__)

#if defined(__AVX__) && !defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace barchan {

#if defined(__AVX512F__)

inline constexpr int kPairLanes = kLanes;
using PairLanes = Lanes;
using PairPoints = PointLanes;

BARCHAN_INLINE PairPoints gather_pairs(const Float4* points, const std::uint32_t* index) {
  return gather(points, index);
}

#else

inline constexpr int kPairLanes = 8;
using PairLanes = float __attribute__((vector_size(32)));
using PairMask = int __attribute__((vector_size(32)));
struct PairPoints {
  PairLanes x, y, z, w;
};

BARCHAN_INLINE PairLanes max(const PairLanes& a, float b) {
  return a > b ? a : PairLanes{} + b;
}
BARCHAN_INLINE PairLanes positive(const PairLanes& a) {
  return max(a, 0.0f);
}
// Good to a rounding or two: an estimate of 12 bits and one Newton step y (3 - a y^2) / 2.
BARCHAN_INLINE PairLanes inverse_sqrt(const PairLanes& a) {
#if defined(__AVX__)
  const PairLanes y = reinterpret_cast<PairLanes>(_mm256_rsqrt_ps(reinterpret_cast<__m256>(a)));
  return y * (1.5f - 0.5f * a * y * y);
#else
  PairLanes y;
  for (int k = 0; k < kPairLanes; ++k) y[k] = 1.0f / std::sqrt(a[k]);
  return y;
#endif
}
// The first `count` lanes, the others filled.
BARCHAN_INLINE PairLanes keep_first(const PairLanes& a, int count, float fill) {
  const PairMask lane = {0, 1, 2, 3, 4, 5, 6, 7};
  return lane < count ? a : PairLanes{} + fill;
}
BARCHAN_INLINE float sum_of(const PairLanes& a) {
  using Quarter = float __attribute__((vector_size(16)));
  const Quarter q =
      __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
  return (q[0] + q[2]) + (q[1] + q[3]);
}

// As in lanes.h: rows of points k and k + 4, of which 4 x 4 blocks are turned.
BARCHAN_INLINE PairPoints gather_pairs(const Float4* points, const std::uint32_t* index) {
  using Quarter = float __attribute__((vector_size(16)));
  const auto row = [&](int k) __attribute__((always_inline)) {
    const Quarter low = *reinterpret_cast<const Quarter*>(&points[index[k]]);
    const Quarter high = *reinterpret_cast<const Quarter*>(&points[index[k + 4]]);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  };
  const PairLanes r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  const PairLanes xy01 = __builtin_shufflevector(r0, r1, 0, 8, 1, 9, 4, 12, 5, 13);
  const PairLanes xy23 = __builtin_shufflevector(r2, r3, 0, 8, 1, 9, 4, 12, 5, 13);
  const PairLanes zw01 = __builtin_shufflevector(r0, r1, 2, 10, 3, 11, 6, 14, 7, 15);
  const PairLanes zw23 = __builtin_shufflevector(r2, r3, 2, 10, 3, 11, 6, 14, 7, 15);
  return {__builtin_shufflevector(xy01, xy23, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(xy01, xy23, 2, 3, 10, 11, 6, 7, 14, 15),
          __builtin_shufflevector(zw01, zw23, 0, 1, 8, 9, 4, 5, 12, 13),
          __builtin_shufflevector(zw01, zw23, 2, 3, 10, 11, 6, 7, 14, 15)};
}

#endif

}  // namespace barchan

#endif  // !__CUDACC__
