// PCISPH with friction and cohesion, one particle at a time, for both devices.
// Alduan & Otaduy 2011; README.md maps each equation to a struct here.
//
//   symbol  meaning                                                        unit       equation
//   h, d    support of the kernel, spacing; h = 2 d                        m
//   W       cubic spline                                                   1/m^3
//   V       1 / sum_j W over the lattice at rest                           m^3
//   c       density over that at rest, V sum_j W                           -
//   rho     density at rest, of the material                               kg/m^3
//   v*      velocity at the end of the step, as far as it is known         m/s
//   c*      density there: c + dt dc/dt, linear in v*                      -
//   p       pressure                                                       Pa         (7)
//   delta   pressure that undoes an excess density of 1                    Pa         (7)
//   e       rate of strain                                                 1/s        (10)
//   s       stress of friction and cohesion, tension positive              Pa         (12)
//   f       friction at walls                                              m/s^2
//   beta    share of bonds that hold; the column `damage` is 1 - beta      -          (13)
//   w       inverse mass over that of the first material                   -
//   a       volume of a boundary sample over d^3                           -
//   b       how much a wall stands beside a particle, see Kernels::beside  -
//
// Masses. All particles stand for the same volume; forces of a pair are V^2 (p_i + p_j) grad W and
// V^2 (s_i + s_j) grad W whatever they weigh, so that sum_i m_i a_i = 0.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/pair_sums.h"
#include "compute/view.h"
#include "geometry/containment.h"
#include "math/sph_kernels.h"
#include "math/sym3.h"
#include "math/vec3.h"
#include "sim/boundary.h"
#include "sim/measure_kernels.h"
#include "sim/solid_pushes.h"
#include "spatial/neighbours.h"

namespace barchan::gsph {

// What the spacing fixes: see lattice.h.
struct Kernels {
  CubicSpline W;
  float count;    // V W / shape: densities are count x sums of the shape
  float steep;    // the same of gradients: dc/dt = steep x sums of slope (v_i - v_j) . r / r [1/m]
  float grad;     // steep / what the lattice makes of a gradient of 1 [1/m]
  float squares;  // sum of slope^2 over the lattice
  float wall_count;  // a flat wall counts as much as the lattice's layer
  float wall_grad;   // and pushes as much
  // Sand at a wall has no neighbours in it to pass on its weight, or its friction, along the wall,
  // and the wall must not carry them. So pairs push by 1 + b_i b_j: b^2 = beside x the wall's count
  // makes up, between two particles of the layer beside a flat wall, for the layer behind it.
  float beside;
};

// What a material is to the kernels.
struct Matter {
  float density;    // rho [kg/m^3]
  float weight;     // w
  float friction;   // |s| <= friction p, see `box` in Yield
  float cohesion;   // [Pa]
  float viscosity;  // alpha rho [kg/m^3]
  bool rough;       // carries stress and rubs on walls
};

// One pair: shape = 2 a^3 - 8 b^3 and its slope dshape/dq = 24 b^2 - 6 a^2, both 0 beyond h.
//
// The spline is steepest at q = 1/3 and flat at 0: pairs nearer than that would be parted the less
// the nearer they are, and crowds that an impact or a wall has made would stay, at ten times the
// density, with all iterations spent on them. Here the slope stays the steepest one, -2, and the
// shape goes on along a straight line. Sand and water at rest have no pairs that near.
template <class T>
struct Pair {
  T r2, inv_r, near, a, b;
  HD Pair(const Near<T>& j, const KernelScale& h)
      : r2(j.x * j.x + (j.y * j.y + (j.z * j.z + 1e-12f * h.h * h.h))),
        inv_r(inverse_sqrt(r2)),
        near(positive(1.0f / 3.0f - r2 * inv_r * h.inv_h)),
        a(positive(1.0f - r2 * inv_r * h.inv_h) - near),
        b(positive(0.5f - r2 * inv_r * h.inv_h) - near) {}
  HD T shape() const { return 2.0f * (a * a * a + near) - 8.0f * (b * b * b); }
  HD T slope() const { return 24.0f * (b * b) - 6.0f * (a * a); }
  // So that g r_ij is the gradient of the shape, times h.
  HD T g() const { return slope() * inv_r; }
};

// What stress a particle can carry under the pressure p [Pa], and which part of it is friction's.
HD inline float strength(const Matter& m, float p, float bonds) {
  return m.friction * p + 1.41421356f * bonds * bonds * m.cohesion;
}
HD inline float friction_share(const Matter& m, float p, float bonds) {
  return m.friction * p / max(strength(m, p, bonds), 1e-6f);
}

// What a particle is to reach in a step.
struct Goal {
  float density;       // over that at rest
  float ease;          // of the corrections, where particles are crowded: see Press
  float error = 0.0f;  // how far it was from there before the last correction
};

// ---- Solids

// The walls' share of the sums at a particle, and what they are there.
struct WallPart {
  float count = 0.0f;  // of the shape
  Vec3 grad;           // sum of a slope r / r
  float friction = 0.0f;
  Vec3 velocity;         // [m/s]
  float closing = 0.0f;  // rate of the count by those that are moved, as dot(v, grad) is [m/s]
  Vec3 push;             // what they do to it [m/s^2]
};

struct WallSums {
  static constexpr int kSums = 4;
  KernelScale h;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    const T g = j.w * d.g();
    sums[0] += j.w * d.shape();
    sums[1] += g * j.x;
    sums[2] += g * j.y;
    sums[3] += g * j.z;
  }
};

