// Vector instructions that the compiler does not find by itself, with a plain fallback.
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__AVX2__)
#include <immintrin.h>

#include <array>
#endif

#include "math/vec3.h"

namespace barchan {

// Writes index[c] of every point c that is near (beyond() of view.h is negative) and index[c] !=
// self to out, in order, and returns how many. The arrays must be readable, and out writable, up to
// the next multiple of 16 entries past what is asked for or found.
#if defined(__AVX512F__)
inline int append_near(const float* x, const float* y, const float* z, const std::uint32_t* index,
                       int count, Vec3 p, float too_far, std::uint32_t self, std::uint32_t* out) {
  const __m512 px = _mm512_set1_ps(p.x), py = _mm512_set1_ps(p.y), pz = _mm512_set1_ps(p.z);
  const __m512 start = _mm512_set1_ps(-too_far);
  const __m512i me = _mm512_set1_epi32(static_cast<int>(self));
  std::uint32_t* at = out;
  for (int c = 0; c < count; c += 16) {
    const __m512 dx = _mm512_sub_ps(_mm512_loadu_ps(x + c), px);
    const __m512 dy = _mm512_sub_ps(_mm512_loadu_ps(y + c), py);
    const __m512 dz = _mm512_sub_ps(_mm512_loadu_ps(z + c), pz);
    const __m512 beyond =
        _mm512_fmadd_ps(dz, dz, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dx, dx, start)));
    const __m512i who = _mm512_loadu_si512(index + c);
    const int left = count - c;
    __mmask16 near = left >= 16 ? __mmask16(0xffff) : __mmask16((1u << left) - 1u);
    near = _mm512_mask_cmp_ps_mask(near, beyond, _mm512_setzero_ps(), _CMP_LT_OQ);
    near = _mm512_mask_cmpneq_epi32_mask(near, who, me);
    // Compress in a register, then store it whole: storing through a mask is slow on some chips.
    _mm512_storeu_si512(at, _mm512_maskz_compress_epi32(near, who));
    at += __builtin_popcount(near);
  }
  return static_cast<int>(at - out);
}
#elif defined(__AVX2__)
// For each mask of 8 lanes, the lanes that are set, in front.
inline const std::array<std::array<std::uint32_t, 8>, 256>& compress_table() {
  static const auto table = [] {
    std::array<std::array<std::uint32_t, 8>, 256> made{};
    for (std::uint32_t mask = 0; mask < 256; ++mask) {
      std::uint32_t n = 0;
      for (std::uint32_t lane = 0; lane < 8; ++lane) {
        if (mask & (1u << lane)) made[mask][n++] = lane;
      }
    }
    return made;
  }();
  return table;
}

inline int append_near(const float* x, const float* y, const float* z, const std::uint32_t* index,
                       int count, Vec3 p, float too_far, std::uint32_t self, std::uint32_t* out) {
  const auto& table = compress_table();
  const __m256 px = _mm256_set1_ps(p.x), py = _mm256_set1_ps(p.y), pz = _mm256_set1_ps(p.z);
  const __m256 start = _mm256_set1_ps(-too_far);
  const __m256i me = _mm256_set1_epi32(static_cast<int>(self));
  std::uint32_t* at = out;
  for (int c = 0; c < count; c += 8) {
    const __m256 dx = _mm256_sub_ps(_mm256_loadu_ps(x + c), px);
    const __m256 dy = _mm256_sub_ps(_mm256_loadu_ps(y + c), py);
    const __m256 dz = _mm256_sub_ps(_mm256_loadu_ps(z + c), pz);
    const __m256 beyond =
        _mm256_fmadd_ps(dz, dz, _mm256_fmadd_ps(dy, dy, _mm256_fmadd_ps(dx, dx, start)));
    const __m256i who = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(index + c));
    const __m256 same = _mm256_castsi256_ps(_mm256_cmpeq_epi32(who, me));
    auto near = static_cast<unsigned>(_mm256_movemask_ps(
        _mm256_andnot_ps(same, _mm256_cmp_ps(beyond, _mm256_setzero_ps(), _CMP_LT_OQ))));
    if (count - c < 8) near &= (1u << (count - c)) - 1u;
    const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(table[near].data()));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm256_permutevar8x32_epi32(who, lanes));
    at += __builtin_popcount(near);
  }
  return static_cast<int>(at - out);
}
#else
inline int append_near(const float* x, const float* y, const float* z, const std::uint32_t* index,
                       int count, Vec3 p, float too_far, std::uint32_t self, std::uint32_t* out) {
  int n = 0;
  for (int c = 0; c < count; ++c) {
    const float dx = x[c] - p.x, dy = y[c] - p.y, dz = z[c] - p.z;
    out[n] = index[c];
    n += (fmaf(dz, dz, fmaf(dy, dy, fmaf(dx, dx, -too_far))) < 0.0f) & (index[c] != self);
  }
  return n;
}
#endif

