// Pressure, and friction on walls: see kernels.h for the symbols.
#pragma once

#include "solvers/granular_sph/kernels.h"

namespace barchan::gsph {

struct RateSums {
  static constexpr int kSums = 1;  // of slope (v_i - v_j) . r / r
  KernelScale h;
  Vec3 v;
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const Pair<T> d(j, h);
    sums[0] += d.g() * ((v.x - j.w) * j.x + ((v.y - j.ux) * j.y + (v.z - j.uy) * j.z));
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
  ConstStar star;
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

  template <class Team>
  HD_INLINE Excess operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Vec3 x = star.place(i), v = star.velocity(i);
    const auto sums = sum_pairs<team.kSize>(near, star.points, star.rest, i, x, RateSums{k.W, v});
    if (!team.leads()) return {};
    float rate = sums[0];
    if (slot_of[at] != ~0u) rate += dot(v, parts[slot_of[at]].grad);
    const float rho = matter[material[at]].density;
    Goal goal = goals[at];
    const float error = (dt * k.steep) * rate - goal.lack, before = with_pressure[at].w;
    if (error * goal.error < 0.0f && std::abs(error) > kSmaller * std::abs(goal.error)) {
      goal.ease *= 0.5f;
    }
    goal.error = error;
    goals[at] = goal;
    // No more than what would undo an excess density of 1: whatever happens, it stays finite.
    const float most = delta * rho, p = before + goal.ease * most * error;
    with_pressure[at] = {x.x, x.y, x.z, max(-most_pull * most, min(p, most))};
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

  template <class Team>
  HD_INLINE void operator()(int sample, Team team) const {
    const auto b = static_cast<std::uint32_t>(sample);
    const auto sums = sum_pairs<team.kSize>(walls.fluid, with_pressure, sample,
                                            point(walls.points, b), MeanSums{k.W});
    const float p = sums[0] / max(sums[1], 1e-6f);
    if (team.leads()) wall_pressure[b] = {p, 0.0f, 0.0f, 0.0f};
  }
};

// What the next step needs of the particles around: the mean pressure [Pa], which strength is of.
//
// And rows of particles that shift against each other, each the other way than the next, have no
// rate of strain: neighbours on opposite sides cancel. Friction does not see them, pressure drives
// them, and what was filled as a lattice moves, row by row, until it is none. So neighbours that
// hardly move against each other stick together. What shears as a whole has a rate of strain, which
// counts as speed: it flows and feels nothing of that, however slow it is.
//     v_i += sum_j V W max(0, 1 - (|v_j - v_i|^2 + a^2 (|e_i|^2 + |e_j|^2)) / v_0^2) (v_j - v_i)
struct AroundSums {
  static constexpr int kSums = 5;  // of p_j W, W and the sum above
  KernelScale h;
  Vec3 v;          // of i
  float shear;     // (a |e|)^2 of i [m^2/s^2]
  float per_slow;  // 1 / v_0^2 [s^2/m^2]
  template <class T>
  HD void operator()(const Near<T>& j, T* sums) const {
    const T W = Pair<T>(j, h).shape();
    const T x = j.w - v.x, y = j.ux - v.y, z = j.uy - v.z;
    const T shears = j.sy + shear;
    const T stick = W * positive(1.0f - per_slow * (x * x + (y * y + (z * z + shears))));
    sums[0] += j.sx * W;
    sums[1] += W;
    sums[2] += stick * x;
    sums[3] += stick * y;
    sums[4] += stick * z;
  }
};
struct GatherShear {
  View<const Float4> with_pressure;
  View<const float> strain_rate;  // [1/s]
  View<const std::uint8_t> material;
  View<const Matter> matter;
  float reach;                      // a [m]
  View<Float2> pressure_and_shear;  // out: p [Pa], (a |e|)^2 [m^2/s^2]
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const float shear = matter[material[i]].rough ? reach * strain_rate[i] : 1e6f;  // water: never
    pressure_and_shear[i] = {with_pressure[i].w, shear * shear};
  }
};
struct LookAround {
  Neighbours near;
  ConstStar star;
  View<const Float2> pressure_and_shear;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  Kernels k;
  float slow;               // v_0 [m/s]
  float least;              // density of the lightest material: momentum is kept [kg/m^3]
  View<float> mean;         // out [Pa]
  View<Float4> velocities;  // out: v*

