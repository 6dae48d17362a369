// The stress of friction and cohesion: see kernels.h for the symbols.
#pragma once

#include "solvers/granular_sph/kernels.h"

namespace barchan::gsph {

// Pressure and tension of the same particle undo each other, and each would call for more of the
// other: what both have goes.
HD inline void cancel(Float4& with_pressure, Float4& stress) {
  const float both = min(max(with_pressure.w, 0.0f), (stress.x + stress.y + stress.z) / 3.0f);
  if (both <= 0.0f) return;
  with_pressure.w -= both;
  stress = {stress.x - both, stress.y - both, stress.z - both, stress.w};
}

// What sand has beside, in the order of the cells.
struct GatherStress {
  View<const std::uint32_t> order;
  View3<const float> normal, shear, rub;  // xx, yy, zz; xy, xz, yz; f
  View<const float> mean, packed;         // p around it [Pa]; packing
  float warm;
  StressView stress;            // out, but for b
  View3<float> friction;        // out: f
  View<Float4> with_pressure;   // in and out
  View<float> around, packing;  // out: p around it [Pa]; packing

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t from = order[i];
    const Vec3 n = warm * normal[from], t = warm * shear[from];
    stress.set(i, {n.x, n.y, n.z, t.x, t.y, t.z}, 0.0f, 0.0f);
    cancel(with_pressure[i], stress.first[i]);
    friction[i] = warm * rub[from];
    around[i] = mean[from];
    packing[i] = packed[from];
  }
};

// ---- Rest, to begin with

// What the next try begins with: v*, and p and s as the next step would have them, but without
// their losses. The sum is that of v*^2.
struct TryAgain {
  ConstStar star;
  View3<const float> normal, shear, rub;
  View<const float> mean;  // p around it [Pa]
  View<const std::uint8_t> material;
  View<const Matter> matter;
  float smooth;                            // share of the mean in p
  View<Float4> velocities, with_pressure;  // in and out
  StressView stress;                       // in and out
  View3<float> friction;                   // out
  View<float> around;                      // out

  HD_INLINE Excess operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 v = star.velocity(at), n = normal[i], t = shear[i];
    velocities[i] = {v.x, v.y, v.z, velocities[i].w};
    const Float4 more = stress.more[i];
    stress.set(i, {n.x, n.y, n.z, t.x, t.y, t.z}, more.z, more.w);
    friction[i] = Vec3(rub[i]);
    around[i] = mean[i];
    const Matter& m = matter[material[i]];
    const float share = m.rough && m.cohesion <= 0.0f ? smooth : 0.0f;
    with_pressure[i].w += share * (mean[i] - with_pressure[i].w);
    cancel(with_pressure[i], stress.first[i]);
    return {dot(v, v), 0.0f, 0};
  }
};

struct Stop {
  View<Float4> velocities;  // in and out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    velocities[i] = {0.0f, 0.0f, 0.0f, velocities[i].w};
  }
};

// Packing is what the density at the start lacks for the pressure that holds a particle at rest,
// so that it stays where it was filled: Measure adds it. Flow undoes it, a strain of 5 % at a rate
// that sand at rest does not have.
HD inline float kept_packing(float packing, float rate, float dt) {
  constexpr float kRate = 1.0f, kStrain = 0.05f;  // [1/s], -
  return packing * max(0.0f, 1.0f - dt * max(0.0f, rate - kRate) / kStrain);
}
struct Pack {
  View<const Float4> with_pressure;
  View<const float> density;  // [kg/m^3]
  View<const std::uint8_t> material;
  View<const Matter> matter;
  float soft;           // excess density that keeps up a pressure over rho [s^2/m^2]
  float most;           // of sand without bonds
  View<float> packing;  // out

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Matter& m = matter[material[i]];
    const float lacks = 1.0f + (soft * with_pressure[i].w - density[i]) / m.density;
    packing[i] = !m.rough ? 0.0f : m.cohesion > 0.0f ? lacks : min(lacks, most);
  }
};

// ---- Strain and stress

template <bool kBeside>
struct StrainSums {
  static constexpr int kSums = 6;  // of slope ((v_j - v_i) r^T + r (v_j - v_i)^T) / (2 r)
  KernelScale h;
  Vec3 v;
  float beside;  // b of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    T g = Pair<T>(j, h).g();
    if constexpr (kBeside) g = (1.0f + beside * j.sw) * g;
    const T ux = g * (j.w - v.x), uy = g * (j.ux - v.y), uz = g * (j.uy - v.z);
    sums[0] += ux * j.x;
    sums[1] += uy * j.y;
    sums[2] += uz * j.z;
    sums[3] += 0.5f * (ux * j.y + uy * j.x);
    sums[4] += 0.5f * (ux * j.z + uz * j.x);
    sums[5] += 0.5f * (uy * j.z + uz * j.y);
  }
};