// Samples are where the solids are at the end of the step, so c has their motion in it already.
struct MeasureWalls {
  BoundaryView walls;
  View<const Float4> points;
  SolidsView solids;
  Kernels k;
  bool closely;          // some material rubs, or some solid is moved
  View<WallPart> parts;  // out, by slot

  HD_INLINE void operator()(int item) const {
    const auto slot = static_cast<std::uint32_t>(item / kSplit);
    if (slot >= *walls.count) return;
    const std::uint32_t i = walls.touched[slot];
    const Vec3 x = point(points, i);
    const auto sums =
        sum_pairs_split(walls.near, walls.points, {}, static_cast<int>(i), x, WallSums{k.W});
    if (item % kSplit != 0) return;
    WallPart part{k.wall_count * sums[0], k.wall_grad * sums.vector(1), 0.0f, {}, 0.0f, {}};
    if (closely) describe(static_cast<int>(i), x, part);
    parts[slot] = part;
  }
  // Friction and velocity of what it touches, by the samples' share in the push; and how fast
  // those come nearer whose way is given.
  HD_CALLED void describe(int i, const Vec3& x, WallPart& part) const {
    float all = 0.0f;
    for (int n = 0; n < walls.near.count(i); ++n) {
      const std::uint32_t sample = walls.near(i, n);
      const Float4 b = packed(walls.points, sample);
      const Vec3 r = x - Vec3(b.x, b.y, b.z);
      const float share = -b.w * k.W.grad_factor(length(r)) * length(r);
      const SolidView& solid = solids.data[walls.solid_of[sample]];
      all += share;
      part.friction += share * solid.friction;
      part.velocity += share * velocity_at(solid, x);
      if (!solid.moves || solid.dynamic) continue;
      const Pair<float> d(near_of(x, b, {}), k.W);
      part.closing -= k.wall_grad * b.w * d.g() * dot(r, velocity_at(solid, x));
    }
    const float scale = all > 0.0f ? 1.0f / all : 0.0f;
    part.friction *= scale;
    part.velocity = scale * part.velocity;
  }
};

// ---- The step's start, in the order of the cells

