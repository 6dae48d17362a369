// Position Based Fluids, one particle at a time, for both devices.
// Macklin & Mueller 2013; README.md maps each equation to a struct here.
//
//   symbol  meaning                                                        unit       equation
//   x*, p   position predicted, then corrected                             m          Algorithm 1
//   h, d    support of the kernels, spacing; h = 2 d                       m
//   W, G    poly6 kernel; spiky kernel, of gradients and (by default) rho   1/m^3      (2)
//   V       m / rho_0 = 1 / sum_j W over the lattice at rest               m^3
//   C       rho / rho_0 - 1 = V sum_j W - 1                                -          (1)
//   grad    grad C_i with regard to p_i; to p_j: -V grad W                 1/m        (7), (8)
//   lambda  multiplier of one constraint                                   m^2        (11)
//   s_corr  artificial pressure                                            m^2        (13)
//   w       inverse mass over that of the first material                   -
//   a       volume of a boundary sample over d^3                           -
//
// Masses. Materials may differ in density: constraints count particles (number density), and
// corrections are weighted by w, so that sum_i m_i dp_i = 0 for any pair.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/pair_sums.h"
#include "compute/view.h"
#include "geometry/containment.h"
#include "math/sph_kernels.h"
#include "math/vec3.h"
#include "sim/boundary.h"
#include "sim/measure_kernels.h"
#include "sim/solid_pushes.h"
#include "spatial/neighbours.h"

namespace barchan::pbf {

// What depends on the spacing and the mode alone.
//
// The paper takes poly6 for densities and spiky for their gradients, which is not the gradient of
// anything: pressure forces then do work on still water, the more the shorter the steps. With the
// spiky kernel for both, a pool comes to rest.
struct Kernels {
  Poly6 W;
  Spiky G;
  bool paper;           // densities by W instead of G
  float density_scale;  // of that kernel [1/m^3]
  float V;              // [m^3]
  float stiffness;      // D_0: sum_k |grad_k C|^2 of a particle within the lattice [1/m^2]
  float slope;          // V sum |grad W|_z z: 1 if sums over neighbours were integrals
  float volume;         // of a particle, d^3 [m^3]
};

// What both kernels are made of, for one pair; a and b are 0 beyond the support:
//     a = 1 - r/h,    G = G.w_scale a^3,   grad_i G = G.slope a^2 r_ij / r
//     b = 1 - (r/h)^2,   W = W.w_scale b^3
// Sums over neighbours are of these powers; each particle puts in the scales once, at the end. A
// particle on top of another has no direction and takes none.
template <class T>
struct Pair {
  T r2, inv_r, a;
  HD Pair(const Near<T>& j, const KernelScale& h)
      : r2(j.x * j.x + (j.y * j.y + (j.z * j.z + 1e-12f * h.h * h.h))),
        inv_r(inverse_sqrt(r2)),
        a(positive(1.0f - r() * h.inv_h)) {}
  HD T r() const { return r2 * inv_r; }
  HD T b(const KernelScale& h) const { return positive(1.0f - r2 * (h.inv_h * h.inv_h)); }
};

// ---- Prediction: Algorithm 1, lines 1-4

// v += dt g, x* = x + dt v, and kept out of the solids on the way.
struct Predict {
  View3<const float> x, v;
  Containment walls;
  Vec3 gravity;                  // [m/s^2]
  float dt;                      // [s]
  View3<float> predicted;        // out: x*
  View<std::uint8_t> near_wall;  // out: may touch a solid in this step
  CellCounter count;             // out: for the search of neighbours
  std::uint32_t* left;           // out: 0, for the last corrections

  HD bool operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    if (at == 0) *left = 0;
    const Vec3 from = x[i], to = from + dt * (v[i] + dt * gravity);
    const bool near = walls.may_touch(from, to);
    predicted[i] = to;
    near_wall[i] = near ? 1 : 0;
    if (!near) count(i, to);
    return near;
  }
  HD void some(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 kept = walls.move(x[i], predicted[i]);
    predicted[i] = kept;
    count(i, kept);
  }
};

