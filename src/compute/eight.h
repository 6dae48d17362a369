// Eight floats that are worked on at once. The same names work on single floats, so that a kernel's
// arithmetic is a template over the number: float on a GPU, and on the CPU Lanes (compute/lanes.h),
// or Eight where more would not help.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "math/scalar.h"

#if defined(__AVX2__) && !defined(__CUDACC__)
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

// max(a, 0) of a <= 1, which costs a GPU nothing.
HD inline float positive(float a) {
#if defined(__CUDA_ARCH__)
  return __saturatef(a);
#else
  return max(a, 0.0f);
#endif
}

HD inline float absolute(float a) {
  return a < 0.0f ? -a : a;
}

// Towards 0, and back.
HD inline int to_int(float a) {
  return static_cast<int>(a);
}
HD inline float to_float(int a) {
  return static_cast<float>(a);
}
HD inline float square_root(float a) {
  return std::sqrt(a);
}
// One number for all lanes, or for the one that a GPU's thread is.
HD inline float largest_of(float a) {
  return a;
}
HD inline float choose(bool which, float a, float b) {
  return which ? a : b;
}

#if !defined(__CUDACC__)

// Not inlined, vectors would be passed in ways that depend on the machine, which g++ says of every
// function that has one.
#pragma GCC diagnostic ignored "-Wpsabi"
#define BARCHAN_INLINE [[gnu::always_inline]] inline

inline constexpr int kEight = 8;
using Eight = float __attribute__((vector_size(32)));
using EightMask = int __attribute__((vector_size(32)));  // what comparisons give

BARCHAN_INLINE Eight choose(const EightMask& which, const Eight& a, const Eight& b) {
  return which ? a : b;
}
BARCHAN_INLINE Eight max(const Eight& a, float b) {
#if defined(__AVX2__)
  return reinterpret_cast<Eight>(_mm256_max_ps(reinterpret_cast<__m256>(a), _mm256_set1_ps(b)));
#else
  return a > b ? a : Eight{} + b;
#endif
}
BARCHAN_INLINE Eight positive(const Eight& a) {
  return max(a, 0.0f);
}
BARCHAN_INLINE Eight absolute(const Eight& a) {
  return reinterpret_cast<Eight>(reinterpret_cast<EightMask>(a) & 0x7fffffff);
}
BARCHAN_INLINE EightMask to_int(const Eight& a) {
  return __builtin_convertvector(a, EightMask);
}
BARCHAN_INLINE Eight to_float(const EightMask& a) {
  return __builtin_convertvector(a, Eight);
}
BARCHAN_INLINE Eight square_root(const Eight& a) {
#if defined(__AVX2__)
  return reinterpret_cast<Eight>(_mm256_sqrt_ps(reinterpret_cast<__m256>(a)));
#else
  Eight root;
  for (int k = 0; k < kEight; ++k) root[k] = std::sqrt(a[k]);
  return root;
#endif
}

// Good to a rounding or two: an estimate of 12 bits and one Newton step y (3 - a y^2) / 2.
BARCHAN_INLINE Eight inverse_sqrt(const Eight& a) {
#if defined(__AVX2__)
  const Eight y = reinterpret_cast<Eight>(_mm256_rsqrt_ps(reinterpret_cast<__m256>(a)));
  return y * (1.5f - 0.5f * a * y * y);
#else
  Eight y;
  for (int k = 0; k < kEight; ++k) y[k] = 1.0f / std::sqrt(a[k]);
  return y;
#endif
}
// The first `count` lanes, the others filled.
BARCHAN_INLINE Eight keep_first(const Eight& a, int count, float fill) {
  const EightMask lane = {0, 1, 2, 3, 4, 5, 6, 7};
  return lane < count ? a : Eight{} + fill;
}
BARCHAN_INLINE float sum_of(const Eight& a) {
  using Quarter = float __attribute__((vector_size(16)));
  const Quarter q =
      __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
  return (q[0] + q[2]) + (q[1] + q[3]);
}

BARCHAN_INLINE float largest_of(const Eight& a) {
  float most = a[0];
  for (int k = 1; k < kEight; ++k) most = max(most, a[k]);
  return most;
}

// A bit for each lane.
BARCHAN_INLINE unsigned bits_of(const EightMask& which) {
#if defined(__AVX2__)
  return static_cast<unsigned>(
      _mm256_movemask_ps(reinterpret_cast<__m256>(reinterpret_cast<Eight>(which))));
#else
  unsigned bits = 0;
  for (int k = 0; k < kEight; ++k) bits |= which[k] != 0 ? 1u << k : 0u;
  return bits;
#endif
}

// numbers[at] of each lane.
BARCHAN_INLINE Eight gather(const float* numbers, const EightMask& at) {
#if defined(__AVX2__)
  return reinterpret_cast<Eight>(
      _mm256_i32gather_ps(numbers, reinterpret_cast<__m256i>(at), sizeof(float)));
#else
  Eight found;
  for (int k = 0; k < kEight; ++k) found[k] = numbers[at[k]];
  return found;
#endif
}