// Pressure begins with shares of the last step's own and, in sand, of the mean around a particle:
// the less the more of its strength is cohesion. See KeepStress.
struct Warm {
  float own, mean;
};
struct Gather {
  View<const std::uint32_t> order;
  View3<const float> x, v;
  View<const float> pressure, mean;  // [Pa]; the mean is empty without sand
  View<const std::uint8_t> material;
  View<const Matter> matter;
  Warm smooth, rough;          // of fluids, of sand
  View<Float4> points;         // out: x, w
  View<Float4> with_pressure;  // out: x, p
  View<Float4> velocities;     // out: v, alpha rho

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t from = order[i];
    const Vec3 p = x[from], u = v[from];
    const Matter& m = matter[material[from]];
    points[i] = {p.x, p.y, p.z, m.weight};
    const float around = m.rough ? mean[from] : 0.0f;
    const float part = m.rough ? friction_share(m, around, 1.0f) : 0.0f;
    const float own = smooth.own + part * (rough.own - smooth.own), theirs = part * rough.mean;
    with_pressure[i] = {p.x, p.y, p.z, own * pressure[from] + theirs * around};
    velocities[i] = {u.x, u.y, u.z, m.viscosity};
  }
};

// The same of what sand has beside.
struct GatherStress {
  View<const std::uint32_t> order;
  View3<const float> normal, shear, rub;  // xx, yy, zz; xy, xz, yz; f
  View<const float> mean;                 // p around it [Pa]
  float warm;
  View<Float4> stress, more_stress;  // out: xx, yy, zz, xy; xz, yz, (1 / strength), (b)
  View3<float> friction;             // out: f
  View<float> around;                // out: p around it [Pa]

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t from = order[i];
    const Vec3 n = warm * normal[from], t = warm * shear[from];
    stress[i] = {n.x, n.y, n.z, t.x};
    more_stress[i] = {t.y, t.z, 0.0f, 0.0f};
    friction[i] = warm * rub[from];
    around[i] = mean[from];
  }
};

// ---- Densities, viscosity, and the push of the pressure to begin with

// Sums of the shape; of slope (p_i + p_j); of Monaghan's viscosity, which acts on pairs that
// approach each other: alpha c_s (h/2) (v_ij . r_ij) / (r^2 + 0.01 h^2), c_s a speed of sound.
struct MeasureSums {
  static constexpr int kSums = 8;
  KernelScale h;
  Vec3 v;           // of i
  float pressure;   // of i
  float viscosity;  // alpha rho of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    const T slope = d.slope(), g = slope * d.inv_r, push = (j.w + pressure) * g;
    const T away = (v.x - j.ux) * j.x + ((v.y - j.uy) * j.y + (v.z - j.uz) * j.z);
    const T drag = (j.uw + viscosity) * max(-away, 0.0f) / (d.r2 + 0.01f * h.h * h.h) * g;
    sums[0] += d.shape();
    sums[1] += push * j.x;
    sums[2] += push * j.y;
    sums[3] += push * j.z;
    sums[4] += drag * j.x;
    sums[5] += drag * j.y;
    sums[6] += drag * j.z;
    sums[7] += slope * slope;
  }
};

struct Excess {
  float sum = 0.0f, largest = 0.0f;
  std::uint64_t pairs = 0;  // of neighbours
};
struct JoinExcess {
  static HD Excess identity() { return {}; }
  static HD Excess combine(const Excess& a, const Excess& b) {
    return {a.sum + b.sum, max(a.largest, b.largest), a.pairs + b.pairs};
  }
};

// What density a step is to end with: a particle that is too dense gets a share of the way back,
// as overlap / dt would be an explosion; one that is not dense enough may stay so. What a wall that
// is moved adds in the step is to be undone in it, or the wall would sweep through. It takes
// nothing along as it goes away.
// With pressure that pulls, too, it gets the same share of the way back.
struct Target {
  float share;  // of the way back to rest in a step
  float band;   // deficit of density that counts; 1: all of it
  HD float operator()(float c) const { return 1.0f + (1.0f - share) * max(c - 1.0f, -band); }
};

