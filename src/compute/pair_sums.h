// Sums over the neighbours of a particle: the inner loop of every particle method.
//
// What is summed is a struct
//     static constexpr int kSums = 4;
//     template <class T> HD void operator()(const Near<T>& j, T* sums) const;
// whose arithmetic runs on single numbers (a GPU's thread) or on 8 or 16 neighbours at once (CPU).
// It must add nothing for a neighbour far beyond the support: empty lanes are put there.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/interleave.h"
#include "compute/lanes.h"
#include "compute/view.h"
#include "math/vec3.h"

namespace barchan {

// One name for two programs: what g++ makes of it must not be taken for what nvcc does.
#if defined(__CUDACC__)
inline namespace for_cuda {
#else
inline namespace for_cpu {
#endif

// Neighbour j as particle i sees it.
template <class T>
struct Near {
  T x, y, z;         // x_i - x_j [m]
  T w;               // the fourth number packed with x_j
  T ux, uy, uz, uw;  // of a second packed array, where there is one
  T sx, sy, sz, sw;  // and of a third
};

HD inline Near<float> near_of(const Vec3& p, const Float4& q, const Float4& u,
                              const Float4& s = {}) {
  return {p.x - q.x, p.y - q.y, p.z - q.z, q.w, u.x, u.y, u.z, u.w, s.x, s.y, s.z, s.w};
}

template <int N>
struct Sums {
  float value[N];
  HD float operator[](int k) const { return value[k]; }
  HD Vec3 vector(int k) const { return {value[k], value[k + 1], value[k + 2]}; }
};

// `lists` is a Neighbours (spatial/neighbours.h); `more` and `third` may be empty.
template <class Lists, class Sum>
HD inline Sums<Sum::kSums> sum_pairs(const Lists& lists, const View<const Float4>& points,
                                     const View<const Float4>& more,
                                     const View<const Float4>& third, int i, const Vec3& p,
                                     const Sum& sum) {
  Sums<Sum::kSums> result;
#if defined(__CUDA_ARCH__)
  float sums[Sum::kSums] = {};
  const auto add = [&](std::uint32_t j) {
    sum(near_of(p, packed(points, j), more.size > 0 ? packed(more, j) : Float4{},
                third.size > 0 ? packed(third, j) : Float4{}),
        sums);
  };
  // Four neighbours at a time, while the next four indices are on their way.
  const int count = lists.count(i);
  const uint4* row = reinterpret_cast<const uint4*>(lists.list(i));
  uint4 next = count > 0 ? __ldcs(row) : uint4{};
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const uint4 j = next;
    row += kWarp;
    if (k + 4 < count) next = __ldcs(row);
    add(j.x), add(j.y), add(j.z), add(j.w);
  }
  if (k < count) add(next.x);
  if (k + 1 < count) add(next.y);
  if (k + 2 < count) add(next.z);
  for (int n = 0; n < Sum::kSums; ++n) result.value[n] = sums[n];
#elif defined(__CUDACC__)
  (void)lists, (void)points, (void)more, (void)third;  // never called there
  (void)i, (void)p, (void)sum;
#else
  constexpr float kFar = 1e18f;  // its square is still finite
  Lanes sums[Sum::kSums] = {};
  const int count = lists.count(i);
  const std::uint32_t* list = lists.list(i);
  for (int k = 0; k < count; k += kLanes) {
    const PointLanes q = gather(points.data, list + k);
    Near<Lanes> near{};
    near.x = p.x - q.x, near.y = p.y - q.y, near.z = p.z - q.z, near.w = q.w;
    near.x = keep_first(near.x, count - k, kFar);
    if (more.size > 0) {
      const PointLanes u = gather(more.data, list + k);
      near.ux = u.x, near.uy = u.y, near.uz = u.z, near.uw = u.w;
    }
    if (third.size > 0) {
      const PointLanes s = gather(third.data, list + k);
      near.sx = s.x, near.sy = s.y, near.sz = s.z, near.sw = s.w;
    }
    sum(near, sums);
  }
  for (int k = 0; k < Sum::kSums; ++k) result.value[k] = sum_of(sums[k]);
#endif
  return result;
}

template <class Lists, class Sum>
HD inline auto sum_pairs(const Lists& lists, const View<const Float4>& points,
                         const View<const Float4>& more, int i, const Vec3& p, const Sum& sum) {
  return sum_pairs(lists, points, more, View<const Float4>{}, i, p, sum);
}
template <class Lists, class Sum>
HD inline auto sum_pairs(const Lists& lists, const View<const Float4>& points, int i, const Vec3& p,
                         const Sum& sum) {
  return sum_pairs(lists, points, View<const Float4>{}, i, p, sum);
}

// On a GPU eight threads share the list of one particle: for passes over few particles, which would
// otherwise be a long chain of loads each. All of them get the sums. A launch has split<Device>()
// items a particle.
#if defined(__CUDACC__)
inline constexpr int kSplit = 8;
#else
inline constexpr int kSplit = 1;
#endif
template <class Device>
constexpr std::int64_t split() {
  return kSplit;
}

template <class Lists, class Sum>
HD inline Sums<Sum::kSums> sum_pairs_split(const Lists& lists, const View<const Float4>& points,
                                           const View<const Float4>& more, int i, const Vec3& p,
                                           const Sum& sum) {
#if defined(__CUDA_ARCH__)
  float sums[Sum::kSums] = {};
  const int count = lists.count(i);
  // Four at a time, none of whose loads waits for another's.
  constexpr int kAtOnce = 4;
  for (int k = static_cast<int>(threadIdx.x) % kSplit; k < count; k += kAtOnce * kSplit) {
    std::uint32_t j[kAtOnce];
    Float4 q[kAtOnce], u[kAtOnce];
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      const int at = k + n * kSplit;
      j[n] = lists(i, at < count ? at : k);
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      q[n] = packed(points, j[n]);
      u[n] = more.size > 0 ? packed(more, j[n]) : Float4{};
    }
#pragma unroll
    for (int n = 0; n < kAtOnce; ++n) {
      if (k + n * kSplit < count) sum(near_of(p, q[n], u[n]), sums);
    }
  }
  Sums<Sum::kSums> result;
  const unsigned group = 0xffu << (threadIdx.x % 32 / kSplit * kSplit);
  for (int k = 0; k < Sum::kSums; ++k) {
    float all = sums[k];
    for (int step = kSplit / 2; step > 0; step /= 2) all += __shfl_xor_sync(group, all, step);
    result.value[k] = all;
  }
  return result;
#else
  return sum_pairs(lists, points, more, i, p, sum);
#endif
}

}  // inline namespace

}  // namespace barchan
