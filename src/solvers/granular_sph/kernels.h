// PCISPH with friction and cohesion, one particle at a time, for both devices: the start and the
// end of a step. pressure_kernels.h and stress_kernels.h have what is iterated between them. Alduan
// & Otaduy 2011; README.md maps each equation to its struct.
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
#include "math/random.h"
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

// What stress a particle can carry under the pressure p [Pa].
HD inline float strength(const Matter& m, float p, float bonds) {
  return m.friction * p + 1.41421356f * bonds * bonds * m.cohesion;
}

// What a particle is to reach in a step, and its b (Kernels::beside).
struct alignas(16) Goal {
  float lack;    // the density that it is to have less that at the step's start, over that at rest
  float ease;    // of the corrections, where particles are crowded: see Press
  float error;   // how far it was from there before the last correction
  float beside;  // b
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

  template <class Team>
  HD_INLINE void operator()(int touched, Team team) const {
    const auto slot = static_cast<std::uint32_t>(touched);
    if (slot >= *walls.count) return;
    const std::uint32_t i = walls.touched[slot];
    const Vec3 x = point(points, i);
    const auto sums =
        sum_pairs<team.kSize>(walls.near, walls.points, static_cast<int>(i), x, WallSums{k.W});
    if (!team.leads()) return;
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
      const Pair<float> d(near_of(x, b), k.W);
      part.closing -= k.wall_grad * b.w * d.g() * dot(r, velocity_at(solid, x));
    }
    const float scale = all > 0.0f ? 1.0f / all : 0.0f;
    part.friction *= scale;
    part.velocity = scale * part.velocity;
  }
};

// v* with x, in packs as short as can be: a GPU's passes over neighbours take as long as what they
// read of each.
template <class Four, class Two>
struct Moving {
  View<Four> points;  // x, v*.x
  View<Two> rest;     // v*.y, v*.z

  HD Vec3 place(int i) const { return point(points, static_cast<std::uint32_t>(i)); }
  HD Vec3 velocity(int i) const {
    const auto at = static_cast<std::size_t>(i);
    return {points[at].w, rest[at].x, rest[at].y};
  }
  HD void set(std::size_t at, const Vec3& x, const Vec3& v) const {
    points[at] = {x.x, x.y, x.z, v.x};
    rest[at] = {v.y, v.z};
  }
};
using Star = Moving<Float4, Float2>;
using ConstStar = Moving<const Float4, const Float2>;

// s, in packs for those who need it alone, and for those who need more.
struct StressView {
  View<Float4> first;  // xx, yy, zz, xy
  View<Float2> rest;   // xz, yz
  View<Float4> more;   // xz, yz, 1 / strength, b

  HD void set(std::size_t i, const Sym3& s, float per_strength, float b) const {
    first[i] = {s.xx, s.yy, s.zz, s.xy};
    rest[i] = {s.xz, s.yz};
    more[i] = {s.xz, s.yz, per_strength, b};
  }
};

// ---- The step's start, in the order of the cells

// Pressure begins with shares of the last step's own and, in sand that does not cohere, of the mean
// around a particle. See KeepStress.
struct Warm {
  float own, mean;
};
struct Gather {
  View<const std::uint32_t> order;
  View3<const float> x, v;
  View<const float> pressure, mean;  // [Pa]; the mean is empty without sand
  View<const std::uint8_t> material;
  View<const Matter> matter;
  Warm smooth, loose;          // of fluids and soil, of sand
  View<Float4> points;         // out: x
  View<Float4> with_pressure;  // out: x, p
  View<Float4> velocities;     // out: v, alpha rho

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t from = order[i];
    const Vec3 p = x[from], u = v[from];
    const Matter& m = matter[material[from]];
    points[i] = {p.x, p.y, p.z, 0.0f};
    const float start = m.rough && m.cohesion <= 0.0f
                            ? loose.own * pressure[from] + loose.mean * mean[from]
                            : smooth.own * pressure[from];
    with_pressure[i] = {p.x, p.y, p.z, start};
    velocities[i] = {u.x, u.y, u.z, m.viscosity};
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
  View<const float> packing;    // see Pack; empty without sand
  Kernels k;
  Target target;
  Vec3 gravity;              // [m/s^2]
  float dt;                  // [s]
  float sound;               // c_s h / 2 of the viscosity [m^2/s]
  View<Float4> free;         // out: v + dt (g + viscosity), b
  Star star;                 // out: v*
  View<Float4> more_stress;  // out: b as its last number; empty without sand
  View<Float4> pull;         // out: nothing yet; b; likewise
  View<Goal> goals;          // out
  View<float> density;       // out [kg/m^3]

  template <class Team>
  HD_INLINE Excess operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = packed(with_pressure, static_cast<std::uint32_t>(i));
    const Float4 mine = packed(velocities, static_cast<std::uint32_t>(i));
    const Matter& m = matter[material[at]];
    const Vec3 x(me.x, me.y, me.z), v(mine.x, mine.y, mine.z);
    const auto sums = sum_pairs<team.kSize>(near, with_pressure, velocities, i, x,
                                            MeasureSums{k.W, v, me.w, mine.w});
    if (!team.leads()) return {};
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
    star.set(at, x, end);
    if (more_stress.size > 0) {
      more_stress[at].w = beside;
      pull[at] = {0.0f, 0.0f, 0.0f, beside};
    }
    const float packed_by = packing.size > 0 ? packing[at] : 0.0f;
    goals[at] = {target(c - swept + packed_by) - packed_by - c,
                 min(1.0f, k.squares / max(sums[7], 1e-6f)), 0.0f, beside};
    density[at] = c * m.density;
    const float excess = max(c - 1.0f, 0.0f);
    return {excess, excess, static_cast<std::uint64_t>(near.count(i))};
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
//
// Each particle keeps a distance of its own. All that is pressed into a corner would otherwise end
// in the same point, where nothing parts it again: pairs push along r.
inline constexpr float kDistances = 0.2f;  // how much smaller than the net's, at most
struct MoveOn {
  Star star;  // in; out, of those near solids: w in the place of v*.x, for PushSolids
  View<const Float4> smoothed;  // v* after LookAround; empty without sand
  View<const Float4> free, with_pressure;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const std::uint32_t> slot_of;
  View<const WallPart> parts;
  View<const std::uint64_t> id;
  Containment solids;
  float dt, fast;                // [s], [m/s]
  View<std::uint8_t> near_wall;  // out: `pushed` counts
  View3<float> pushed;           // out: what solids did to it, times dt [m]
  View3<float> x, v;             // out
  View<float> pressure;          // out [Pa]

  HD_INLINE bool operator()(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 from = star.place(i);
    const Vec3 wanted =
        smoothed.size > 0 ? point(smoothed, static_cast<std::uint32_t>(i)) : star.velocity(i);
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
    if (near || slot != ~0u) {
      pushed[at] = slot == ~0u ? Vec3{} : (dt * dt) * parts[slot].push;
      star.points[at].w = matter[material[at]].weight;
    }
    return near;
  }
  HD_CALLED void some(int i) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 from = star.place(i), to = x[at];
    Containment own = solids;
    own.radius *= 1.0f - kDistances * Random{}.uniform(id[at], 0);
    const Vec3 kept = own.move(from, to), change = kept - to;
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