// The same in the order of the cells. `moved` is what v = (x* - x) / dt will differ by from
// the velocity of free flight; `pushed` the part of it that solids did. Both begin here for the few
// near a wall alone; the others' begin where they are first moved.
struct SortPredicted {
  View3<const float> x, v, predicted;
  View<const std::uint64_t> id;
  View<const float> spin;  // empty: there is none
  View<const std::uint8_t> material, near_wall;
  View<const float> inverse_mass_of;  // w by material
  Vec3 gravity;
  float dt;
  View3<float> start_x;                 // out, of those near a wall
  View3<float> free_v;                  // out
  View<std::uint64_t> sorted_id;        // out
  View<float> sorted_spin;              // out
  View<std::uint8_t> sorted_material;   // out
  View<std::uint8_t> sorted_near_wall;  // out
  View<Float4> points;                  // out: x*, w
  View<Float4> moved;                   // out, of those near a wall [m], 0
  View3<float> pushed;                  // out, of those near a wall [m]

  HD_INLINE void operator()(std::size_t from, std::size_t i) const {
    const Vec3 start = x[from], velocity = v[from] + dt * gravity, free = start + dt * velocity;
    const std::uint8_t near = near_wall[from];
    const Vec3 p = near != 0 ? Vec3(predicted[from]) : free;
    free_v[i] = velocity;
    const std::uint8_t matter = material[from];
    sorted_id[i] = id[from];
    if (spin.size > 0) sorted_spin[i] = spin[from];
    sorted_material[i] = matter;
    sorted_near_wall[i] = near;
    points[i] = {p.x, p.y, p.z, inverse_mass_of[matter]};
    if (near != 0) {
      const Vec3 push = p - free;
      start_x[i] = start;
      moved[i] = {push.x, push.y, push.z, 0.0f};
      pushed[i] = push;
    }
  }
};

// ---- Density constraints

// Powers in sum W, sum grad G, sum w |grad G|^2.
template <bool kPaper>
struct ConstraintSums {
  static constexpr int kSums = 5;
  KernelScale h;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    const T b = kPaper ? d.b(h) : d.a, a2 = d.a * d.a, g = a2 * d.inv_r;
    sums[0] += b * b * b;
    sums[1] += g * j.x;
    sums[2] += g * j.y;
    sums[3] += g * j.z;
    sums[4] += j.w * (a2 * a2);
  }
};

// The same over a solid's samples, of which each counts for its volume.
template <bool kPaper>
struct WallSums {
  static constexpr int kSums = 5;
  KernelScale h;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    const T b = kPaper ? d.b(h) : d.a, a2 = d.a * d.a, g = j.w * (a2 * d.inv_r);
    sums[0] += j.w * (b * b * b);
    sums[1] += g * j.x;
    sums[2] += g * j.y;
    sums[3] += g * j.z;
    sums[4] += j.w * (a2 * a2);
  }
};

// Excess density max(C, 0) of all particles.
struct Excess {
  float sum = 0.0f, largest = 0.0f;
};
struct JoinExcess {
  static HD Excess identity() { return {}; }
  static HD Excess combine(const Excess& a, const Excess& b) {
    return {a.sum + b.sum, max(a.largest, b.largest)};
  }
};
HD inline Excess excess_of(float C) {
  return {max(C, 0.0f), max(C, 0.0f)};
}

// The solids' part of them, for the particles that have some near.
struct WallPart {
  float count = 0.0f, squares = 0.0f;
  Vec3 grad;
};
// lambda_i = -omega C_i / (sum_k w_k |grad_k C_i|^2 + eps)                   (1), (2), (8), (11)
//
// The solid's part of grad_i C is counted twice where it meets itself: a wall answers with about
// the particle's own lambda (see WallMultipliers).
//
// C counts up to kMostExcess: where an impact has driven particles into each other, they part over
// several iterations instead of being shot out by one. Momentum is kept, as lambda is one number.
inline constexpr float kMostExcess = 0.3f;
struct Multipliers {
  Neighbours near;
  View<const Float4> points;  // x*, w
  View<const std::uint32_t> slot_of;
  View<const WallPart> parts;
  Kernels k;
  float eps;                       // constraint force mixing [1/m^2]
  float omega;                     // under-relaxation (lattice.h)
  bool may_pull;                   // tension = "paper": lambda > 0 as well
  bool first;                      // of the iterations
  View<const Float4> moved;        // its last number, but for the first: sum of lambda so far
  View<Float4> points_and_lambda;  // out