struct Measure {
  Neighbours near;
  View<const Float4> with_pressure, velocities;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const std::uint32_t> slot_of;
  View<const WallPart> parts;
  View3<const float> friction;  // f; empty without sand
  Kernels k;
  Target target;
  Vec3 gravity;              // [m/s^2]
  float dt;                  // [s]
  float sound;               // c_s h / 2 of the viscosity [m^2/s]
  View<Float4> free, star;   // out: v + dt (g + viscosity), b; v*, b
  View<Float4> more_stress;  // out: b as its last number; empty without sand
  View<Goal> goals;          // out
  View<float> density;       // out [kg/m^3]

  HD_INLINE Excess operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = packed(with_pressure, static_cast<std::uint32_t>(i));
    const Float4 mine = packed(velocities, static_cast<std::uint32_t>(i));
    const Matter& m = matter[material[at]];
    const Vec3 v(mine.x, mine.y, mine.z);
    const auto sums = sum_pairs(near, with_pressure, velocities, i, {me.x, me.y, me.z},
                                MeasureSums{k.W, v, me.w, mine.w});
    float count = 1.0f + sums[0];  // with itself
    Vec3 push = sums.vector(1), rub{};
    float beside = 0.0f, swept = 0.0f;
    if (slot_of[at] != ~0u) {
      const WallPart& wall = parts[slot_of[at]];
      count += wall.count;
      swept = max(0.0f, dt * k.steep * wall.closing);
      push += (2.0f * me.w) * wall.grad;
      if (friction.size > 0) rub = friction[at];
      if (m.rough) beside = std::sqrt(k.beside * wall.count);
    }
    const float c = k.count * count, scale = k.grad / m.density;
    const Vec3 start = v + dt * (gravity - (0.5f * sound * scale) * sums.vector(4));
    const Vec3 end = start + dt * (rub - scale * push);
    free[at] = {start.x, start.y, start.z, beside};
    star[at] = {end.x, end.y, end.z, beside};
    if (more_stress.size > 0) more_stress[at].w = beside;
    goals[at] = {target(c - swept), min(1.0f, k.squares / max(sums[7], 1e-6f))};
    density[at] = c * m.density;
    const float excess = max(c - 1.0f, 0.0f);
    return {excess, excess, static_cast<std::uint64_t>(near.count(i))};
  }
};

// ---- Pressure

struct RateSums {
  static constexpr int kSums = 1;  // of slope (v_i - v_j) . r / r
  KernelScale h;
  Vec3 v;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    sums[0] += d.g() * ((v.x - j.ux) * j.x + ((v.y - j.uy) * j.y + (v.z - j.uz) * j.z));
  }
};

// p += ease delta (c* - target), p >= 0                                                    (7)
//
// delta is that of the lattice. Where particles are crowded, as after an impact, sum |grad W|^2 is
// larger, and with the lattice's delta iterations would diverge: `ease` is the quotient of the two.
// A crowd, of which all are corrected at once, can still be answered many times over, and its
// pressure would be too much and nothing in turns, and nothing in the end. So a particle whose
// error changes its sign and does not get smaller is corrected half as much from there on.
inline constexpr float kSmaller = 0.7f;
struct Press {
  Neighbours near;
  View<const Float4> points, star;
  View<const float> density;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const std::uint32_t> slot_of;
  View<const WallPart> parts;
  Kernels k;
  float dt;                    // [s]
  float delta;                 // over rho [m^2/s^2]
  float most_pull;             // as excess density: 0 where pressure only pushes
  View<Goal> goals;            // in and out
  View<Float4> with_pressure;  // in and out

  HD_INLINE Excess operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 x = point(points, static_cast<std::uint32_t>(i));
    const Vec3 v = point(star, static_cast<std::uint32_t>(i));
    const auto sums = sum_pairs(near, points, star, i, x, RateSums{k.W, v});
    float rate = sums[0];
    if (slot_of[at] != ~0u) rate += dot(v, parts[slot_of[at]].grad);
    const float rho = matter[material[at]].density;
    const float c = density[at] / rho + (dt * k.steep) * rate;
    Goal& goal = goals[at];
    const float error = c - goal.density;
    if (error * goal.error < 0.0f && std::abs(error) > kSmaller * std::abs(goal.error)) {
      goal.ease *= 0.5f;
    }
    goal.error = error;
    // No more than what would undo an excess density of 1: whatever happens, it stays finite.
    const float most = delta * rho, p = with_pressure[at].w + goal.ease * most * error;
    with_pressure[at].w = max(-most_pull * most, min(p, most));
    return {max(error, 0.0f), max(error, 0.0f), 0};
  }
};

