// Runge-Kutta-Fehlberg 4(5) over all grains at once (Bell, Yu & Mucha 2005, 3.4), for both devices.
//
//   y = (x, v, q, L),   x' = v,   v' = g + F/m,   q' = w q / 2,   L' = T
//
// Stage k is at y + h sum_j a_kj y'_j; the fifth-order result is y + h sum_j b_j y'_j, and the
// fourth-order one that is found from the same slopes differs from it by h sum_j e_j y'_j.
#pragma once

#include "solvers/dem/motion_kernels.h"

namespace barchan::dem {

inline constexpr int kStages = 6;

struct Fehlberg {
  double c[kStages] = {0.0, 1.0 / 4, 3.0 / 8, 12.0 / 13, 1.0, 1.0 / 2};
  double a[kStages][kStages] = {
      {},
      {1.0 / 4},
      {3.0 / 32, 9.0 / 32},
      {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197},
      {439.0 / 216, -8.0, 3680.0 / 513, -845.0 / 4104},
      {-8.0 / 27, 2.0, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40},
  };
  double b[kStages] = {16.0 / 135, 0.0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55};
  double e[kStages] = {1.0 / 360, 0.0, -128.0 / 4275, -2197.0 / 75240, 1.0 / 50, 2.0 / 55};
};

// Grains at one time.
struct Motion {
  View3<float> x, low, v, w, L;
  View4<float> q;  // empty where all grains are spheres
};
// y' there.
struct Slope {
  View3<float> v, F, T;
  View4<float> q;
};
// What does not change in a step.
struct Grains {
  View<const float> scale, mass;
  View<const std::uint8_t> material;
  View<const GrainType> types;
  HD Vec3 inertia(std::size_t i) const { return inertia_of(types[material[i]], mass[i], scale[i]); }
};

struct BeginRkf {
  View3<const float> x, low, v, w, L;  // L: empty where all moments are equal
  View4<const float> q;
  Grains grains;
  Motion out;
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    out.x[i] = Vec3(x[i]);
    out.low[i] = Vec3(low[i]);
    out.v[i] = Vec3(v[i]);
    out.w[i] = Vec3(w[i]);
    out.L[i] = L.x != nullptr ? Vec3(L[i]) : grains.inertia(i).x * Vec3(w[i]);
    if (q.w != nullptr) out.q.set(i, q[i]);
  }
};

// h times the sum of slopes by `weight`.
struct RkfSum {
  Slope slopes[kStages];
  float weight[kStages];
  int count;
  float h;

  HD Vec3 of(View3<float> Slope::*part, std::size_t i) const {
    Vec3 sum;
    for (int j = 0; j < count; ++j) sum += weight[j] * Vec3((slopes[j].*part)[i]);
    return h * sum;
  }
  HD Quat turn(std::size_t i) const {
    Quat sum(0.0f, 0.0f, 0.0f, 0.0f);
    for (int j = 0; j < count; ++j) {
      const Quat q = slopes[j].q[i];
      const float share = h * weight[j];
      sum =
          Quat(sum.w + share * q.w, sum.x + share * q.x, sum.y + share * q.y, sum.z + share * q.z);
    }
    return sum;
  }
  HD float all() const {
    float sum = 0.0f;
    for (int j = 0; j < count; ++j) sum += weight[j];
    return h * sum;
  }
};

struct RkfAdvance {
  Motion from, to;
  Grains grains;
  RkfSum sum;
  Vec3 gravity;
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    Vec3 rest;
    to.x[i] = two_sum(Vec3(from.x[i]), Vec3(from.low[i]) + sum.of(&Slope::v, i), rest);
    to.low[i] = rest;
    to.v[i] =
        Vec3(from.v[i]) + sum.all() * gravity + (1.0f / grains.mass[i]) * sum.of(&Slope::F, i);
    const Vec3 L = Vec3(from.L[i]) + sum.of(&Slope::T, i);
    to.L[i] = L;
    Quat q;
    if (from.q.w != nullptr) {
      const Quat old = from.q[i], turn = sum.turn(i);
      q = normalized(Quat(old.w + turn.w, old.x + turn.x, old.y + turn.y, old.z + turn.z));
      to.q.set(i, q);
    }
    to.w[i] = without_inertia(q, grains.inertia(i), L);
  }
};

// What the two results differ by, over what is allowed.
struct RkfError {
  Grains grains;
  RkfSum sum;
  float place, speed;  // allowed: over the radius, and [m/s]
  HD float operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const float r = grains.scale[i];
    const Vec3 I = grains.inertia(i);
    const float least = min(I.x, min(I.y, I.z));
    const float x = length(sum.of(&Slope::v, i)) / (place * r);
    const float v = length(sum.of(&Slope::F, i)) / (grains.mass[i] * speed);
    const float w = length(sum.of(&Slope::T, i)) * r / (least * speed);
    return max(x, max(v, w));
  }
};

struct RkfSlope {
  SphereForces forces;
  Motion at_stage;
  Grains grains;
  GrainTypes shapes;
  Slope out;
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    Vec3 F, T;
    Summary unused;
    const Arms arms = arms_of(shapes, grains.material[i], grains.scale[i], at_stage.q, i);
    forces.on_grain(i, arms, F, T, unused);
    out.v[i] = Vec3(at_stage.v[i]);
    out.F[i] = F;
    out.T[i] = T;
    if (at_stage.q.w == nullptr) return;
    const Quat turn = Quat(0.0f, 0.5f * Vec3(at_stage.w[i])) * at_stage.q[i];
    out.q.set(i, turn);
  }
};

struct EndRkf {
  Motion from;
  View3<float> x, low, v, w, L;  // out
  View4<float> q;                // as they were at the beginning of the step; out
  View<float> turned;            // likewise
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    x[i] = Vec3(from.x[i]);
    low[i] = Vec3(from.low[i]);
    v[i] = Vec3(from.v[i]);
    w[i] = Vec3(from.w[i]);
    if (L.x != nullptr) L[i] = Vec3(from.L[i]);
    if (q.w == nullptr) return;
    turned[i] += length(rotation_vector(q[i], from.q[i]));
    q.set(i, from.q[i]);
  }
};

}  // namespace barchan::dem