// The first `count` of eight numbers, and 0; nothing behind them is read.
BARCHAN_INLINE Eight load_eight(const float* from, int count) {
  Eight loaded{};
  if (count >= kEight) {
    __builtin_memcpy(&loaded, from, sizeof(loaded));
  } else {
#if defined(__AVX2__)
    const EightMask lane = {0, 1, 2, 3, 4, 5, 6, 7};
    loaded = reinterpret_cast<Eight>(
        _mm256_maskload_ps(from, reinterpret_cast<__m256i>(EightMask(lane < count))));
#else
    for (int k = 0; k < count; ++k) loaded[k] = from[k];
#endif
  }
  return loaded;
}
BARCHAN_INLINE void store_eight(float* to, const Eight& a, int count) {
  if (count >= kEight) {
    __builtin_memcpy(to, &a, sizeof(a));
  } else {
    for (int k = 0; k < count; ++k) to[k] = a[k];
  }
}

struct EightPoints {
  Eight x, y, z, w;
};

#define BARCHAN_TURN(a, b, p, q, r, s) \
  __builtin_shufflevector(a, b, p, q, r, s, p + 4, q + 4, r + 4, s + 4)

// Four rows of points k, k + 4, of which 4 x 4 blocks are turned; and back.
BARCHAN_INLINE EightPoints turn_rows(const Eight& r0, const Eight& r1, const Eight& r2,
                                     const Eight& r3) {
  const Eight xy01 = BARCHAN_TURN(r0, r1, 0, 8, 1, 9), xy23 = BARCHAN_TURN(r2, r3, 0, 8, 1, 9);
  const Eight zw01 = BARCHAN_TURN(r0, r1, 2, 10, 3, 11), zw23 = BARCHAN_TURN(r2, r3, 2, 10, 3, 11);
  return {BARCHAN_TURN(xy01, xy23, 0, 1, 8, 9), BARCHAN_TURN(xy01, xy23, 2, 3, 10, 11),
          BARCHAN_TURN(zw01, zw23, 0, 1, 8, 9), BARCHAN_TURN(zw01, zw23, 2, 3, 10, 11)};
}
#undef BARCHAN_TURN

// Eight pairs of numbers that lie anywhere.
struct EightPairs {
  Eight x, y;
};
BARCHAN_INLINE EightPairs gather_eight(const Float2* pairs, const std::uint32_t* index) {
  using Pair = float __attribute__((vector_size(8)));
  const auto row = [&](int k) {  // k, k + 1, k + 4 and k + 5
    const auto load = [&](int n) { return *reinterpret_cast<const Pair*>(pairs + index[n]); };
    const auto low = __builtin_shufflevector(load(k), load(k + 1), 0, 1, 2, 3);
    const auto high = __builtin_shufflevector(load(k + 4), load(k + 5), 0, 1, 2, 3);
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  };
  const Eight a = row(0), b = row(2);
  return {__builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14),
          __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15)};
}

// Eight points that lie `stride` points apart from each other's numbers: points[stride index[k]].
BARCHAN_INLINE EightPoints gather_eight(const Float4* points, std::size_t stride,
                                        const std::uint32_t* index) {
  using Quarter = float __attribute__((vector_size(16)));
  const auto load = [&](int k) {
    return *reinterpret_cast<const Quarter*>(points + stride * index[k]);
  };
  const Eight r0 = __builtin_shufflevector(load(0), load(4), 0, 1, 2, 3, 4, 5, 6, 7);
  const Eight r1 = __builtin_shufflevector(load(1), load(5), 0, 1, 2, 3, 4, 5, 6, 7);
  const Eight r2 = __builtin_shufflevector(load(2), load(6), 0, 1, 2, 3, 4, 5, 6, 7);
  const Eight r3 = __builtin_shufflevector(load(3), load(7), 0, 1, 2, 3, 4, 5, 6, 7);
  return turn_rows(r0, r1, r2, r3);
}
// The first `count` of eight points, one after the other.
BARCHAN_INLINE void store_points(Float4* to, const EightPoints& p, int count) {
  using Quarter = float __attribute__((vector_size(16)));
  const EightPoints rows = turn_rows(p.x, p.y, p.z, p.w);
  const auto store = [&](int k, const Eight& row) {
    const Quarter low = __builtin_shufflevector(row, row, 0, 1, 2, 3);
    const Quarter high = __builtin_shufflevector(row, row, 4, 5, 6, 7);
    if (k < count) *reinterpret_cast<Quarter*>(to + k) = low;
    if (k + 4 < count) *reinterpret_cast<Quarter*>(to + k + 4) = high;
  };
  store(0, rows.x);
  store(1, rows.y);
  store(2, rows.z);
  store(3, rows.w);
}
// points[index[k]] += the k-th of eight points, one after the other.
BARCHAN_INLINE void add_points(Float4* points, const std::uint32_t* index, const EightPoints& p,
                               int count) {
  using Quarter = float __attribute__((vector_size(16)));
  Float4 rows[kEight];
  store_points(rows, p, kEight);
  for (int k = 0; k < count; ++k) {
    *reinterpret_cast<Quarter*>(points + index[k]) += *reinterpret_cast<const Quarter*>(rows + k);
  }
}

#endif  // !__CUDACC__

}  // namespace barchan
