// Sixteen floats that are worked on at once: what a CPU's loops over neighbours are made of. A
// kernel's arithmetic is a template over the number: Lanes on the CPU, float on a GPU. g++ lowers
// Lanes to whatever vectors the machine has.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "math/scalar.h"

#if defined(__AVX512F__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

namespace barchan {

HD inline float inverse_sqrt(float a) {
#if defined(__CUDA_ARCH__)
  return rsqrtf(a);
#else
  return 1.0f / std::sqrt(a);
#endif
}

#if !defined(__CUDACC__)

inline constexpr int kLanes = 16;
using Lanes = float __attribute__((vector_size(64)));
using LaneMask = int __attribute__((vector_size(64)));  // what comparisons give

// Not inlined, vectors this wide would be passed in ways that depend on the machine.
#define BARCHAN_INLINE [[gnu::always_inline]] inline

BARCHAN_INLINE Lanes max(const Lanes& a, float b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Lanes>(_mm512_max_ps(reinterpret_cast<__m512>(a), _mm512_set1_ps(b)));
#else
  return a > b ? a : Lanes{} + b;
#endif
}

// The first `count` lanes, the others filled.
BARCHAN_INLINE Lanes keep_first(const Lanes& a, int count, float fill) {
#if defined(__AVX512F__)
  const auto kept = static_cast<__mmask16>(count >= kLanes ? 0xffffu : (1u << count) - 1u);
  return reinterpret_cast<Lanes>(
      _mm512_mask_mov_ps(_mm512_set1_ps(fill), kept, reinterpret_cast<__m512>(a)));
#else
  const LaneMask lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return lane < count ? a : Lanes{} + fill;
#endif
}

// Good to a rounding or two: an estimate of 14 bits and one Newton step y (3 - a y^2) / 2.
BARCHAN_INLINE Lanes inverse_sqrt(const Lanes& a) {
#if defined(__AVX512F__)
  const Lanes y = reinterpret_cast<Lanes>(_mm512_rsqrt14_ps(reinterpret_cast<__m512>(a)));
  return y * (1.5f - 0.5f * a * y * y);
#else
  Lanes y;
  for (int k = 0; k < kLanes; ++k) y[k] = 1.0f / std::sqrt(a[k]);
  return y;
#endif
}

// In a fixed order, so that the sum does not depend on the machine's vectors.
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

// Sixteen points that lie anywhere, one load each, then transposed in registers.
BARCHAN_INLINE PointLanes gather(const Float4* points, const std::uint32_t* index) {
#if defined(__AVX512F__)
  const auto load = [&](int k) { return _mm_load_ps(&points[index[k]].x); };
  const auto row = [&](int k) {
    __m512 r = _mm512_castps128_ps512(load(k));
    r = _mm512_insertf32x4(r, load(k + 4), 1);
    r = _mm512_insertf32x4(r, load(k + 8), 2);
    return _mm512_castps_pd(_mm512_insertf32x4(r, load(k + 12), 3));
  };
  const auto single = [](__m512d v) { return _mm512_castpd_ps(v); };
  const __m512d r0 = row(0), r1 = row(1), r2 = row(2), r3 = row(3);
  const __m512d xy01 = _mm512_castps_pd(_mm512_unpacklo_ps(single(r0), single(r1)));
  const __m512d xy23 = _mm512_castps_pd(_mm512_unpacklo_ps(single(r2), single(r3)));
  const __m512d zw01 = _mm512_castps_pd(_mm512_unpackhi_ps(single(r0), single(r1)));
  const __m512d zw23 = _mm512_castps_pd(_mm512_unpackhi_ps(single(r2), single(r3)));
  const auto lanes = [&](__m512d v) { return reinterpret_cast<Lanes>(single(v)); };
  return {lanes(_mm512_unpacklo_pd(xy01, xy23)), lanes(_mm512_unpackhi_pd(xy01, xy23)),
          lanes(_mm512_unpacklo_pd(zw01, zw23)), lanes(_mm512_unpackhi_pd(zw01, zw23))};
#else
  PointLanes p;
  for (int k = 0; k < kLanes; ++k) {
    const Float4 q = points[index[k]];
    p.x[k] = q.x, p.y[k] = q.y, p.z[k] = q.z, p.w[k] = q.w;
  }
  return p;
#endif
}

#endif  // !__CUDACC__

}  // namespace barchan