struct PushSums {
  static constexpr int kSums = 3;  // of slope (p_i + p_j) r / r
  KernelScale h;
  float pressure;  // of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const T push = (j.w + pressure) * Pair<T>(j, h).g();
    sums[0] += push * j.x;
    sums[1] += push * j.y;
    sums[2] += push * j.z;
  }
};

// The same and the mean pressure around i: of p_j W and W, too.
struct PushMeanSums {
  static constexpr int kSums = 5;
  KernelScale h;
  float pressure;  // of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    const T W = d.shape(), push = (j.w + pressure) * d.g();
    sums[0] += push * j.x;
    sums[1] += push * j.y;
    sums[2] += push * j.z;
    sums[3] += j.w * W;
    sums[4] += W;
  }
};

struct BesideSums {
  static constexpr int kSums = 3;  // of b_j slope (p_i + p_j) r / r
  KernelScale h;
  float pressure;  // of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const T push = j.uw * (j.w + pressure) * Pair<T>(j, h).g();
    sums[0] += push * j.x;
    sums[1] += push * j.y;
    sums[2] += push * j.z;
  }
};

// The pressure that a boundary sample answers with: that of the fluid around it,
//     p_b = sum_j p_j W / sum_j W.
// With the meeting particle's own (Akinci et al. 2012) a wall would carry no part of a pressure
// gradient along it, and the fluid beside it, which has no neighbours in it, would feel too little
// of that: it sinks along an upright wall, and a pool turns over at 0.1 m/s.
struct MeanSums {
  static constexpr int kSums = 2;
  KernelScale h;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const T W = Pair<T>(j, h).shape();
    sums[0] += j.w * W;
    sums[1] += W;
  }
};
struct PressWalls {
  BoundaryView walls;
  View<const Float4> with_pressure;
  Kernels k;
  View<Float4> wall_pressure;  // out: p_b and nothing else

  HD_INLINE void operator()(int item) const {
    const auto b = static_cast<std::uint32_t>(item / kSplit);
    const auto sums = sum_pairs_split(walls.fluid, with_pressure, {}, static_cast<int>(b),
                                      point(walls.points, b), MeanSums{k.W});
    const float p = sums[0] / max(sums[1], 1e-6f);
    if (item % kSplit == 0) wall_pressure[b] = {p, 0.0f, 0.0f, 0.0f};
  }
};

struct WallPushSums {
  static constexpr int kSums = 3;  // of a slope (p_i + p_b) r / r
  KernelScale h;
  float pressure;  // of i
  template <class T>
  HD void operator()(const Near<T>& b, T* sums) const {
    const T push = b.w * (b.ux + pressure) * Pair<T>(b, h).g();
    sums[0] += push * b.x;
    sums[1] += push * b.y;
    sums[2] += push * b.z;
  }
};

struct WallMeanSums {
  static constexpr int kSums = 2;  // of a slope p_b and a slope
  KernelScale h;
  template <class T>
  HD void operator()(const Near<T>& b, T* sums) const {
    const T share = b.w * Pair<T>(b, h).slope();
    sums[0] += share * b.ux;
    sums[1] += share;
  }
};

