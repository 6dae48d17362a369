// Motion of plain spheres on a CPU, eight at once: the arithmetic of Drift and Kick
// (motion_kernels.h). Rows and spheres have the same numbers there. Compound grains go one at a
// time.
#pragma once

#include <algorithm>
#include <vector>

#include "compute/cpu.h"
#include "compute/eight.h"
#include "solvers/dem/motion_kernels.h"

namespace barchan::dem {

inline constexpr std::int64_t kMotionBlock = 2048;

BARCHAN_INLINE Vector3<Eight> load_three(const View3<const float>& from, int at, int count) {
  return {load_eight(from.x + at, count), load_eight(from.y + at, count),
          load_eight(from.z + at, count)};
}
BARCHAN_INLINE void store_three(const View3<float>& to, int at, const Vector3<Eight>& a,
                                int count) {
  store_eight(to.x + at, a.x, count);
  store_eight(to.y + at, a.y, count);
  store_eight(to.z + at, a.z, count);
}
BARCHAN_INLINE Vector3<Eight> spread_three(const Vec3& a) {
  return {spread<Eight>(a.x), spread<Eight>(a.y), spread<Eight>(a.z)};
}
// Moments of eight spheres; behind the last one, those of the last.
BARCHAN_INLINE Eight inertia_of_eight(const View<const GrainType>& types,
                                      const std::uint8_t* material, const Eight& mass,
                                      const Eight& radius, int count) {
  Eight share = spread<Eight>(types[material[0]].inertia.x);
  if (types.size > 1) {
    for (int k = 1; k < count; ++k) share[k] = types[material[k]].inertia.x;
  }
  return share * mass * radius * radius;
}
// Lanes that hold nobody have a mass and a size that can be divided by.
BARCHAN_INLINE Eight load_size(const float* from, int count) {
  return keep_first(load_eight(from, count), count, 1.0f);
}

struct DriftEight {
  Drift one;

  void range(int from, int to) const {
    for (int i = from; i < to; i += kEight) drift(i, std::min(to - i, kEight));
  }
  BARCHAN_INLINE void drift(int i, int count) const {
    const Eight m = load_size(one.mass.data + i, count), r = load_size(one.scale.data + i, count);
    const Eight half = spread<Eight>(0.5f * one.dt), step = spread<Eight>(one.dt);
    const Vector3<Eight> v = load_three(one.v, i, count) +
                             spread_three((0.5f * one.dt) * one.gravity) +
                             (half / m) * load_three(one.force, i, count);
    Vector3<Eight> low;
    const Vector3<Eight> more = load_three(one.low, i, count) + step * v;
    const Vector3<Eight> at = load_three(one.x, i, count);
    const Vector3<Eight> x = {two_sum(at.x, more.x, low.x), two_sum(at.y, more.y, low.y),
                              two_sum(at.z, more.z, low.z)};
    const Eight I = inertia_of_eight(one.types, one.material.data + i, m, r, count);
    const Vector3<Eight> w =
        load_three(one.w, i, count) + (half / I) * load_three(one.torque, i, count);
    store_three(one.next_x, i, x, count);
    store_three(one.next_low, i, low, count);
    store_three(one.next_v, i, v, count);
    store_three(one.next_w, i, w, count);
    if (one.place.spheres.data == nullptr) return;
    Eight material{}, row{};
    for (int k = 0; k < count; ++k) material[k] = static_cast<float>(one.material.data[i + k]);
    const EightMask rows = EightMask{0, 1, 2, 3, 4, 5, 6, 7} + i;
    __builtin_memcpy(&row, &rows, sizeof(row));
    auto* parts = reinterpret_cast<Float4*>(one.place.spheres.data + i);
    store_part(parts, {x.x, x.y, x.z, r}, count);
    store_part(parts + 1, {low.x, low.y, low.z, m}, count);
    store_part(parts + 2, {v.x, v.y, v.z, material}, count);
    store_part(parts + 3, {w.x, w.y, w.z, row}, count);
  }
  // One of the four parts of eight spheres.
  BARCHAN_INLINE static void store_part(Float4* to, const EightPoints& part, int count) {
    Float4 rows[kEight];
    store_points(rows, part, kEight);
    for (int k = 0; k < count; ++k) to[4 * k] = rows[k];
  }
};

struct KickEight {
  Kick one;
  View<Summary> parts;  // out, of each block

  void range(int from, int to) const {
    Sums sums{};
    for (int i = from; i < to; i += kEight) kick(i, std::min(to - i, kEight), sums);
    Summary all;
    all.vitals = {largest_of(sums.speed2), sums.first_bad};
    all.deepest = sums.deepest;
    all.contacts = static_cast<std::uint32_t>(sum_of(sums.contacts));
    all.most = static_cast<std::uint32_t>(largest_of(sums.most));
    all.ahead = std::sqrt(largest_of(sums.ahead2));
    all.pace = std::sqrt(largest_of(sums.pace2));
    parts[static_cast<std::size_t>(from / kMotionBlock)] = all;
  }

