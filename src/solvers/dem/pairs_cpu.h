// Contacts of pairs on a CPU, eight at once: the arithmetic of pair_kernels.h over Eight.
//
// Spheres are taken in blocks. Most pairs are of two spheres of one block, whose sums stay in the
// cache; only what a block does to later ones is written down pair by pair. A pair stands in a list
// for many steps and touches in few of them: eight that do are gathered before any is worked on.
// Blocks depend on nothing but the number of spheres, so sums do not depend on the threads.
#pragma once

#include <algorithm>
#include <bit>

#include "compute/cpu.h"
#include "compute/eight.h"
#include "solvers/dem/pair_kernels.h"

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

// Pairs that touch and wait until there are eight of them: number, first and second sphere.
struct WaitingPairs {
  std::uint32_t p[2 * kEight], a[2 * kEight], b[2 * kEight];
  int count = 0;

  BARCHAN_INLINE void add(std::uint32_t pair, std::uint32_t first, std::uint32_t second) {
    p[count] = pair;
    a[count] = first;
    b[count] = second;
    ++count;
  }
  // The first eight are done.
  BARCHAN_INLINE void advance() {
    count = std::max(count - kEight, 0);
    for (int k = 0; k < count; ++k) {
      p[k] = p[k + kEight];
      a[k] = a[k + kEight];
      b[k] = b[k + kEight];
    }
  }
  // The first one again in the lanes that are left over.
  BARCHAN_INLINE void fill_up() {
    for (int k = count; k < kEight; ++k) {
      p[k] = p[0];
      a[k] = a[0];
      b[k] = b[0];
    }
  }
};

template <bool kHistory>
struct PushBlocks {
  PushPairs<kHistory> one;
  EightLaws table;
  BlockSums sums;  // out

  // A block of spheres.
  void range(int from, int to) const {
    const auto begin = static_cast<std::uint32_t>(from), end = static_cast<std::uint32_t>(to);
    std::fill(sums.force.data + begin, sums.force.data + end, Float4{});
    std::fill(sums.torque.data + begin, sums.torque.data + end, Float4{});
    const std::uint32_t last = one.lists.pair_start[end];
    WaitingPairs waiting;
    float deepest = 0.0f;
    for (std::uint32_t p = one.lists.pair_start[begin]; p < last; p += kEight) {
      look_at(p, std::min(last - p, std::uint32_t{kEight}), end, waiting);
      if (waiting.count >= kEight) push(waiting, end, deepest);
    }
    if (waiting.count > 0) push(waiting, end, deepest);
    sums.deepest[begin >> sums.bits] = deepest;
  }

  // The next pairs: who touches, or may, joins those that wait; the others forget.
  BARCHAN_INLINE void look_at(std::uint32_t p, std::uint32_t count, std::uint32_t end,
                              WaitingPairs& waiting) const {
    std::uint32_t a[kEight], b[kEight];
    for (std::uint32_t k = 0; k < kEight; ++k) {
      const std::uint32_t at = p + (k < count ? k : 0);
      a[k] = one.lists.pair_first[at];
      b[k] = one.lists.pair_other[at];
    }
    const unsigned all = (1u << count) - 1u;
    const unsigned near = table.model.coheres ? all : (all & near_each_other(a, b));
    for (unsigned left = near; left != 0; left &= left - 1u) {
      const auto k = static_cast<std::uint32_t>(std::countr_zero(left));
      waiting.add(p + k, a[k], b[k]);
    }
    for (unsigned left = all & ~near; left != 0; left &= left - 1u) {
      const auto k = static_cast<std::uint32_t>(std::countr_zero(left));
      if (b[k] >= end) one.force[p + k] = {0.0f, 0.0f, 0.0f, -1.0f};
    }
    if constexpr (kHistory) {
      const auto lanes = static_cast<int>(count);
      for (float* to : {one.next_shear.x, one.next_shear.y, one.next_shear.z}) {
        store_eight(to + p, Eight{}, lanes);
      }
    }
  }
  // By the first of the two floats of their positions: some that only nearly touch are among them.
  BARCHAN_INLINE unsigned near_each_other(const std::uint32_t* a, const std::uint32_t* b) const {
    constexpr float kRounding = 4e-7f;  // of a coordinate
    const auto* parts = reinterpret_cast<const Float4*>(one.spheres.data);
    const EightPoints A = gather_eight(parts, 4, a), B = gather_eight(parts, 4, b);
    const Eight x = B.x - A.x, y = B.y - A.y, z = B.z - A.z;
    const Eight size = absolute(A.x) + absolute(A.y) + absolute(A.z);
    const Eight reach = (A.w + B.w) * 1.00001f + kRounding * size;
    return bits_of(x * x + y * y + z * z < reach * reach);
  }