// a = -(V / rho) sum_j (p_i + p_j) grad W, over the walls' samples, too; then Coulomb's friction on
// them: f -= 0.7 v*_t / dt, along the wall, |f| <= mu |a_wall|.
//
// Friction follows v* by a share only, as v* has more to come in the next iterations.
//
// A wall carries a part of water's weight by the pressures of its samples. Of sand it must not: all
// samples near a particle push it with their mean pressure, and what that leaves of its weight the
// particles beside it carry (Kernels::beside). Water would be stirred by that.
inline constexpr float kFollow = 0.7f;
struct Push {
  Neighbours near;
  BoundaryView walls;
  View<const Float4> with_pressure, free, wall_pressure;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View3<const float> pull;  // acceleration by s; empty without sand
  Kernels k;
  float dt;               // [s]
  View<WallPart> parts;   // in and out: what they do
  View3<float> friction;  // in and out: f [m/s^2]
  View<float> mean;       // out: p around it [Pa]; empty but in the last iteration of sand
  View<Float4> star;      // in: b; out: v*

  HD_INLINE void operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = packed(with_pressure, static_cast<std::uint32_t>(i));
    const Vec3 x(me.x, me.y, me.z);
    const Matter& m = matter[material[at]];
    const float scale = k.grad / m.density;
    Vec3 push;
    if (mean.size > 0) {
      const auto sums = sum_pairs(near, with_pressure, i, x, PushMeanSums{k.W, me.w});
      push = sums.vector(0);
      mean[at] = (me.w + sums[3]) / (1.0f + sums[4]);
    } else {
      push = sum_pairs(near, with_pressure, i, x, PushSums{k.W, me.w}).vector(0);
    }
    const std::uint32_t slot = walls.slot_of[at];
    if (slot != ~0u && m.rough) {
      const auto more = sum_pairs(near, with_pressure, free, i, x, BesideSums{k.W, me.w});
      push += free[at].w * more.vector(0);
    }
    Vec3 v = Vec3(free[at].x, free[at].y, free[at].z) - (dt * scale) * push;
    if (pull.size > 0) v += dt * pull[at];
    if (slot != ~0u) v += dt * meet(at, m, parts[slot], -scale * by_walls(i, x, me.w, m), v);
    star[at] = {v.x, v.y, v.z, star[at].w};
  }
  // Sum of a slope (p_i + p_b) r / r.
  HD_INLINE Vec3 by_walls(int i, const Vec3& x, float p, const Matter& m) const {
    if (m.rough) {
      const auto sums = sum_pairs(walls.near, walls.points, wall_pressure, i, x, WallMeanSums{k.W});
      const float around = sums[0] / min(sums[1], -1e-6f);
      return (p + around) * parts[walls.slot_of[static_cast<std::size_t>(i)]].grad;
    }
    const auto sums =
        sum_pairs(walls.near, walls.points, wall_pressure, i, x, WallPushSums{k.W, p});
    return k.wall_grad * sums.vector(0);
  }
  // What the wall does; `v` is the velocity but for that.
  HD_INLINE Vec3 meet(std::size_t at, const Matter& m, WallPart& wall, const Vec3& push,
                      const Vec3& v) const {
    wall.push = push;
    if (!m.rough) return push;
    Vec3 f = friction[at];
    const float steepness = length(wall.grad);
    const Vec3 n = steepness > 0.0f ? wall.grad / steepness : Vec3{};
    const float strength = -dot(push, n);
    if (strength > 0.0f) {
      const Vec3 slip = v + dt * (push + f) - wall.velocity;
      f -= (kFollow / dt) * slip;
      f -= dot(f, n) * n;
      const float most = wall.friction * strength, is = length(f);
      if (is > most) f = (most / is) * f;
    } else {
      f = {};
    }
    friction[at] = f;
    wall.push += f;
    return wall.push;
  }
};

// ---- Friction and cohesion

struct StrainSums {
  static constexpr int kSums = 6;  // of slope ((v_j - v_i) r^T + r (v_j - v_i)^T) / (2 r)
  KernelScale h;
  Vec3 v;
  float beside;  // b of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const T g = (1.0f + beside * j.uw) * Pair<T>(j, h).g();
    const T ux = g * (j.ux - v.x), uy = g * (j.uy - v.y), uz = g * (j.uz - v.z);
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
  View<const Float4> points, star, with_pressure;
  View<const float> around;  // empty: p itself is meant
  View<const Goal> goals;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const float> damage;  // empty where nothing is cohesive
  Kernels k;
  Yield yield;
  float stiffness;                   // omega D^-1 over rho [m^2/s]
  View<Float4> stress, more_stress;  // in and out
  View<float> strain_rate;           // out: |e| [1/s]; empty where nothing is cohesive

