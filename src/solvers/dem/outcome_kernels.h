// What the host has to know of a step: how contacts and grains are, what solids feel, energies.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "sim/measure_kernels.h"
#include "solvers/dem/pair_kernels.h"

namespace barchan::dem {

// What the contacts of a step were like, and the grains after it.
struct Summary {
  VitalSigns vitals;
  float deepest = 0.0f;        // overlap over the sphere's radius
  std::uint32_t contacts = 0;  // each pair counts twice
  std::uint32_t most = 0;      // that one grain has
  // After another step of the same length: how far from where the lists were made a point of a
  // grain will be at most [m]; and how fast it goes there [m/s].
  float ahead = 0.0f, pace = 0.0f;
};
struct JoinSummary {
  static HD Summary identity() { return {}; }
  static HD Summary combine(const Summary& a, const Summary& b) {
    return {
        JoinVitals::combine(a.vitals, b.vitals), max(a.deepest, b.deepest), a.contacts + b.contacts,
        a.most > b.most ? a.most : b.most,       max(a.ahead, b.ahead),     max(a.pace, b.pace)};
  }
};

// ---- What the grains did to solids that they met by distance, a few at a time

inline constexpr int kSolidsPerPass = 4;

struct Wrench {
  Vec3d force;   // [N]
  Vec3d moment;  // about the world's origin [N m]
};

struct SolidSums {
  Vec3d force[kSolidsPerPass];   // [N]
  Vec3d moment[kSolidsPerPass];  // about the world's origin [N m]
};
struct JoinSolidSums {
  static HD SolidSums identity() { return {}; }
  static HD SolidSums combine(const SolidSums& a, const SolidSums& b) {
    SolidSums sum;
    for (int s = 0; s < kSolidsPerPass; ++s) {
      sum.force[s] = a.force[s] + b.force[s];
      sum.moment[s] = a.moment[s] + b.moment[s];
    }
    return sum;
  }
};

struct PushSolids {
  View<const Sphere> spheres;
  Lists lists;
  View<const Float4> wall_force, wall_torque;
  std::uint32_t solids[kSolidsPerPass];

  HD SolidSums operator()(int at) const {
    const auto e = static_cast<std::size_t>(at);
    const Float4 f = wall_force[e], t = wall_torque[e];
    const Sphere& A = spheres[lists.wall_sphere[e]];
    const Vec3d force(-static_cast<double>(f.x), -static_cast<double>(f.y),
                      -static_cast<double>(f.z));
    const Vec3d torque(-static_cast<double>(t.x), -static_cast<double>(t.y),
                       -static_cast<double>(t.z));
    const Vec3d moment = cross(Vec3d(A.x) + Vec3d(A.low), force) + torque;
    SolidSums sums;
    for (int s = 0; s < kSolidsPerPass; ++s) {  // by compare: a run-time index would spill
      if (lists.wall_solid[e] == solids[s]) {
        sums.force[s] = force;
        sums.moment[s] = moment;
      }
    }
    return sums;
  }
};

// To be fetched at once: a pass over the solids each, the first with all grains.
struct Outcome {
  Summary met;
  SolidSums solids;
};

// ---- Energies

struct SpinEnergy {
  View3<const float> w;
  View4<const float> q;
  View<const float> scale, mass;
  View<const std::uint8_t> material;
  View<const GrainType> types;
  HD double operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 I = inertia_of(types[material[i]], mass[i], scale[i]);
    const Vec3 own = q.w == nullptr ? Vec3(w[i]) : inverse_rotate(q[i], Vec3(w[i]));
    return 0.5 * static_cast<double>(dot(own, multiply(I, own)));
  }
};
// Behind the torques.
struct StoredEnergy {
  View<const Float4> torque;
  HD double operator()(int at) const {
    return static_cast<double>(torque[static_cast<std::size_t>(at)].w);
  }
};

}  // namespace barchan::dem