// What stress a particle can carry under the pressure p:                             (8), (13)
//     |dev s| <= friction p + sqrt(2) beta^2 C,     0 <= tr s / 3 <= beta^2 C
// or, with the paper's box, |s_ij| <= friction p + beta^2 C for each component of dev s.
struct Yield {
  bool box;
  HD Sym3 operator()(const Sym3& tried, const Matter& m, float p, float bonds) const {
    const float C = bonds * bonds * m.cohesion, mean = trace(tried) / 3.0f;
    Sym3 s = deviator(tried);
    if (box) {
      const float most = m.friction * p + C;
      s = {clamp(s.xx, most), clamp(s.yy, most), clamp(s.zz, most),
           clamp(s.xy, most), clamp(s.xz, most), clamp(s.yz, most)};
      s = deviator(s);
    } else {
      const float most = strength(m, p, bonds), is = frobenius_norm(s);
      if (is > most) s *= most / is;
    }
    const float tension = max(0.0f, min(mean, C));
    s += Sym3::diagonal({tension, tension, tension});
    return s;
  }
  static HD float clamp(float a, float most) { return max(-most, min(a, most)); }
};

// s += ease omega D^-1 e, within the yield surface                                        (12)
//
// The surface is that of the mean pressure around a particle, at the end of the step before. p
// itself differs from one particle to the next as their places do, by a third and more in sand at
// rest, and within a step it rises from 0.9 of what it will be; what is cut off where or while it
// is low would have to grow again by strain: sand would creep. A grain on top, which has no p of
// its own, is held as those are that it lies on.
struct Strain {
  Neighbours near;
  ConstStar star;
  View<const Float4> free, with_pressure;
  View<const float> around;  // empty: p itself is meant
  View<const Goal> goals;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const float> damage;  // empty where nothing is cohesive
  Kernels k;
  Yield yield;
  float stiffness;          // omega D^-1 over rho [m^2/s]
  StressView stress;        // in and out
  View<float> strain_rate;  // out: |e| [1/s]

  template <class Team>
  HD_INLINE void operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Matter& m = matter[material[at]];
    const float p = max(around.size > 0 ? around[at] : with_pressure[at].w, 0.0f);
    const Goal goal = goals[at];
    if (!m.rough || (p <= 0.0f && m.cohesion <= 0.0f)) {
      stress.set(at, {}, 0.0f, goal.beside);
      strain_rate[at] = 0.0f;
      return;
    }
    const Sym3 e = rate(i, goal.beside, team);
    if (!team.leads()) return;
    const Float4 a = stress.first[at];
    const Float2 b = stress.rest[at];
    const Sym3 before{a.x, a.y, a.z, a.w, b.x, b.y};
    const float bonds = damage.size > 0 ? 1.0f - damage[at] : 1.0f;
    const Sym3 s = yield(before + (goal.ease * stiffness * m.density) * e, m, p, bonds);
    stress.set(at, s, 1.0f / max(strength(m, p, bonds), 1e-6f), goal.beside);
    strain_rate[at] = frobenius_norm(e);
  }
  // e. Only who is at a wall asks for its neighbours' b.
  template <class Team>
  HD_INLINE Sym3 rate(int i, float beside, Team team) const {
    const Vec3 x = star.place(i), v = star.velocity(i);
    const auto sums = any_of_warp(beside != 0.0f)
                          ? sum_pairs<team.kSize>(near, star.points, star.rest, free, i, x,
                                                  StrainSums<true>{k.W, v, beside})
                          : sum_pairs<team.kSize>(near, star.points, star.rest, i, x,
                                                  StrainSums<false>{k.W, v, beside});
    return k.grad * Sym3{sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]};
  }
};

template <bool kBeside>
struct PullSums {
  static constexpr int kSums = 3;  // of slope (s_i + s_j) r / r
  KernelScale h;
  Sym3 s;        // of i
  float beside;  // b of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    T g = Pair<T>(j, h).g();
    if constexpr (kBeside) g = (1.0f + beside * j.sw) * g;
    const T x = g * j.x, y = g * j.y, z = g * j.z;
    const T xy = j.uw + s.xy, xz = j.sx + s.xz, yz = j.sy + s.yz;
    sums[0] += (j.ux + s.xx) * x + (xy * y + xz * z);
    sums[1] += xy * x + ((j.uy + s.yy) * y + yz * z);
    sums[2] += xz * x + (yz * y + (j.uz + s.zz) * z);
  }
};