  template <class Team>
  HD_INLINE Excess operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = packed(points, static_cast<std::uint32_t>(i));
    const Vec3 p(me.x, me.y, me.z);
    const auto sums = k.paper
                          ? sum_pairs<team.kSize>(near, points, i, p, ConstraintSums<true>{k.G})
                          : sum_pairs<team.kSize>(near, points, i, p, ConstraintSums<false>{k.G});
    if (!team.leads()) return {};
    float count = sums[0] + 1.0f;  // with itself
    float squares = sums[4];
    Vec3 grad = sums.vector(1), wall{};
    if (slot_of[at] != ~0u) {
      const WallPart solid = parts[slot_of[at]];
      count += solid.count;
      wall = solid.grad;
      grad += wall;
      squares += me.w * solid.squares;
    }
    const float C = k.V * k.density_scale * count - 1.0f, slope = k.V * k.G.slope();
    const float D = slope * slope * (squares + me.w * dot(grad, grad + wall));
    float lambda = -omega * min(C, kMostExcess) / (max(D, 0.0f) + eps);
    const float so_far = first ? 0.0f : moved[at].w;
    if (!may_pull) lambda = min(lambda, -so_far);  // the sum stays <= 0
    points_and_lambda[at] = {p.x, p.y, p.z, lambda};
    return excess_of(C);
  }
};

// ---- Corrections

// -s_corr = k lambda_0 (W(r) / W(dq))^4, lambda_0 = 1 / D_0: the multiplier of C = 1           (13)
// so that a clamped fluid is not blown up at rest, it acts there from the rest distance on only:
// `at_rest` is then its value at r = d, otherwise 0.
struct ArtificialPressure {
  float strength;  // k lambda_0 (W(0) / W(dq))^4 [m^2]
  float at_rest;   // [m^2]
  template <class T>
  HD T operator()(T b) const {
    const T W = b * b * b, W2 = W * W;
    return max(strength * (W2 * W2) - at_rest, 0.0f);
  }
};

// Powers in sum (lambda_i + lambda_j + s_corr) grad G; -s_corr r . grad G and r . grad G.
struct CorrectionSums {
  static constexpr int kSums = 5;
  KernelScale h;
  ArtificialPressure s_corr;
  float lambda;  // of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    const T a2 = d.a * d.a, s = s_corr(d.b(h));
    const T push = ((j.w + lambda) - s) * (a2 * d.inv_r), along = a2 * d.r();
    sums[0] += push * j.x;
    sums[1] += push * j.y;
    sums[2] += push * j.z;
    sums[3] += s * along;
    sums[4] += along;
  }
};

// The multiplier that a boundary sample answers with: that of the fluid around it,
//     lambda_b = sum_j lambda_j W / sum_j W.
// With the meeting particle's own (Akinci et al. 2012; or mirrored, Band et al. 2018) a wall would
// carry no part of the pressure's gradient along it: fluid beside it sinks, and the pool turns
// over.
struct LambdaSums {
  static constexpr int kSums = 2;
  KernelScale h;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const T b = Pair<T>(j, h).b(h), W = b * b * b;
    sums[0] += j.w * W;
    sums[1] += W;
  }
};
struct WallMultipliers {
  BoundaryView walls;
  View<const Float4> points_and_lambda;
  Kernels k;
  View<Float4> wall_lambda;  // out: lambda_b and nothing else

  template <class Team>
  HD_INLINE void operator()(int sample, Team team) const {
    const auto b = static_cast<std::uint32_t>(sample);
    const auto sums = sum_pairs<team.kSize>(walls.fluid, points_and_lambda, sample,
                                            point(walls.points, b), LambdaSums{k.W});
    const float lambda = sums[0] / max(sums[1], 1e-6f);
    if (team.leads()) wall_lambda[b] = {lambda, 0.0f, 0.0f, 0.0f};
  }
};

struct WallPushSums {
  static constexpr int kSums = 3;  // powers in sum a (lambda_i + lambda_b) grad G
  KernelScale h;
  float lambda;  // of i
  template <class T>
  HD void operator()(const Near<T>& b, T* sums) const {
    const Pair<T> d(b, h);
    const T f = b.w * (b.ux + lambda) * (d.a * d.a * d.inv_r);
    sums[0] += f * b.x;
    sums[1] += f * b.y;
    sums[2] += f * b.z;
  }
};