  HD_INLINE void operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Matter& m = matter[material[at]];
    const float p = max(around.size > 0 ? around[at] : with_pressure[at].w, 0.0f);
    const Float4 a = stress[at], b = more_stress[at];
    if (!m.rough || (p <= 0.0f && m.cohesion <= 0.0f)) {
      stress[at] = {};
      more_stress[at] = {0.0f, 0.0f, 0.0f, b.w};
      if (strain_rate.size > 0) strain_rate[at] = 0.0f;
      return;
    }
    const Vec3 x = point(points, static_cast<std::uint32_t>(i));
    const Vec3 v = point(star, static_cast<std::uint32_t>(i));
    const auto sums = sum_pairs(near, points, star, i, x, StrainSums{k.W, v, b.w});
    const Sym3 e = k.grad * Sym3{sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]};
    const Sym3 before{a.x, a.y, a.z, a.w, b.x, b.y};
    const float bonds = damage.size > 0 ? 1.0f - damage[at] : 1.0f;
    const Sym3 s = yield(before + (goals[at].ease * stiffness * m.density) * e, m, p, bonds);
    stress[at] = {s.xx, s.yy, s.zz, s.xy};
    more_stress[at] = {s.xz, s.yz, 1.0f / max(strength(m, p, bonds), 1e-6f), b.w};
    if (strain_rate.size > 0) strain_rate[at] = frobenius_norm(e);
  }
};

struct PullSums {
  static constexpr int kSums = 3;  // of slope (s_i + s_j) r / r
  KernelScale h;
  Sym3 s;        // of i
  float beside;  // b of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const T g = (1.0f + beside * j.sw) * Pair<T>(j, h).g();
    const T x = g * j.x, y = g * j.y, z = g * j.z;
    const T xy = j.uw + s.xy, xz = j.sx + s.xz, yz = j.sy + s.yz;
    sums[0] += (j.ux + s.xx) * x + (xy * y + xz * z);
    sums[1] += xy * x + ((j.uy + s.yy) * y + yz * z);
    sums[2] += xz * x + (yz * y + (j.uz + s.zz) * z);
  }
};

// a = (V / rho) sum_j (s_i + s_j) grad W
struct Pull {
  Neighbours near;
  View<const Float4> points, stress, more_stress;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  Kernels k;
  float dt;           // [s]
  bool first;         // nothing of it is in v* yet
  View3<float> pull;  // in (but for the first) and out [m/s^2]
  View<Float4> star;  // in and out: v*

  HD_INLINE void operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 x = point(points, static_cast<std::uint32_t>(i));
    const Float4 a = stress[at], b = more_stress[at];
    const auto sums = sum_pairs(near, points, stress, more_stress, i, x,
                                PullSums{k.W, {a.x, a.y, a.z, a.w, b.x, b.y}, b.w});
    const Vec3 now = (k.grad / matter[material[at]].density) * sums.vector(0);
    const Vec3 more = dt * (first ? now : now - Vec3(pull[at]));
    const Float4 v = star[at];
    pull[at] = now;
    star[at] = {v.x + more.x, v.y + more.y, v.z + more.z, v.w};
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

// ---- The new state

// x + dt v*, kept out of the solids. What they take of the way they take of the velocity towards
// them, and give nothing back: a particle that was put out of a solid is not shot out of it. They
// rub it, too: a single grain has no pressure for Push to rub by.
//
// Pressure makes nothing faster than `fast`, a spacing in the longest step: particles that solids
// have pressed into each other would part the faster the shorter the step is, and the step would be
// shortened for them without end.
struct MoveOn {
  View<const Float4> points, free, star, with_pressure;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const std::uint32_t> slot_of;
  View<const WallPart> parts;
  Containment solids;
  float dt, fast;                // [s], [m/s]
  View<std::uint8_t> near_wall;  // out: `pushed` counts
  View3<float> pushed;           // out: what solids did to it, times dt [m]
  View3<float> x, v;             // out
  View<float> pressure;          // out [Pa]

