// Contacts of pairs on a CPU, eight at once: the arithmetic of kernels.h over Eight. Pairs lie
// one after the other, so their springs and results are loaded and stored whole; spheres are
// gathered cache line by cache line and turned in registers.
#pragma once

#include "compute/cpu.h"
#include "compute/eight.h"
#include "solvers/dem/kernels.h"

namespace barchan::dem {

// LawTable for eight pairs.
struct EightLaws : LawTable {
  BARCHAN_INLINE static bool all_like_first(const Eight& a, const Eight& b) {
    float off = 0.0f;
    for (int k = 1; k < kEight; ++k) off += std::abs(a[k] - a[0]) + std::abs(b[k] - b[0]);
    return off == 0.0f;
  }
  BARCHAN_INLINE Constants<Eight> between(const Eight& a, const Eight& b, const Eight& m,
                                          const Eight& R, Eight& cohesion) const {
    // Of one material and size: the same for all eight
    if (model.alike && (kinds == 1 || all_like_first(a, b))) {
      const PairLaw& law = laws[entry_of(a[0], b[0])];
      cohesion = spread<Eight>(law.cohesion);
      return {{spread<Eight>(law.k_r), spread<Eight>(law.k_d)},
              spread<Eight>(law.friction),
              spread<Eight>(law.rolling)};
    }
    Constants<Eight> all;
    for (int k = 0; k < kEight; ++k) {
      float pull = 0.0f;
      const Constants<float> law = LawTable::between(a[k], b[k], m[k], R[k], pull);
      all.k.k_r[k] = law.k.k_r;
      all.k.k_d[k] = law.k.k_d;
      all.friction[k] = law.friction;
      all.rolling[k] = law.rolling;
      cohesion[k] = pull;
    }
    return all;
  }
};

// Sphere s of each lane.
BARCHAN_INLINE SphereOf<Eight> load_spheres(const Sphere* spheres, const std::uint32_t* s) {
  const auto* parts = reinterpret_cast<const Float4*>(spheres);
  const EightPoints x = gather_eight(parts, 4, s), low = gather_eight(parts + 1, 4, s),
                    v = gather_eight(parts + 2, 4, s), w = gather_eight(parts + 3, 4, s);
  return {
      {x.x, x.y, x.z}, {low.x, low.y, low.z}, {v.x, v.y, v.z}, {w.x, w.y, w.z}, x.w, low.w, v.w};
}

template <bool kHistory>
struct PushEightPairs {
  PushPairs<kHistory> one;
  EightLaws table;

  void range(int begin, int end) const {
    for (int p = begin; p < end; p += kEight) at_once(p, end - p < kEight ? end - p : kEight);
  }
  void at_once(int first, int count) const {
    const auto p = static_cast<std::size_t>(first);
    // Behind the last pair the first one again: its results are not stored.
    std::uint32_t a[kEight], b[kEight];
    for (int k = 0; k < kEight; ++k) {
      const std::size_t at = p + static_cast<std::size_t>(k < count ? k : 0);
      a[k] = one.lists.pair_first[at];
      b[k] = one.lists.pair_other[at];
    }
    Vector3<Eight> xi{};
    if constexpr (kHistory) {
      xi = {load_eight(one.shear.x + p, count), load_eight(one.shear.y + p, count),
            load_eight(one.shear.z + p, count)};
    }
    const PairPush<Eight> push = pair_push<kHistory, Eight>(
        table, load_spheres(one.spheres.data, a), load_spheres(one.spheres.data, b), one.dt, xi);
    if constexpr (kHistory) store(one.next_shear, p, xi, count);
    store_points(one.force.data + p, {push.force.x, push.force.y, push.force.z, push.overlap},
                 count);
    store_points(one.turn.data + p, {push.turn.x, push.turn.y, push.turn.z, push.stored}, count);
    if (table.model.rolls) store(one.roll, p, push.roll, count);
  }
  static void store(const View3<float>& to, std::size_t p, const Vector3<Eight>& v, int count) {
    store_eight(to.x + p, v.x, count);
    store_eight(to.y + p, v.y, count);
    store_eight(to.z + p, v.z, count);
  }
};

template <bool kHistory>
void push_pairs(Cpu& device, std::int64_t pairs, const PushPairs<kHistory>& kernel) {
  constexpr std::int64_t kBlock = 4096;
  for_each_range(device, "contacts", pairs, kBlock,
                 PushEightPairs<kHistory>{kernel, {kernel.table}});
}

}  // namespace barchan::dem