// The solids' part of the sums of the particles near them.
struct MeasureWalls {
  BoundaryView walls;
  View<const Float4> points;
  Kernels k;
  View<WallPart> parts;  // out, by slot
  std::uint32_t* all;    // out: how many there are

  HD_INLINE bool is_one(std::uint32_t slot) const { return slot < *walls.count; }
  template <class Team>
  HD_INLINE void measure(std::uint32_t slot, Team team, int i, const Vec3& p) const {
    constexpr int n = Team::kSize;
    const auto sums = k.paper ? sum_pairs<n>(walls.near, walls.points, i, p, WallSums<true>{k.G})
                              : sum_pairs<n>(walls.near, walls.points, i, p, WallSums<false>{k.G});
    if (team.leads()) parts[slot] = {sums[0], sums[4], sums.vector(1)};
  }
  template <class Team>
  HD_INLINE void operator()(int at, Team team) const {
    const auto slot = static_cast<std::uint32_t>(at);
    if (slot == 0 && team.leads()) *all = *walls.count;
    if (!is_one(slot)) return;
    const std::uint32_t i = walls.touched[slot];
    measure(slot, team, static_cast<int>(i), point(points, i));
  }
};

// ---- Velocities: Algorithm 1, lines 20-24

// Out of the solids for good, then v = (x* - x) / dt. Few are near a solid or were moved so far
// that they might have passed one; those are done together. The solids' part of the sums is known
// from the last iteration but for those whom this moves.
struct MoveOn {
  MeasureWalls walls;
  Containment solids;
  float dt, spacing;             // [s], [m]
  View<std::uint8_t> near_wall;  // in and out: `pushed` counts
  View<Float4> points;           // in and out
  View<const Float4> moved;      // [m], sum of lambda [m^2]
  View3<float> pushed;           // in and out [m]
  View<float> multiplier;        // out: sum of lambda
  View3<float> x, v;             // in: at the start (who is near), of free flight; out: new
  View<const float> spin;        // |omega| of the step before [1/s]; empty: 0
  View<Float4> v_and_spin;       // out, where `moved` was; empty: v stays so, else Smooth writes it

  HD_INLINE bool is_far(const Float4& way) const {
    return length_squared(Vec3(way.x, way.y, way.z)) > spacing * spacing;
  }

  // MeetWalls sees to it.
  HD_INLINE bool meets_walls(std::size_t at) const { return walls.walls.slot_of[at] != ~0u; }
  HD_INLINE bool may_pass(std::size_t at, const Float4& way) const {
    return near_wall[at] != 0 || is_far(way);
  }

  HD_INLINE bool operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = points[at], way = moved[at];
    const bool some = may_pass(at, way);
    if (!some) move(at, me, way);
    return some;
  }
  HD_CALLED void some(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = points[at], way = moved[at];
    const Vec3 kept = stopped(at, me, way);
    const std::uint32_t slot = walls.walls.slot_of[at];
    const bool counts = near_wall[at] != 0 || slot != ~0u;
    if (slot != ~0u && !(kept == Vec3(me.x, me.y, me.z))) walls.measure(slot, Team<1>{}, i, kept);
    leave(at, me, way, kept, counts ? Vec3(pushed[at]) : Vec3{}, counts);
  }
  // As far as solids let it go on its way from the start of the step.
  HD_INLINE Vec3 stopped(std::size_t at, const Float4& me, const Float4& way) const {
    const Vec3 end(me.x, me.y, me.z), by(way.x, way.y, way.z);
    return solids.move(near_wall[at] != 0 ? Vec3(x[at]) : end - by - dt * Vec3(v[at]), end);
  }
  // Where it was stopped. `push`: by solids before; `counts`: one was near.
  HD_INLINE void leave(std::size_t at, const Float4& me, const Float4& way, const Vec3& kept,
                       const Vec3& push, bool counts) const {
    const Vec3 held = kept - Vec3(me.x, me.y, me.z), total = Vec3(way.x, way.y, way.z) + held;
    const Vec3 lost = counts ? spare(v[at], total) : Vec3{}, left = total - lost;
    const Float4 there{kept.x, kept.y, kept.z, me.w};
    pushed[at] = push + held - lost;
    near_wall[at] = 1;
    points[at] = there;
    move(at, there, {left.x, left.y, left.z, way.w});
  }
  // Who moves more than a spacing in a step lands anywhere among the others, and may be turned by
  // that, but not made faster: in the edge of a wall and a floor, where nobody can make way, such
  // pushes add up and shoot particles along it. The wall takes what is too much [m].
  HD_INLINE Vec3 spare(const Vec3& before, const Vec3& total) const {
    const Vec3 way = dt * before + total;
    const float most = max(dt * length(before), spacing), far = length(way);
    return far > most ? (1.0f - most / far) * way : Vec3{};
  }
  HD_INLINE void move(std::size_t at, const Float4& me, const Float4& way) const {
    const Vec3 velocity = v[at] + Vec3(way.x, way.y, way.z) / dt;
    x[at] = Vec3(me.x, me.y, me.z);
    multiplier[at] = way.w;
    if (v_and_spin.size == 0) {
      v[at] = velocity;
    } else {
      v_and_spin[at] = {velocity.x, velocity.y, velocity.z, spin.size > 0 ? spin[at] : 0.0f};
    }
  }
};

