// Kernels behind measures.h, for both devices.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "math/sph_kernels.h"
#include "math/vec3.h"
#include "spatial/cells.h"

namespace barchan {

struct VitalSigns {
  float max_speed_squared = 0.0f;
  std::uint32_t first_bad = ~0u;
};

struct JoinVitals {
  static HD VitalSigns identity() { return {}; }
  static HD VitalSigns combine(const VitalSigns& a, const VitalSigns& b) {
    return {a.max_speed_squared > b.max_speed_squared ? a.max_speed_squared : b.max_speed_squared,
            a.first_bad < b.first_bad ? a.first_bad : b.first_bad};
  }
};

HD inline VitalSigns vital_signs(const Vec3& x, const Vec3& v, int at) {
  const float speed_squared = dot(v, v);
  // A square that overflows is as bad as a NaN.
  const bool good = is_finite(x) && speed_squared - speed_squared == 0.0f;
  return {good ? speed_squared : 0.0f, good ? ~0u : static_cast<std::uint32_t>(at)};
}

struct ReadVitals {
  View3<const float> x, v;
  HD VitalSigns operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    return vital_signs(x[i], v[i], at);
  }
};

struct ParticleSums {
  double mass = 0.0;
  Vec3d momentum, mass_times_position;
  double kinetic_energy = 0.0;
};

struct JoinSums {
  static HD ParticleSums identity() { return {}; }
  static HD ParticleSums combine(const ParticleSums& a, const ParticleSums& b) {
    return {a.mass + b.mass, a.momentum + b.momentum, a.mass_times_position + b.mass_times_position,
            a.kinetic_energy + b.kinetic_energy};
  }
};

struct ReadSums {
  View3<const float> x, v;
  View<const std::uint8_t> material;
  View<const double> mass_of;  // by material [kg]
  View<const float> masses;    // of each particle, where they differ [kg]; otherwise empty
  HD ParticleSums operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const double m = masses.data != nullptr ? static_cast<double>(masses[i]) : mass_of[material[i]];
    const Vec3d velocity(v[i]);
    return {m, m * velocity, m * Vec3d(x[i]), 0.5 * m * dot(velocity, velocity)};
  }
};

// Volume of one particle: lattice_sum / sum_j W_ij, so that a lattice gives spacing^3 each.
struct ParticleVolume {
  RunsView runs;
  View3<const float> x;
  CubicSpline W;
  float lattice_sum;
  View<float> volume;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 p = x[i];
    const std::uint32_t* run = runs(static_cast<std::uint32_t>(at));
    float sum = 0.0f;
    for (std::uint32_t row = 0; row < 9; ++row) {
      const std::uint32_t* bounds = run + runs.place(row);
      for (std::uint32_t j = bounds[0]; j < bounds[runs.end]; ++j) {
        sum += W.w(length(x[j] - p));
      }
    }
    volume[i] = lattice_sum / sum;
  }
};

struct ReadVolume {
  View<const float> volume;
  HD double operator()(int i) const {
    return static_cast<double>(volume[static_cast<std::size_t>(i)]);
  }
};

}  // namespace barchan