// a = (V / rho) sum_j (s_i + s_j) grad W, and v* changes by what is new of it.
struct Pull {
  Neighbours near;
  View<const Float4> with_pressure, stress;
  View<const Float2> rest_of_stress;
  View<const Float4> more_stress;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  Kernels k;
  float dt;           // [s]
  View<Float4> pull;  // in and out: a [m/s^2]; b
  Star star;          // in and out: v*

  template <class Team>
  HD_INLINE void operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 x = point(with_pressure, static_cast<std::uint32_t>(i));
    const Float4 a = stress[at], before = pull[at];
    const Float2 rest = rest_of_stress[at];
    const Sym3 s{a.x, a.y, a.z, a.w, rest.x, rest.y};
    const float beside = before.w;
    const auto sums = any_of_warp(beside != 0.0f)
                          ? sum_pairs<team.kSize>(near, with_pressure, stress, more_stress, i, x,
                                                  PullSums<true>{k.W, s, beside})
                          : sum_pairs<team.kSize>(near, with_pressure, stress, rest_of_stress, i, x,
                                                  PullSums<false>{k.W, s, beside});
    if (!team.leads()) return;
    const Vec3 now = (k.grad / matter[material[at]].density) * sums.vector(0);
    const Vec3 v = star.velocity(i) + dt * (now - Vec3(before.x, before.y, before.z));
    pull[at] = {now.x, now.y, now.z, beside};
    star.set(at, x, v);
  }
};

// Bonds break by strain at a rate above e0, and heal under pressure where nothing moves:
//     d beta / dt = -max(0, |e| - e0) / e_f;     (1 - beta) / t_heal while |e| < 0.1 e0 and p > 0
struct Bonds {
  float limit, strain, time;  // e0 [1/s], e_f, t_heal [s]
  HD float operator()(float damage, float rate, float p, float dt) const {
    float d = damage + dt * max(0.0f, rate - limit) / strain;
    if (rate < 0.1f * limit && p > 0.0f) d -= dt * d / time;
    return max(0.0f, min(d, 1.0f));
  }
};
struct AgeBonds {
  View<const float> strain_rate, pressure;
  Bonds bonds;
  float dt;            // [s]
  View<float> damage;  // in and out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    damage[i] = bonds(damage[i], strain_rate[i], pressure[i], dt);
  }
};

// What sand has beside: f, and s to begin the next step with, in part its own, in part (`share`)
// the mean around it. Particles that do not lie on a lattice gather stresses that cancel each other
// from one to the next, push nothing and use up the yield surface: these fade, those of the pile
// stay. Stress over strength is what is averaged: in a slope it is the same at all depths, so the
// mean of a particle with neighbours on one side alone is as good, and it stays below 1. Bonds have
// strength to spare, and a tower, which is surface all around, would sink by it: the more soil
// coheres, the less it is smoothed.
struct SmoothSums {
  static constexpr int kSums = 7;  // of W s_j / strength_j and W
  KernelScale h;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const T W = Pair<T>(j, h).shape(), part = W * j.sz;
    sums[0] += part * j.ux;
    sums[1] += part * j.uy;
    sums[2] += part * j.uz;
    sums[3] += part * j.uw;
    sums[4] += part * j.sx;
    sums[5] += part * j.sy;
    sums[6] += W;
  }
};
struct KeepStress {
  Neighbours near;
  View<const Float4> points, stress, more_stress;
  View3<const float> friction;
  View<const float> strain_rate, packing;  // [1/s], -
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const std::uint32_t> slot_of;
  Kernels k;
  float dt;                         // [s]
  float most;                       // share of the mean, of sand without cohesion
  View3<float> normal, shear, rub;  // out
  View<float> packed;               // out

  template <class Team>
  HD_INLINE void operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 x = point(points, static_cast<std::uint32_t>(i));
    const auto sums =
        sum_pairs<team.kSize>(near, points, stress, more_stress, i, x, SmoothSums{k.W});
    if (!team.leads()) return;
    const Float4 a = stress[at], b = more_stress[at];
    const float share = matter[material[at]].cohesion > 0.0f ? 0.0f : most;
    const float part = share / (1.0f + sums[6]), own = 1.0f - share + part;
    const float theirs = b.z > 0.0f ? part / b.z : 0.0f;
    const Vec3 f = slot_of[at] != ~0u ? friction[at] : Vec3{};
    const float kept = kept_packing(packing[at], strain_rate[at], dt);
    normal[at] = own * Vec3(a.x, a.y, a.z) + theirs * sums.vector(0);
    shear[at] = own * Vec3(a.w, b.x, b.y) + theirs * sums.vector(3);
    rub[at] = f;
    packed[at] = kept;
  }
};

}  // namespace barchan::gsph