 private:
  struct Sums {
    Eight speed2, contacts, most, ahead2, pace2;  // the squares of what Summary has
    float deepest = 0.0f;
    std::uint32_t first_bad = ~0u;
  };
  BARCHAN_INLINE static Eight larger(const Eight& a, const Eight& b) { return a > b ? a : b; }

  BARCHAN_INLINE void kick(int i, int count, Sums& sums) const {
    Vector3<Eight> F, T;
    Eight contacts;
    load_forces(i, count, F, T, contacts, sums.deepest);
    store_three(one.force, i, F, count);
    store_three(one.torque, i, T, count);
    const Eight m = load_size(one.mass.data + i, count), r = load_size(one.scale.data + i, count);
    const Eight I = inertia_of_eight(one.grains.types, one.material.data + i, m, r, count);
    const Eight half = spread<Eight>(0.5f * one.dt), next = spread<Eight>(0.5f * one.next_dt);
    const Vector3<Eight> v =
        load_three(one.v, i, count) + spread_three((0.5f * one.dt) * one.gravity) + (half / m) * F;
    store_three(one.v, i, v, count);
    store_three(one.w, i, load_three(one.w, i, count) + (half / I) * T, count);
    const Vector3<Eight> x = load_three(one.x, i, count);
    const Eight speed2 = dot(v, v);
    look_for_bad(i, count, x, speed2, sums);
    // Where the next drift goes; lanes that hold nobody go nowhere.
    Vector3<Eight> u = v + spread_three((0.5f * one.next_dt) * one.gravity) + (next / m) * F;
    const Vector3<Eight> way =
        (x - load_three(one.listed, i, count)) + spread<Eight>(one.next_dt) * u;
    sums.contacts += contacts;
    sums.most = larger(contacts, sums.most);
    sums.speed2 = larger(keep_first(speed2, count, 0.0f), sums.speed2);
    sums.ahead2 = larger(keep_first(dot(way, way), count, 0.0f), sums.ahead2);
    sums.pace2 = larger(keep_first(dot(u, u), count, 0.0f), sums.pace2);
  }
  // What blocks have summed, and for the few that have more, all of it.
  BARCHAN_INLINE void load_forces(int i, int count, Vector3<Eight>& F, Vector3<Eight>& T,
                                  Eight& contacts, float& deepest) const {
    const SphereForces& forces = one.forces;
    const auto first = static_cast<std::uint32_t>(i);
    std::uint32_t at[kEight];
    for (int k = 0; k < kEight; ++k)
      at[k] = first + static_cast<std::uint32_t>(std::min(k, count - 1));
    const EightPoints f = gather_eight(forces.blocks.force.data, 1, at);
    const EightPoints t = gather_eight(forces.blocks.torque.data, 1, at);
    F = {f.x, f.y, f.z};
    T = {t.x, t.y, t.z};
    contacts = keep_first(f.w, count, 0.0f);
    const auto last = first + static_cast<std::uint32_t>(count);
    const std::uint32_t *back = forces.lists.back_start.data, *wall = forces.lists.wall_start.data;
    if (back[first] == back[last] && wall[first] == wall[last]) return;
    for (int k = 0; k < count; ++k) {
      const std::uint32_t s = at[k];
      if (back[s] == back[s + 1] && wall[s] == wall[s + 1]) continue;
      Vec3 force, torque;
      float depth = 0.0f;
      contacts[k] = static_cast<float>(forces.on(s, force, torque, depth));
      F.x[k] = force.x, F.y[k] = force.y, F.z[k] = force.z;
      T.x[k] = torque.x, T.y[k] = torque.y, T.z[k] = torque.z;
      deepest = max(deepest, depth);
    }
  }
  BARCHAN_INLINE void look_for_bad(int i, int count, const Vector3<Eight>& x, const Eight& speed2,
                                   Sums& sums) const {
    const Eight sum = (x.x + x.y + x.z) + speed2;
    if (bits_of(sum - sum == 0.0f) == 0xffu) return;
    for (int k = 0; k < count; ++k) {
      const VitalSigns vitals = vital_signs(Vec3(one.x[static_cast<std::size_t>(i + k)]),
                                            Vec3(one.v[static_cast<std::size_t>(i + k)]), i + k);
      sums.first_bad = std::min(sums.first_bad, vitals.first_bad);
    }
  }
};

inline void drift_grains(Cpu& device, std::size_t n, const Drift& drift) {
  const auto items = static_cast<std::int64_t>(n);
  if (drift.q.w != nullptr) {
    for_each(device, "drift", items, drift);
  } else {
    for_each_range(device, "drift", items, kMotionBlock, DriftEight{drift});
  }
}

inline void kick_grains(Cpu& device, std::size_t n, const Kick& kick, Summary* result) {
  const auto items = static_cast<std::int64_t>(n);
  if (kick.q.w != nullptr) {
    reduce_to<JoinSummary>(device, "kick", items, kick, result);
    return;
  }
  std::vector<Summary> parts(static_cast<std::size_t>((items + kMotionBlock - 1) / kMotionBlock));
  for_each_range(device, "kick", items, kMotionBlock,
                 KickEight{kick, {parts.data(), parts.size()}});
  *result = {};
  for (const Summary& part : parts) *result = JoinSummary::combine(*result, part);
}

}  // namespace barchan::dem
