// As many floats as the machine's vectors hold, worked on at once: sixteen with AVX-512, otherwise
// eight (compute/eight.h). What a CPU's loops over neighbours are made of. g++ lowers vectors wider
// than the machine's through memory, at ten times the cost.
#pragma once

#include <cstdint>

#include "compute/eight.h"
#include "compute/view.h"

#if !defined(__CUDACC__)

namespace barchan {

#if !defined(__AVX512F__)

inline constexpr int kLanes = kEight;
using Lanes = Eight;
using LaneMask = EightMask;  // what comparisons give
using PointLanes = EightPoints;
inline constexpr LaneMask kLaneNumber = {0, 1, 2, 3, 4, 5, 6, 7};

BARCHAN_INLINE Lanes load_first(const float* from, int count) {
  return load_eight(from, count);
}
BARCHAN_INLINE void store_first(float* to, const Lanes& a, int count) {
  store_eight(to, a, count);
}
BARCHAN_INLINE PointLanes gather(const Float4* points, const std::uint32_t* index) {
  return gather_eight(points, 1, index);
}
BARCHAN_INLINE EightPairs gather(const Float2* pairs, const std::uint32_t* index) {
  return gather_eight(pairs, index);
}

#else

inline constexpr int kLanes = 16;
using Lanes = float __attribute__((vector_size(64)));
using LaneMask = int __attribute__((vector_size(64)));
inline constexpr LaneMask kLaneNumber = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// g++ 12 warns of an undefined operand in the forms without a mask.
inline constexpr __mmask16 kAllLanesOn = 0xffff;

BARCHAN_INLINE Lanes max(const Lanes& a, float b) {
  return reinterpret_cast<Lanes>(
      _mm512_maskz_max_ps(kAllLanesOn, reinterpret_cast<__m512>(a), _mm512_set1_ps(b)));
}

BARCHAN_INLINE Lanes positive(const Lanes& a) {
  return max(a, 0.0f);
}

BARCHAN_INLINE Lanes absolute(const Lanes& a) {
  return a < 0.0f ? -a : a;
}

BARCHAN_INLINE LaneMask to_int(const Lanes& a) {
  return __builtin_convertvector(a, LaneMask);
}
BARCHAN_INLINE Lanes to_float(const LaneMask& a) {
  return __builtin_convertvector(a, Lanes);
}
BARCHAN_INLINE Lanes choose(const LaneMask& which, const Lanes& a, const Lanes& b) {
  return which ? a : b;
}
BARCHAN_INLINE Lanes square_root(const Lanes& a) {
  return reinterpret_cast<Lanes>(_mm512_maskz_sqrt_ps(kAllLanesOn, reinterpret_cast<__m512>(a)));
}

// numbers[at] of each lane.
BARCHAN_INLINE Lanes gather(const float* numbers, const LaneMask& at) {
  return reinterpret_cast<Lanes>(_mm512_mask_i32gather_ps(
      _mm512_setzero_ps(), kAllLanesOn, reinterpret_cast<__m512i>(at), numbers, 4));
}

// Writes the first `count` lanes.
BARCHAN_INLINE void store_first(float* to, const Lanes& a, int count) {
  const auto kept = static_cast<__mmask16>(count >= kLanes ? 0xffffu : (1u << count) - 1u);
  _mm512_mask_storeu_ps(to, kept, reinterpret_cast<__m512>(a));
}
BARCHAN_INLINE float largest_of(const Lanes& a) {
  float most = a[0];
  for (int k = 1; k < kLanes; ++k) most = max(most, a[k]);
  return most;
}

// The first `count` of sixteen numbers, and 0; nothing behind them is read.
BARCHAN_INLINE Lanes load_first(const float* from, int count) {
  const auto kept = static_cast<__mmask16>(count >= kLanes ? 0xffffu : (1u << count) - 1u);
  return reinterpret_cast<Lanes>(_mm512_maskz_loadu_ps(kept, from));
}

// The first `count` lanes, the others filled.
BARCHAN_INLINE Lanes keep_first(const Lanes& a, int count, float fill) {
  const auto kept = static_cast<__mmask16>(count >= kLanes ? 0xffffu : (1u << count) - 1u);
  return reinterpret_cast<Lanes>(
      _mm512_mask_mov_ps(_mm512_set1_ps(fill), kept, reinterpret_cast<__m512>(a)));
}

// Good to a rounding or two: an estimate of 14 bits and one Newton step y (3 - a y^2) / 2.
BARCHAN_INLINE Lanes inverse_sqrt(const Lanes& a) {
  const Lanes y =
      reinterpret_cast<Lanes>(_mm512_maskz_rsqrt14_ps(kAllLanesOn, reinterpret_cast<__m512>(a)));
  return y * (1.5f - 0.5f * a * y * y);
}

BARCHAN_INLINE float sum_of(const Lanes& a) {
  using Half = float __attribute__((vector_size(32)));
  using Quarter = float __attribute__((vector_size(16)));
  const Half h = __builtin_shufflevector(a, a, 0, 1, 2, 3, 4, 5, 6, 7) +
                 __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15);
  const Quarter q =
      __builtin_shufflevector(h, h, 0, 1, 2, 3) + __builtin_shufflevector(h, h, 4, 5, 6, 7);
  return (q[0] + q[2]) + (q[1] + q[3]);
}

struct PointLanes {
  Lanes x, y, z, w;
};

// Sixteen points that lie anywhere, one load each, then transposed in registers: four rows of
// points k, k + 4, k + 8, k + 12, of which 4 x 4 blocks are turned.
BARCHAN_INLINE PointLanes gather(const Float4* points, const std::uint32_t* index) {
  using Quarter = float __attribute__((vector_size(16)));
  const auto row = [&](int k) {
    const auto load = [&](int n) {
      return *reinterpret_cast<const Quarter*>(&points[index[k + 4 * n]]);
    };
    const auto low = __builtin_shufflevector(load(0), load(1), 0, 1, 2, 3, 4, 5, 6, 7);
    const auto high = __builtin_shufflevector(load(2), load(3), 0, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  };
  const Lanes r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
#define BARCHAN_TURN(a, b, p, q, r, s)                                                       \
  __builtin_shufflevector(a, b, p, q, r, s, p + 4, q + 4, r + 4, s + 4, p + 8, q + 8, r + 8, \
                          s + 8, p + 12, q + 12, r + 12, s + 12)
  const Lanes xy01 = BARCHAN_TURN(r0, r1, 0, 16, 1, 17), xy23 = BARCHAN_TURN(r2, r3, 0, 16, 1, 17);
  const Lanes zw01 = BARCHAN_TURN(r0, r1, 2, 18, 3, 19), zw23 = BARCHAN_TURN(r2, r3, 2, 18, 3, 19);
  return {BARCHAN_TURN(xy01, xy23, 0, 1, 16, 17), BARCHAN_TURN(xy01, xy23, 2, 3, 18, 19),
          BARCHAN_TURN(zw01, zw23, 0, 1, 16, 17), BARCHAN_TURN(zw01, zw23, 2, 3, 18, 19)};
#undef BARCHAN_TURN
}
struct PairLanes {
  Lanes x, y;
};
BARCHAN_INLINE PairLanes gather(const Float2* pairs, const std::uint32_t* index) {
  const EightPairs low = gather_eight(pairs, index), high = gather_eight(pairs, index + kEight);
  const auto join = [](const Eight& a, const Eight& b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  };
  return {join(low.x, high.x), join(low.y, high.y)};
}

#endif  // __AVX512F__

}  // namespace barchan

#endif  // !__CUDACC__