  void push(WaitingPairs& waiting, std::uint32_t end, float& deepest) const {
    const int count = std::min(waiting.count, kEight);
    waiting.fill_up();
    const SphereOf<Eight> A = load_spheres(one.spheres.data, waiting.a);
    const SphereOf<Eight> B = load_spheres(one.spheres.data, waiting.b);
    Vector3<Eight> xi{};
    if constexpr (kHistory) {
      EightMask at;
      for (int k = 0; k < kEight; ++k) at[k] = static_cast<int>(waiting.p[k]);
      xi = {gather(one.shear.x, at), gather(one.shear.y, at), gather(one.shear.z, at)};
    }
    const PairPush<Eight> push = pair_push<kHistory, Eight>(table, A, B, one.dt, xi);
    if constexpr (kHistory) {
      for (int k = 0; k < count; ++k) {
        one.next_shear[waiting.p[k]] = Vec3(xi.x[k], xi.y[k], xi.z[k]);
      }
    }
    const Eight one_each = choose_number(push.overlap > 0.0f, spread<Eight>(1.0f), Eight{});
    const Vector3<Eight> T_A = torque(A.radius, push, 1.0f), T_B = torque(B.radius, push, -1.0f);
    add_points(sums.force.data, waiting.a, {push.force.x, push.force.y, push.force.z, one_each},
               count);
    add_points(sums.torque.data, waiting.a, {T_A.x, T_A.y, T_A.z, push.stored}, count);
    // Of the second spheres those of this block; the others will read it
    Float4 force[kEight], turn[kEight];
    store_points(force, {-push.force.x, -push.force.y, -push.force.z, one_each}, kEight);
    store_points(turn, {T_B.x, T_B.y, T_B.z, Eight{}}, kEight);
    for (int k = 0; k < count; ++k) {
      const std::uint32_t b = waiting.b[k];
      if (b < end) {
        add(sums.force[b], force[k]);
        add(sums.torque[b], turn[k]);
      } else {
        write_down(waiting.p[k], push, k);
      }
    }
    const Eight smaller = choose_number(A.radius < B.radius, A.radius, B.radius);
    deepest = std::max(deepest, largest_of(push.overlap / smaller));
    waiting.advance();
  }
  // About a sphere's centre; rolling resistance is opposite on the second one.
  BARCHAN_INLINE Vector3<Eight> torque(const Eight& R, const PairPush<Eight>& push,
                                       float sign) const {
    const Eight arm = R - 0.5f * push.overlap;
    const Vector3<Eight> by_shear = arm * push.turn;
    return table.model.rolls ? by_shear + spread<Eight>(sign) * push.roll : by_shear;
  }
  BARCHAN_INLINE static void add(Float4& to, const Float4& more) {
    to = {to.x + more.x, to.y + more.y, to.z + more.z, to.w + more.w};
  }
  BARCHAN_INLINE void write_down(std::uint32_t p, const PairPush<Eight>& push, int k) const {
    one.force[p] = {push.force.x[k], push.force.y[k], push.force.z[k], push.overlap[k]};
    one.turn[p] = {push.turn.x[k], push.turn.y[k], push.turn.z[k], 0.0f};
    if (table.model.rolls) {
      one.roll[p] = Vec3(push.roll.x[k], push.roll.y[k], push.roll.z[k]);
    }
  }
};

// Blocks whose sums fit into a core's cache, and at least 32 of them where there are many spheres.
inline std::uint32_t block_bits(const Cpu&, std::size_t spheres) {
  constexpr std::size_t kFewest = 512, kMost = 8192;
  return static_cast<std::uint32_t>(
      std::bit_width(std::clamp(std::bit_floor(spheres / 32), kFewest, kMost)) - 1);
}

template <bool kHistory>
void push_pairs(Cpu& device, const PushPairs<kHistory>& kernel, const BlockSums& sums) {
  for_each_range(device, "contacts", static_cast<std::int64_t>(kernel.spheres.size),
                 std::int64_t{1} << sums.bits, PushBlocks<kHistory>{kernel, {kernel.table}, sums});
}

}  // namespace barchan::dem