// All that solids do to the particles near them, after an iteration's corrections: their share of
// those, dp_i = w_i V sum_b a (lambda_i + lambda_b) grad W, which is what the solid is pushed by;
// collision, which puts out of a solid who is in it; and their part of the sums of the next one.
// After the last ones the particles are moved on.
template <bool kLast>
struct MeetWalls {
  MeasureWalls sums;
  View<const Float4> wall_lambda;
  View<const Float4> points_and_lambda;  // before the corrections
  View<const std::uint8_t> near_wall;
  Containment solids;
  bool first;           // of the iterations
  View<Float4> points;  // in and out
  View<Float4> moved;   // in and out [m], sum of lambda
  View3<float> pushed;  // in and out [m]
  MoveOn move_on;

  template <class Team>
  HD_INLINE Vec3 push_on(int i, float w, Team team) const {
    const Kernels& k = sums.k;
    const Float4 before = packed(points_and_lambda, static_cast<std::uint32_t>(i));
    const auto push =
        sum_pairs<team.kSize>(sums.walls.near, sums.walls.points, wall_lambda, i,
                              {before.x, before.y, before.z}, WallPushSums{k.G, before.w});
    return (w * k.V * k.G.slope()) * push.vector(0);
  }
  template <class Team>
  HD_INLINE void operator()(int touched, Team team) const {
    const auto slot = static_cast<std::uint32_t>(touched);
    if (!sums.is_one(slot)) return;
    const auto at = static_cast<std::size_t>(sums.walls.touched[slot]);
    const auto i = static_cast<int>(at);
    const Float4 me = points[at], so_far = moved[at];
    const Vec3 from(me.x, me.y, me.z);
    Vec3 push = push_on(i, me.w, team);
    if (near_wall[at] != 0) push = solids.push_out(from + push) - from;
    const Vec3 p = from + push;
    const Vec3 all = (first && near_wall[at] == 0 ? Vec3{} : Vec3(pushed[at])) + push;
    const Float4 there{p.x, p.y, p.z, me.w};
    const Float4 way{so_far.x + push.x, so_far.y + push.y, so_far.z + push.z, so_far.w};
    const bool stops = kLast && move_on.may_pass(at, way);
    const Vec3 kept = stops ? move_on.stopped(at, there, way) : p;
    sums.measure(slot, team, i, kept);
    if (!team.leads()) return;
    if (stops) return move_on.leave(at, there, way, kept, all, true);
    points[at] = there;
    pushed[at] = all;
    if constexpr (kLast) {
      move_on.move(at, there, way);
    } else {
      moved[at] = way;
    }
  }
};

// dp_i = w_i V sum_j (lambda_i + lambda_j + s_corr) grad W,  p_i += dp_i               (12), (14)
//
// Boundary samples count like fluid that goes on behind the wall (MeetWalls).
//
// s_corr's share of the pressure: the multiplier that would do the same work, sum s grad G . r / 2
// over sum grad G . r.
//
// The last ones also move on whoever is near no solid and was not moved far.
template <bool kLast>
struct Corrections {
  Neighbours near;
  View<const Float4> points_and_lambda;
  View<const std::uint8_t> material;
  View<const float> inverse_mass_of;  // w by material
  View<const std::uint8_t> near_wall;
  Kernels k;
  ArtificialPressure s_corr;
  bool first;           // of the iterations
  View<Float4> points;  // out: x*, w
  View<Float4> moved;   // in and out [m], sum of lambda [m^2]
  MoveOn move_on;
  std::uint32_t* left_count;  // in and out
  View<std::uint32_t> left;   // out: whom MoveOn is left to see to, in any order

