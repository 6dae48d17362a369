// Sums over the neighbours of a particle: the inner loop of every particle method.
//
// What is summed is a struct
//     static constexpr int kSums = 4;
//     template <class T> HD void operator()(const Near<T>& j, T* sums) const;
// whose arithmetic runs on single numbers (a GPU's thread) or on 8 or 16 neighbours at once (CPU).
// It must add nothing for a neighbour far beyond the support: empty lanes are put there.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

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

  template <class Pack>
  HD_INLINE void put_second(const Pack& u) {
    ux = u.x, uy = u.y;
    if constexpr (requires { u.z; }) uz = u.z, uw = u.w;
  }
  template <class Pack>
  HD_INLINE void put_third(const Pack& s) {
    sx = s.x, sy = s.y;
    if constexpr (requires { s.z; }) sz = s.z, sw = s.w;
  }
};

HD inline Near<float> near_of(const Vec3& p, const Float4& q) {
  Near<float> near{};
  near.x = p.x - q.x, near.y = p.y - q.y, near.z = p.z - q.z, near.w = q.w;
  return near;
}

// What is read of each neighbour: its packed point, and up to two packs more, each of four numbers
// or of two.
struct NoPack {};
template <class Second = NoPack, class Third = NoPack>
struct Packs {
  View<const Float4> points;
  View<const Second> second;
  View<const Third> third;
  static constexpr bool kTwo = !std::is_same_v<Second, NoPack>;
  static constexpr bool kThree = !std::is_same_v<Third, NoPack>;
#if defined(__CUDA_ARCH__)
  HD_INLINE Near<float> operator()(const Vec3& p, std::uint32_t j) const {
    Near<float> near = near_of(p, packed(points, j));
    if constexpr (kTwo) near.put_second(packed(second, j));
    if constexpr (kThree) near.put_third(packed(third, j));
    return near;
  }
#elif !defined(__CUDACC__)
  // The first `count` of them; empty lanes far away.
  HD_INLINE Near<Lanes> operator()(const Vec3& p, const std::uint32_t* list, int count) const {
    constexpr float kFar = 1e18f;  // its square is still finite
    const PointLanes q = gather(points.data, list);
    Near<Lanes> near{};
    near.x = p.x - q.x, near.y = p.y - q.y, near.z = p.z - q.z, near.w = q.w;
    near.x = keep_first(near.x, count, kFar);
    if constexpr (kTwo) near.put_second(gather(second.data, list));
    if constexpr (kThree) near.put_third(gather(third.data, list));
    return near;
  }
#endif
};

template <int N>
struct Sums {
  float value[N];
  HD float operator[](int k) const { return value[k]; }
  HD Vec3 vector(int k) const { return {value[k], value[k + 1], value[k + 2]}; }
};