  template <class Team>
  HD_INLINE void operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Float2 me = packed(pressure_and_shear, static_cast<std::uint32_t>(i));
    const Vec3 v = star.velocity(i);
    const auto sums =
        sum_pairs<team.kSize>(near, star.points, star.rest, pressure_and_shear, i, star.place(i),
                              AroundSums{k.W, v, me.y, 1.0f / (slow * slow)});
    if (!team.leads()) return;
    const Vec3 to = v + (k.count * least / matter[material[at]].density) * sums.vector(2);
    const float viscosity = velocities[at].w;
    mean[at] = (me.x + sums[0]) / (1.0f + sums[1]);
    velocities[at] = {to.x, to.y, to.z, viscosity};
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

// v* = v + dt a,  a = -(V / rho) sum_j (p_i + p_j) grad W; what walls do is added by MeetWalls.
struct Push {
  Neighbours near;
  View<const Float4> with_pressure, free;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  View<const Float4> pull;  // acceleration by s; empty without sand
  Kernels k;
  float dt;   // [s]
  Star star;  // out: v*

  template <class Team>
  HD_INLINE void operator()(int i, Team team) const {
    const auto at = static_cast<std::size_t>(i);
    const Float4 me = packed(with_pressure, static_cast<std::uint32_t>(i));
    const Vec3 x(me.x, me.y, me.z);
    const auto sums = sum_pairs<team.kSize>(near, with_pressure, i, x, PushSums{k.W, me.w});
    if (!team.leads()) return;
    const float scale = k.grad / matter[material[at]].density;
    Vec3 v = point(free, static_cast<std::uint32_t>(i)) - (dt * scale) * sums.vector(0);
    if (pull.size > 0) v += dt * point(pull, static_cast<std::uint32_t>(i));
    star.set(at, x, v);
  }
};

// The same sum over the walls' samples, of those that have some near; then Coulomb's friction on
// them: f -= 0.7 v*_t / dt, along the wall, |f| <= mu |a_wall|.
//
// Friction follows v* by a share only, as v* has more to come in the next iterations.
//
// A wall carries a part of water's weight by the pressures of its samples. Of sand it must not: all
// samples near a particle push it with their mean pressure, and what that leaves of its weight the
// particles beside it carry (Kernels::beside). Water would be stirred by that.
inline constexpr float kFollow = 0.7f;
struct MeetWalls {
  Neighbours near;
  BoundaryView walls;
  View<const Float4> with_pressure, free, wall_pressure;
  View<const std::uint8_t> material;
  View<const Matter> matter;
  Kernels k;
  float dt;               // [s]
  View<WallPart> parts;   // in and out: what they do
  View3<float> friction;  // in and out: f [m/s^2]
  Star star;              // in and out: v*

  template <class Team>
  HD_INLINE void operator()(int touched, Team team) const {
    const auto slot = static_cast<std::uint32_t>(touched);
    if (slot >= *walls.count) return;
    const auto at = static_cast<std::size_t>(walls.touched[slot]);
    const auto i = static_cast<int>(at);
    const Matter& m = matter[material[at]];
    const float scale = k.grad / m.density;
    const Vec3 push = by_walls(i, parts[slot], m, team);
    const Vec3 more = m.rough ? beside(i, team) : Vec3{};
    if (!team.leads()) return;
    Vec3 v = star.velocity(i) - (dt * scale) * more;
    v += dt * meet(at, m, parts[slot], -scale * push, v);
    star.set(at, star.place(i), v);
  }
  // Sum of b_i b_j slope (p_i + p_j) r / r.
  template <class Team>
  HD_INLINE Vec3 beside(int i, Team team) const {
    const Float4 me = packed(with_pressure, static_cast<std::uint32_t>(i));
    const auto sums = sum_pairs<team.kSize>(near, with_pressure, free, i, {me.x, me.y, me.z},
                                            BesideSums{k.W, me.w});
    return free[static_cast<std::size_t>(i)].w * sums.vector(0);
  }
  // Sum of a slope (p_i + p_b) r / r.
  template <class Team>
  HD_INLINE Vec3 by_walls(int i, const WallPart& wall, const Matter& m, Team team) const {
    const Float4 me = packed(with_pressure, static_cast<std::uint32_t>(i));
    const Vec3 x(me.x, me.y, me.z);
    if (m.rough) {
      const auto sums =
          sum_pairs<team.kSize>(walls.near, walls.points, wall_pressure, i, x, WallMeanSums{k.W});
      const float around = sums[0] / min(sums[1], -1e-6f);
      return (me.w + around) * wall.grad;
    }
    const auto sums = sum_pairs<team.kSize>(walls.near, walls.points, wall_pressure, i, x,
                                            WallPushSums{k.W, me.w});
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

}  // namespace barchan::gsph
