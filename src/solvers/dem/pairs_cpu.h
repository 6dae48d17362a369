// Contacts of pairs on a CPU, sixteen at once: the arithmetic of kernels.h over Lanes. Pairs lie
// one after the other, so their springs and results are loaded and stored whole; spheres are
// gathered cache line by cache line and turned in registers.
#pragma once

#include "compute/cpu.h"
#include "compute/lanes.h"
#include "solvers/dem/kernels.h"

namespace barchan::dem {

// LawTable for sixteen pairs.
struct LaneLaws : LawTable {
  BARCHAN_INLINE Constants<Lanes> between(const Lanes& a, const Lanes& b, const Lanes& m,
                                          const Lanes& R, Lanes& cohesion) const {
    // Of one material and size: the same for all
    if (materials == 1 && model.alike) {
      const PairLaw& law = laws[0];
      cohesion = spread<Lanes>(law.cohesion);
      return {{spread<Lanes>(law.k_r), spread<Lanes>(law.k_d)},
              spread<Lanes>(law.friction),
              spread<Lanes>(law.rolling)};
    }
    Constants<Lanes> all;
    for (int k = 0; k < kLanes; ++k) {
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
BARCHAN_INLINE SphereOf<Lanes> load_spheres(const Sphere* spheres, const std::uint32_t* s) {
  const auto* parts = reinterpret_cast<const Float4*>(spheres);
  std::uint32_t at[kLanes];
  for (int k = 0; k < kLanes; ++k) at[k] = 4 * s[k];
  const PointLanes x = gather(parts, at), low = gather(parts + 1, at), v = gather(parts + 2, at),
                   w = gather(parts + 3, at);
  return {
      {x.x, x.y, x.z}, {low.x, low.y, low.z}, {v.x, v.y, v.z}, {w.x, w.y, w.z}, x.w, low.w, v.w};
}

template <bool kHistory>
struct PushPairLanes {
  PushPairs<kHistory> one;
  LaneLaws table;

  void range(int begin, int end) const {
    for (int p = begin; p < end; p += kLanes) sixteen(p, end - p < kLanes ? end - p : kLanes);
  }
  void sixteen(int first, int count) const {
    const auto p = static_cast<std::size_t>(first);
    // Behind the last pair the first one again: its results are not stored.
    std::uint32_t a[kLanes], b[kLanes];
    for (int k = 0; k < kLanes; ++k) {
      const std::size_t at = p + static_cast<std::size_t>(k < count ? k : 0);
      a[k] = one.lists.pair_first[at];
      b[k] = one.lists.pair_other[at];
    }
    Vector3<Lanes> xi{};
    if constexpr (kHistory) {
      xi = {load_first(one.shear.x + p, count), load_first(one.shear.y + p, count),
            load_first(one.shear.z + p, count)};
    }
    const PairPush<Lanes> push = pair_push<kHistory, Lanes>(
        table, load_spheres(one.spheres.data, a), load_spheres(one.spheres.data, b), one.dt, xi);
    if constexpr (kHistory) store(one.next_shear, p, xi, count);
    for (int k = 0; k < count; ++k) {
      const std::size_t at = p + static_cast<std::size_t>(k);
      one.force[at] = {push.force.x[k], push.force.y[k], push.force.z[k], push.overlap[k]};
      one.turn[at] = {push.turn.x[k], push.turn.y[k], push.turn.z[k], 0.0f};
    }
    if (table.model.rolls) store(one.roll, p, push.roll, count);
  }
  static void store(const View3<float>& to, std::size_t p, const Vector3<Lanes>& v, int count) {
    store_first(to.x + p, v.x, count);
    store_first(to.y + p, v.y, count);
    store_first(to.z + p, v.z, count);
  }
};

template <bool kHistory>
void push_pairs(Cpu& device, std::int64_t pairs, const PushPairs<kHistory>& kernel) {
  constexpr std::int64_t kBlock = 4096;
  for_each_range(device, "contacts", pairs, kBlock,
                 PushPairLanes<kHistory>{kernel, {kernel.table}});
}

}  // namespace barchan::dem
