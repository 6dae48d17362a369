// A vector for each entry of the neighbour lists, kept for passes over pairs that stay where they
// are: a gradient then is made once a step, and read in a row where points would be gathered.
//
// 16 bits a coordinate, of vectors that are not longer than 2. A vector and its opposite are
// rounded alike, so that what two particles do to each other stays equal and opposite; the error,
// 3e-5, is far below what the places of particles leave.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/hd.h"
#include "compute/pair_sums.h"

namespace barchan {

#if defined(__CUDACC__)
inline namespace for_cuda {
#else
inline namespace for_cpu {
#endif

inline constexpr float kKeptUnits = 32767.0f / 2.0f;  // of 1
// In floats from 2^23 on the last bit is 1: these round to whole numbers, and read them.
inline constexpr float kRoundKept = 12582912.0f + 32768.0f, kReadKept = 8388608.0f + 32768.0f;
inline constexpr std::uint32_t kKeptExponent = 0x4b000000;

struct KeptVectors {
  View<std::uint16_t> x, y, z;  // where the lists have their entries
};

#if defined(__CUDA_ARCH__)

// Of four entries, of which each word has two.
struct FourKept {
  uint2 x, y, z;
  __device__ static uint2 load(const View<std::uint16_t>& kept, std::size_t at) {
    return __ldcs(reinterpret_cast<const uint2*>(kept.data + at));
  }
  __device__ FourKept(const KeptVectors& kept, std::size_t at)
      : x(load(kept.x, at)), y(load(kept.y, at)), z(load(kept.z, at)) {}
  template <int kEntry>
  __device__ static float number(const uint2& two) {
    const unsigned word = kEntry < 2 ? two.x : two.y;
    return __uint_as_float(__byte_perm(word, kKeptExponent, kEntry % 2 == 0 ? 0x7610 : 0x7632)) -
           kReadKept;
  }
  template <int kEntry>
  __device__ Near<float> near() const {
    Near<float> near{};
    near.x = number<kEntry>(x), near.y = number<kEntry>(y), near.z = number<kEntry>(z);
    return near;
  }
};

#elif !defined(__CUDACC__)

using ShortLanes = std::uint16_t __attribute__((vector_size(2 * kLanes)));

BARCHAN_INLINE Lanes load_kept(const std::uint16_t* from, int count) {
  ShortLanes stored;
  std::memcpy(&stored, from, sizeof(stored));
  const LaneMask bits = __builtin_convertvector(stored, LaneMask) | kKeptExponent;
  return keep_first(reinterpret_cast<Lanes>(bits) - kReadKept, count, 0.0f);
}
// The lower 16 bits of each.
BARCHAN_INLINE ShortLanes low_halves(const LaneMask& a) {
#if defined(__AVX2__) && !defined(__AVX512F__)
  const LaneMask low = a & 0xffff;
  const auto first = __builtin_shufflevector(low, low, 0, 1, 2, 3);
  const auto second = __builtin_shufflevector(low, low, 4, 5, 6, 7);
  return reinterpret_cast<ShortLanes>(
      _mm_packus_epi32(reinterpret_cast<__m128i>(first), reinterpret_cast<__m128i>(second)));
#else
  return __builtin_convertvector(a & 0xffff, ShortLanes);
#endif
}
BARCHAN_INLINE void store_kept(std::uint16_t* to, const Lanes& a, int count) {
  const Lanes rounded = kKeptUnits * a + kRoundKept;
  const ShortLanes stored = low_halves(reinterpret_cast<LaneMask>(rounded));
  if (count >= kLanes) {
    std::memcpy(to, &stored, sizeof(stored));
    return;
  }
  // Behind the last one is another particle's.
  std::uint16_t some[kLanes];
  std::memcpy(some, &stored, sizeof(stored));
  int k = 0;
  for (int part = kLanes / 2; part > 0; part /= 2) {
    if ((count & part) == 0) continue;
    std::memcpy(to + k, some + k, sizeof(std::uint16_t) * static_cast<std::size_t>(part));
    k += part;
  }
}

#endif

// As sum_pairs; `sum` also gives the vector to keep of each pair, as a third argument.
template <class Lists, int kPacks, class Sum>
HD inline Sums<Sum::kSums> sum_and_keep(const Lists& lists, const Packs<kPacks>& packs, int i,
                                        const Vec3& p, const Sum& sum, const KeptVectors& kept) {
  Sums<Sum::kSums> result;
#if defined(__CUDA_ARCH__)
  float sums[Sum::kSums] = {};
  const int count = lists.count(i);
  const std::uint32_t* list = lists.list(i);
  std::uint16_t* const to[3] = {kept.x.data, kept.y.data, kept.z.data};
  for (int k = 0; k < count; k += 4, list += 4 * kWarp) {
    const uint4 entries = __ldcs(reinterpret_cast<const uint4*>(list));
    const std::uint32_t j[4] = {entries.x, entries.y, entries.z, entries.w};
    unsigned stored[3][4] = {};
#pragma unroll
    for (int n = 0; n < 4; ++n) {
      if (k + n >= count) break;
      float vector[3];
      sum(packs(p, j[n]), sums, vector);
      for (int c = 0; c < 3; ++c) {
        stored[c][n] = __float_as_uint(fmaf(kKeptUnits, vector[c], kRoundKept));
      }
    }
    const auto at = static_cast<std::size_t>(list - lists.index.data);
    for (int c = 0; c < 3; ++c) {
      *reinterpret_cast<uint2*>(to[c] + at) = {__byte_perm(stored[c][0], stored[c][1], 0x5410),
                                               __byte_perm(stored[c][2], stored[c][3], 0x5410)};
    }
  }
  for (int n = 0; n < Sum::kSums; ++n) result.value[n] = sums[n];
#elif defined(__CUDACC__)
  (void)lists, (void)packs, (void)i, (void)p, (void)sum, (void)kept;  // never called there
#else
  Lanes sums[Sum::kSums] = {};
  const int count = lists.count(i);
  const std::uint32_t* list = lists.list(i);
  const auto first = static_cast<std::size_t>(list - lists.index.data);
  for (int k = 0; k < count; k += kLanes) {
    const std::size_t at = first + static_cast<std::size_t>(k);
    Lanes vector[3];
    sum(packs(p, list + k, count - k), sums, vector);
    store_kept(kept.x.data + at, vector[0], count - k);
    store_kept(kept.y.data + at, vector[1], count - k);
    store_kept(kept.z.data + at, vector[2], count - k);
  }
  for (int n = 0; n < Sum::kSums; ++n) result.value[n] = sum_of(sums[n]);
#endif
  return result;
}

// What is read of a neighbour beside its kept vector: a number, for w,
struct NumberBeside {
  View<const float> number;
#if defined(__CUDA_ARCH__)
  HD_INLINE void operator()(std::uint32_t j, Near<float>& near) const {
    near.w = __ldg(number.data + j);
  }
#elif !defined(__CUDACC__)
  HD_INLINE void operator()(const std::uint32_t* list, Near<Lanes>& near) const {
    LaneMask at;
    std::memcpy(&at, list, sizeof(at));
    near.w = gather(number.data, at);
  }
#endif
};
// or one or two packs.
template <int kPacks>
struct PacksBeside {
  View<const Float4> pack[kPacks];
#if defined(__CUDA_ARCH__)
  HD_INLINE void operator()(std::uint32_t j, Near<float>& near) const {
    near.put_second(packed(pack[0], j));
    if constexpr (kPacks > 1) near.put_third(packed(pack[1], j));
  }
#elif !defined(__CUDACC__)
  HD_INLINE void operator()(const std::uint32_t* list, Near<Lanes>& near) const {
    near.put_second(gather(pack[0].data, list));
    if constexpr (kPacks > 1) near.put_third(gather(pack[1].data, list));
  }
#endif
};

// Sums that are linear in the kept vectors, which Near has as x, y and z.
template <class Lists, class Beside, class Sum>
HD inline Sums<Sum::kSums> sum_kept(const Lists& lists, const KeptVectors& kept,
                                    const Beside& beside, int i, const Sum& sum) {
  Sums<Sum::kSums> result;
#if defined(__CUDA_ARCH__)
  float sums[Sum::kSums] = {};
  const auto add = [&](std::uint32_t j, Near<float> near) {
    beside(j, near);
    sum(near, sums);
  };
  const int count = lists.count(i);
  const std::uint32_t* list = lists.list(i);
  const uint4* row = reinterpret_cast<const uint4*>(list);
  auto at = static_cast<std::size_t>(list - lists.index.data);
  uint4 next = count > 0 ? __ldcs(row) : uint4{};
  int k = 0;
  for (; k + 4 <= count; k += 4, at += 4 * kWarp) {
    const uint4 j = next;
    const FourKept four(kept, at);
    row += kWarp;
    if (k + 4 < count) next = __ldcs(row);
    add(j.x, four.near<0>()), add(j.y, four.near<1>());
    add(j.z, four.near<2>()), add(j.w, four.near<3>());
  }
  if (k < count) {
    const FourKept four(kept, at);
    add(next.x, four.near<0>());
    if (k + 1 < count) add(next.y, four.near<1>());
    if (k + 2 < count) add(next.z, four.near<2>());
  }
  for (int n = 0; n < Sum::kSums; ++n) result.value[n] = (1.0f / kKeptUnits) * sums[n];
#elif defined(__CUDACC__)
  (void)lists, (void)kept, (void)beside, (void)i, (void)sum;  // never called there
#else
  Lanes sums[Sum::kSums] = {};
  const int count = lists.count(i);
  const std::uint32_t* list = lists.list(i);
  const auto first = static_cast<std::size_t>(list - lists.index.data);
  for (int k = 0; k < count; k += kLanes) {
    const std::size_t at = first + static_cast<std::size_t>(k);
    Near<Lanes> near{};
    near.x = load_kept(kept.x.data + at, count - k);
    near.y = load_kept(kept.y.data + at, count - k);
    near.z = load_kept(kept.z.data + at, count - k);
    beside(list + k, near);
    sum(near, sums);
  }
  for (int n = 0; n < Sum::kSums; ++n) result.value[n] = (1.0f / kKeptUnits) * sum_of(sums[n]);
#endif
  return result;
}

}  // inline namespace

}  // namespace barchan