// do_it(k) for each k below N, known when this is compiled: what an array has is then kept in
// registers.
template <int N, class Do>
HD_INLINE inline void each(const Do& do_it) {
  [&]<int... k>(std::integer_sequence<int, k...>) {
    (do_it(std::integral_constant<int, k>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

// `lists` is a Neighbours (spatial/neighbours.h). On a GPU so many threads share the list: each
// takes every so manieth four of it, and all get the sums.
template <int kThreads, class Lists, class ThePacks, class Sum>
HD_INLINE inline Sums<Sum::kSums> sum_packs(const Lists& lists, const ThePacks& packs, int i,
                                            const Vec3& p, const Sum& sum) {
  Sums<Sum::kSums> result;
#if defined(__CUDA_ARCH__)
  float sums[Sum::kSums] = {};
  const auto add = [&](std::uint32_t j) { sum(packs(p, j), sums); };
  // Four neighbours at a time, while the next four indices are on their way.
  constexpr int kStep = 4 * kThreads;
  const int mine = static_cast<int>(threadIdx.x) % kThreads, count = lists.count(i);
  const uint4* row = reinterpret_cast<const uint4*>(lists.list(i)) + mine * kWarp;
  int k = 4 * mine;
  uint4 next = k < count ? __ldcs(row) : uint4{};
  for (; k + 4 <= count; k += kStep) {
    const uint4 j = next;
    row += kThreads * kWarp;
    if (k + kStep < count) next = __ldcs(row);
    add(j.x), add(j.y), add(j.z), add(j.w);
  }
  if (k < count) add(next.x);
  if (k + 1 < count) add(next.y);
  if (k + 2 < count) add(next.z);
  const unsigned group = ((1u << kThreads) - 1) << (threadIdx.x % kWarp / kThreads * kThreads);
  for (int other = kThreads / 2; other > 0; other /= 2) {
    for (int n = 0; n < Sum::kSums; ++n) sums[n] += __shfl_xor_sync(group, sums[n], other);
  }
  for (int n = 0; n < Sum::kSums; ++n) result.value[n] = sums[n];
#elif defined(__CUDACC__)
  (void)lists, (void)packs, (void)i, (void)p, (void)sum;  // never called there
#else
  Lanes sums[Sum::kSums];
  each<Sum::kSums>([&](auto k) { sums[k] = Lanes{}; });
  const int count = lists.count(i);
  const std::uint32_t* list = lists.list(i);
  for (int k = 0; k < count; k += kLanes) sum(packs(p, list + k, count - k), sums);
  each<Sum::kSums>([&](auto k) { result.value[k] = sum_of(sums[k]); });
#endif
  return result;
}

// Whether it is so for any particle of the warp, which then goes one way; on a CPU for this one.
HD inline bool any_of_warp(bool mine) {
#if defined(__CUDA_ARCH__)
  return __any_sync(__activemask(), mine);
#else
  return mine;
#endif
}

template <int kThreads = 1, class Lists, class Sum>
HD inline auto sum_pairs(const Lists& lists, const View<const Float4>& points, int i, const Vec3& p,
                         const Sum& sum) {
  return sum_packs<kThreads>(lists, Packs<>{points, {}, {}}, i, p, sum);
}
template <int kThreads = 1, class Lists, class Second, class Sum>
HD inline auto sum_pairs(const Lists& lists, const View<const Float4>& points,
                         const View<const Second>& more, int i, const Vec3& p, const Sum& sum) {
  return sum_packs<kThreads>(lists, Packs<Second>{points, more, {}}, i, p, sum);
}
template <int kThreads = 1, class Lists, class Second, class Third, class Sum>
HD inline auto sum_pairs(const Lists& lists, const View<const Float4>& points,
                         const View<const Second>& more, const View<const Third>& third, int i,
                         const Vec3& p, const Sum& sum) {
  return sum_packs<kThreads>(lists, Packs<Second, Third>{points, more, third}, i, p, sum);
}

// The threads of a GPU that go through a particle's list together.
template <int kThreads>
struct Team {
  static constexpr int kSize = kThreads;
  // One of them writes what came out.
  HD static bool leads() {
#if defined(__CUDA_ARCH__)
    return threadIdx.x % kThreads == 0;
#else
    return true;
#endif
  }
};

template <class Kernel, class Team>
struct ByTeam {
  Kernel kernel;
  HD_INLINE auto operator()(int item) const { return kernel(item / Team::kSize, Team{}); }
};
template <class Op, class Kernel, class Team>
struct SumByTeam {
  Kernel kernel;
  HD_INLINE auto operator()(int item) const {
    const auto mine = kernel(item / Team::kSize, Team{});
    return Team::leads() ? mine : Op::identity();
  }
};

// As for_each and reduce_to, for kernels
//     template <class Team> HD auto operator()(int i, Team) const
// that sum over the lists of all particles. Where these are few a GPU waits for loads most of the
// time, and two threads share a list; where they are many its load unit is the limit.
inline constexpr std::int64_t kFewLists = 1 << 16;
template <class Launch>
void with_team([[maybe_unused]] std::int64_t n, const Launch& launch) {
#if defined(__CUDACC__)
  if (n <= kFewLists) return launch(Team<2>{});
#endif
  launch(Team<1>{});
}
template <class Device, class Kernel>
void for_each_list(Device& device, const char* label, std::int64_t n, const Kernel& kernel) {
  with_team(n, [&](auto team) {
    for_each(device, label, team.kSize * n, ByTeam<Kernel, decltype(team)>{kernel});
  });
}
// The same for those at walls, whose kernels are long chains of loads: four threads share a list,
// or two where there are many.
inline constexpr std::int64_t kManyAtWalls = 1 << 14;
template <class Launch>
void with_wall_team([[maybe_unused]] std::int64_t n, const Launch& launch) {
#if defined(__CUDACC__)
  if (n > kManyAtWalls) return launch(Team<2>{});
  launch(Team<4>{});
#else
  launch(Team<1>{});
#endif
}
template <class Device, class Kernel>
void for_each_at_walls(Device& device, const char* label, std::int64_t n, const Kernel& kernel) {
  with_wall_team(n, [&](auto team) {
    for_each(device, label, team.kSize * n, ByTeam<Kernel, decltype(team)>{kernel});
  });
}
// Those at walls, and beside them what does not need them.
template <class Device, class AtWalls, class Kernel>
void for_each_at_walls_and(Device& device, const char* label, std::int64_t n,
                           const AtWalls& at_walls, std::int64_t m, const Kernel& kernel) {
  with_wall_team(n, [&](auto team) {
    for_both(device, label, team.kSize * n, ByTeam<AtWalls, decltype(team)>{at_walls}, m, kernel);
  });
}
template <class Op, class Device, class T, class Kernel>
void reduce_lists_to(Device& device, const char* label, std::int64_t n, const Kernel& kernel,
                     T* result) {
  with_team(n, [&](auto team) {
    reduce_to<Op>(device, label, team.kSize * n, SumByTeam<Op, Kernel, decltype(team)>{kernel},
                  result);
  });
}

}  // inline namespace

}  // namespace barchan