  HD_INLINE bool operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 from = point(points, static_cast<std::uint32_t>(i));
    const Vec3 wanted = point(star, static_cast<std::uint32_t>(i));
    const float most = max(fast, length(point(free, static_cast<std::uint32_t>(i))));
    const Vec3 speed = min(1.0f, most / max(length(wanted), 1e-30f)) * wanted;
    const Vec3 to = from + dt * speed;
    const bool near = solids.may_touch(from, to);
    const float p = with_pressure[at].w;
    x[at] = to;
    v[at] = speed;
    pressure[at] = p;
    near_wall[at] = near ? 1 : 0;
    const std::uint32_t slot = slot_of[at];
    if (near || slot != ~0u) pushed[at] = slot == ~0u ? Vec3{} : (dt * dt) * parts[slot].push;
    return near;
  }
  HD_CALLED void some(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 from = point(points, static_cast<std::uint32_t>(i)), to = x[at];
    const Vec3 kept = solids.move(from, to), change = kept - to;
    const float way = length(change);
    if (way <= 0.0f) return;
    const Vec3 n = change / way, speed = v[at];
    const SolidView& wall = solids.solids.data[solids.nearest(kept)];
    const Vec3 slip = speed - velocity_at(wall, kept);
    const float towards = -dot(slip, n), stopped = max(0.0f, min(towards, way / dt));
    Vec3 stop = stopped * n;
    if (matter[material[at]].rough) {
      const Vec3 along = slip + towards * n;
      stop -= min(1.0f, wall.friction * stopped / max(length(along), 1e-12f)) * along;
    }
    x[at] = kept;
    v[at] = speed + stop;
    pushed[at] += dt * stop;
  }
};

// What sand has beside: f, and s to begin the next step with, in part its own, in part (`share`)
// the mean around it. Particles that do not lie on a lattice gather stresses that cancel each other
// from one to the next, push nothing and use up the yield surface: these fade, those of the pile
// stay. Stress over strength is what is averaged: in a slope it is the same at all depths, so the
// mean of a particle with neighbours on one side alone is as good, and it stays below 1. Bonds have
// strength to spare, and a tower, which is surface all around, would sink by it: cohesion's part of
// the strength is not smoothed for.
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
  View<const float> around;  // p that the strength is of [Pa]
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const std::uint32_t> slot_of;
  Kernels k;
  float most;                       // share of the mean, of sand without cohesion
  View3<float> normal, shear, rub;  // out

  HD_INLINE void operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 x = point(points, static_cast<std::uint32_t>(i));
    const auto sums = sum_pairs(near, points, stress, more_stress, i, x, SmoothSums{k.W});
    const Float4 a = stress[at], b = more_stress[at];
    const float share = most * min(1.0f, matter[material[at]].friction * around[at] * b.z);
    const float part = share / (1.0f + sums[6]), own = 1.0f - share + part;
    const float theirs = b.z > 0.0f ? part / b.z : 0.0f;
    normal[at] = own * Vec3(a.x, a.y, a.z) + theirs * sums.vector(0);
    shear[at] = own * Vec3(a.w, b.x, b.y) + theirs * sums.vector(3);
    rub[at] = slot_of[at] != ~0u ? friction[at] : Vec3{};
  }
};

// What a step leaves on the device for the host: of each iteration the excess before it, of each
// two solids their pushes, and the rest once.
struct Results {
  Excess excess;    // over the target, before each iteration
  Excess measured;  // over rest, at the start
  Pushes pushes;
  Bounds bounds;              // where the cells were laid out by a guess
  std::uint32_t touched = 0;  // particles near solids
  VitalSigns vitals;
};

}  // namespace barchan::gsph