  template <class Team>
  HD_INLINE void operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = packed(points_and_lambda, static_cast<std::uint32_t>(i));
    const Vec3 p(me.x, me.y, me.z);
    const float w = inverse_mass_of[material[at]];
    const auto sums =
        sum_pairs<team.kSize>(near, points_and_lambda, i, p, CorrectionSums{k.G, s_corr, me.w});
    if (!team.leads()) return;
    const Vec3 dp = (w * k.V * k.G.slope()) * sums.vector(0);
    const float lambda = me.w - 0.5f * sums[3] / max(sums[4], 1e-30f);
    const Float4 before = first && near_wall[at] == 0 ? Float4{} : moved[at];
    const Float4 way{before.x + dp.x, before.y + dp.y, before.z + dp.z, before.w + lambda};
    const Float4 there{p.x + dp.x, p.y + dp.y, p.z + dp.z, w};
    points[at] = there;
    if constexpr (kLast) {
      if (!move_on.meets_walls(at)) {
        if (!move_on.may_pass(at, way)) return move_on.move(at, there, way);
        left[count_up(left_count)] = static_cast<std::uint32_t>(i);
      }
    }
    moved[at] = way;
  }
};

template <bool kPaper>
struct DensitySum {
  static constexpr int kSums = 1;
  KernelScale h;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    const T b = kPaper ? d.b(h) : d.a;
    sums[0] += b * b * b;
  }
};
// What the last pass finds out about the new state.
struct Ending {
  Excess excess;
  VitalSigns vitals;
  std::uint64_t pairs = 0;  // of neighbours
};
struct JoinEnding {
  static HD Ending identity() { return {}; }
  static HD Ending combine(const Ending& a, const Ending& b) {
    return {JoinExcess::combine(a.excess, b.excess), JoinVitals::combine(a.vitals, b.vitals),
            a.pairs + b.pairs};
  }
};

// The densities that the step ends with, and the pressure it took.
//     p = -rho_0 slope (sum of lambda) / dt^2
// for where lambda grows by c a metre, dp = V sum lambda_j grad W = slope c, which in dt is the
// acceleration of a pressure that falls by rho_0 slope c / dt^2 a metre.
struct Densities {
  Neighbours near;
  View<const Float4> points;
  View3<const float> v;
  View<const std::uint32_t> slot_of;
  View<const WallPart> parts;
  Kernels k;
  View<const std::uint8_t> material;
  View<const float> density_of;   // at rest, by material [kg/m^3]
  float pressure_scale;           // -rho_0 slope / dt^2 [kg/(m^3 s^2)]
  View<const float> multiplier;   // [m^2]
  View<float> density, pressure;  // out [kg/m^3], [Pa]

  // `count`: sum of W over the neighbours, without its scale.
  HD_INLINE Ending record(int i, const Vec3& x, const Vec3& velocity, float count) const {
    const auto at = static_cast<std::size_t>(i);
    count += 1.0f;
    if (slot_of[at] != ~0u) count += parts[slot_of[at]].count;
    const float relative = k.V * k.density_scale * count;
    const float p = pressure_scale * multiplier[at];
    density[at] = density_of[material[at]] * relative;
    pressure[at] = p;
    return {excess_of(relative - 1.0f), vital_signs(x, velocity, i),
            static_cast<std::uint64_t>(near.count(i))};
  }
  template <class Team>
  HD_INLINE Ending operator()(int i, Team team) const {
    const auto at = static_cast<std::uint32_t>(i);
    const Vec3 p = point(points, at);
    const auto count = k.paper ? sum_pairs<team.kSize>(near, points, i, p, DensitySum<true>{k.G})
                               : sum_pairs<team.kSize>(near, points, i, p, DensitySum<false>{k.G});
    if (!team.leads()) return {};
    return record(i, p, v[at], count[0]);
  }
};

