// What tests of fluids read from a state.
#pragma once

#include <vector>

#include "physics/trial.h"
#include "sim/initial_state.h"

namespace barchan {

inline std::vector<Vec3d> vectors_of(const State& state, const char* name) {
  const HostColumn column = download(state.device(), state.column(name));
  std::vector<Vec3d> all(state.size());
  for (int k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i][k] = static_cast<double>(column.component<float>(k)[i]);
    }
  }
  return all;
}

template <class T>
std::vector<T> numbers_of(const State& state, const char* name) {
  const HostColumn column = download(state.device(), state.column(name));
  return {column.component<T>(0), column.component<T>(0) + state.size()};
}

// By particle, from its material [kg].
inline std::vector<double> masses_of(const Trial& run) {
  const std::vector<double> by_material = solver_setup(run.scene).particle_masses();
  std::vector<double> masses;
  for (const std::uint8_t material : numbers_of<std::uint8_t>(run.driver.state(), "material")) {
    masses.push_back(by_material[material]);
  }
  return masses;
}

struct Momentum {
  Vec3d sum;          // of m v [kg m/s]
  double size = 0.0;  // sum of m |v|
};
inline Momentum momentum_of(const std::vector<double>& masses, const std::vector<Vec3d>& v) {
  Momentum total;
  for (std::size_t i = 0; i < v.size(); ++i) {
    total.sum += masses[i] * v[i];
    total.size += masses[i] * length(v[i]);
  }
  return total;
}

// Mean height of the particles of each material [m].
inline std::vector<double> mean_heights(const Trial& run) {
  std::vector<double> sums(run.scene.materials.size()), counts(sums.size());
  const std::vector<Vec3d> x = vectors_of(run.driver.state(), "position");
  const auto material = numbers_of<std::uint8_t>(run.driver.state(), "material");
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[material[i]] += x[i].y;
    counts[material[i]] += 1.0;
  }
  for (std::size_t m = 0; m < sums.size(); ++m) sums[m] /= counts[m];
  return sums;
}

}  // namespace barchan