// Points near the cube from 0 to `edge` along each axis, after a shift: writes the places and
// numbers (first, first + 1, ...) of those nearer than sqrt(r2) to out, in order, and returns how
// many. What is said above of reading and writing past the ends holds here, too.
struct PlacesOut {
  float *x, *y, *z;
  std::uint32_t* index;
};
#if defined(__AVX512F__)
inline int append_near_cube(const float* x, const float* y, const float* z, std::uint32_t first,
                            int count, Vec3 shift, float edge, float r2, PlacesOut out) {
  const __m512 half = _mm512_set1_ps(0.5f * edge), limit = _mm512_set1_ps(r2);
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto outside = [&](__m512 u) {
    const __m512 off = _mm512_sub_ps(_mm512_abs_ps(_mm512_sub_ps(u, half)), half);
    return _mm512_maskz_max_ps(0xffff, off, _mm512_setzero_ps());
  };
  int n = 0;
  for (int c = 0; c < count; c += 16) {
    const __m512 px = _mm512_add_ps(_mm512_loadu_ps(x + c), _mm512_set1_ps(shift.x));
    const __m512 py = _mm512_add_ps(_mm512_loadu_ps(y + c), _mm512_set1_ps(shift.y));
    const __m512 pz = _mm512_add_ps(_mm512_loadu_ps(z + c), _mm512_set1_ps(shift.z));
    const __m512 ex = outside(px), ey = outside(py), ez = outside(pz);
    const __m512 d2 = _mm512_fmadd_ps(ez, ez, _mm512_fmadd_ps(ey, ey, _mm512_mul_ps(ex, ex)));
    const int left = count - c;
    __mmask16 near = left >= 16 ? __mmask16(0xffff) : __mmask16((1u << left) - 1u);
    near = _mm512_mask_cmp_ps_mask(near, d2, limit, _CMP_LT_OQ);
    const __m512i who = _mm512_add_epi32(lane, _mm512_set1_epi32(static_cast<int>(first) + c));
    _mm512_storeu_ps(out.x + n, _mm512_maskz_compress_ps(near, px));
    _mm512_storeu_ps(out.y + n, _mm512_maskz_compress_ps(near, py));
    _mm512_storeu_ps(out.z + n, _mm512_maskz_compress_ps(near, pz));
    _mm512_storeu_si512(out.index + n, _mm512_maskz_compress_epi32(near, who));
    n += __builtin_popcount(near);
  }
  return n;
}
#elif defined(__AVX2__)
inline int append_near_cube(const float* x, const float* y, const float* z, std::uint32_t first,
                            int count, Vec3 shift, float edge, float r2, PlacesOut out) {
  const auto& table = compress_table();
  const __m256 half = _mm256_set1_ps(0.5f * edge), limit = _mm256_set1_ps(r2);
  const __m256 sign = _mm256_set1_ps(-0.0f);
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const auto outside = [&](__m256 u) {
    const __m256 off = _mm256_sub_ps(_mm256_andnot_ps(sign, _mm256_sub_ps(u, half)), half);
    return _mm256_max_ps(off, _mm256_setzero_ps());
  };
  int n = 0;
  for (int c = 0; c < count; c += 8) {
    const __m256 px = _mm256_add_ps(_mm256_loadu_ps(x + c), _mm256_set1_ps(shift.x));
    const __m256 py = _mm256_add_ps(_mm256_loadu_ps(y + c), _mm256_set1_ps(shift.y));
    const __m256 pz = _mm256_add_ps(_mm256_loadu_ps(z + c), _mm256_set1_ps(shift.z));
    const __m256 ex = outside(px), ey = outside(py), ez = outside(pz);
    const __m256 d2 = _mm256_fmadd_ps(ez, ez, _mm256_fmadd_ps(ey, ey, _mm256_mul_ps(ex, ex)));
    auto near = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(d2, limit, _CMP_LT_OQ)));
    if (count - c < 8) near &= (1u << (count - c)) - 1u;
    const __m256i who = _mm256_add_epi32(lane, _mm256_set1_epi32(static_cast<int>(first) + c));
    const __m256i kept = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(table[near].data()));
    _mm256_storeu_ps(out.x + n, _mm256_permutevar8x32_ps(px, kept));
    _mm256_storeu_ps(out.y + n, _mm256_permutevar8x32_ps(py, kept));
    _mm256_storeu_ps(out.z + n, _mm256_permutevar8x32_ps(pz, kept));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.index + n),
                        _mm256_permutevar8x32_epi32(who, kept));
    n += __builtin_popcount(near);
  }
  return n;
}
#else
inline int append_near_cube(const float* x, const float* y, const float* z, std::uint32_t first,
                            int count, Vec3 shift, float edge, float r2, PlacesOut out) {
  const float half = 0.5f * edge;
  const auto outside = [&](float u) {
    const float off = std::fabs(u - half) - half;
    return off > 0.0f ? off : 0.0f;
  };
  int n = 0;
  for (int c = 0; c < count; ++c) {
    const float px = x[c] + shift.x, py = y[c] + shift.y, pz = z[c] + shift.z;
    const float ex = outside(px), ey = outside(py), ez = outside(pz);
    out.x[n] = px, out.y[n] = py, out.z[n] = pz;
    out.index[n] = first + static_cast<std::uint32_t>(c);
    n += fmaf(ez, ez, fmaf(ey, ey, ex * ex)) < r2;
  }
  return n;
}
#endif

}  // namespace barchan