// Sums over the velocities of the neighbours, and densities: the powers in them.
//
// XSPH's is weighted so that different masses keep their momentum. The paper's (15) has v_j - v_i,
// which is minus the curl: its confinement would damp.
template <bool kOneMass, bool kWhirls>
struct SmoothSums {
  static constexpr int kSums = kWhirls ? 10 : 4;
  KernelScale h;
  bool paper;
  Float4 v;  // of i, with its spin
  float w;   // inverse mass of i
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    const T a2 = d.a * d.a, b = d.b(h), W = b * b * b;
    const T share = kOneMass ? W : W * (2.0f * w / (w + j.w));
    const T vx = v.x - j.ux, vy = v.y - j.uy, vz = v.z - j.uz;
    sums[0] -= share * vx;
    sums[1] -= share * vy;
    sums[2] -= share * vz;
    sums[3] += paper ? W : a2 * d.a;
    if constexpr (kWhirls) {
      const T f = a2 * d.inv_r, steep = f * (j.uw - v.w);
      sums[4] += f * (vy * j.z - vz * j.y);
      sums[5] += f * (vz * j.x - vx * j.z);
      sums[6] += f * (vx * j.y - vy * j.x);
      sums[7] += steep * j.x;
      sums[8] += steep * j.y;
      sums[9] += steep * j.z;
    }
  }
};

// v += c sum_j d^3 (v_j - v_i) W                                                            (17)
// omega_i = sum_j V (v_i - v_j) x grad_i W                                                  (15)
// v += dt eps_v h (N x omega), N = eta / |eta|, eta = grad |omega|                          (16)
// and, as the neighbours are at hand, the densities.
//
// |omega| in eta is that of the step before, of the same particles: whirls move with them, and all
// is done in one pass.
struct Smooth {
  Neighbours near;
  View<const Float4> points;      // x*, w
  View<const Float4> v_and_spin;  // v, |omega| of the step before
  Kernels k;
  float xsph;      // c of this step
  float strength;  // dt eps_v h [m]; 0: no confinement
  bool one_mass;   // all particles have the same
  Densities densities;
  View<float> spin;  // out: |omega| [1/s]
  View3<float> v;    // out

  template <class Team>
  HD_INLINE Ending operator()(int i, Team team) const {
    return strength > 0.0f ? smooth<true>(i, team) : smooth<false>(i, team);
  }
  template <bool kWhirls, class Team>
  HD_INLINE Ending smooth(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = packed(points, static_cast<std::uint32_t>(i));
    const Float4 moving = packed(v_and_spin, static_cast<std::uint32_t>(i));
    const Vec3 p(me.x, me.y, me.z);
    const auto sums =
        one_mass ? sum_pairs<team.kSize>(near, points, v_and_spin, i, p,
                                         SmoothSums<true, kWhirls>{k.G, k.paper, moving, me.w})
                 : sum_pairs<team.kSize>(near, points, v_and_spin, i, p,
                                         SmoothSums<false, kWhirls>{k.G, k.paper, moving, me.w});
    if (!team.leads()) return {};
    Vec3 velocity =
        Vec3(moving.x, moving.y, moving.z) + (xsph * k.volume * k.W.w_scale) * sums.vector(0);
    if constexpr (kWhirls) {
      const float slope = k.V * k.G.slope();
      const Vec3 omega = (slope / k.slope) * sums.vector(4), eta = slope * sums.vector(7);
      const float steepness = length(eta);
      // A gradient that is rounding has no direction.
      if (steepness * k.W.h > 1e-4f * moving.w) {
        velocity += (strength / steepness) * cross(eta, omega);
      }
      spin[at] = length(omega);
    }
    v[at] = velocity;
    return densities.record(i, p, velocity, sums[3]);
  }
};

// ---- What the host reads

// What a step leaves on the device for the host to read in one go: of each iteration the excess
// before it, of each two solids their pushes, and the rest once.
struct Results {
  Excess excess;
  Pushes pushes;
  Bounds bounds;              // of x*, where the cells were laid out by a guess
  std::uint32_t touched = 0;  // particles near solids
  std::uint32_t left = 0;     // that the last corrections left to MoveOn
  Ending ending;
};

}  // namespace barchan::pbf
