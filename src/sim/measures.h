// What the ledger says about a State: sums over all particles, the same code for every solver.
#pragma once

#include <cstdint>
#include <vector>

#include "geometry/shape.h"
#include "geometry/solid.h"
#include "math/vec3.h"
#include "sim/state.h"

namespace barchan {

struct Vitals {
  double max_speed = 0.0;       // [m/s], of the finite ones
  std::int64_t first_bad = -1;  // lowest index of a particle that is not finite
};
Vitals measure_vitals(const State& state);

struct Totals {
  double mass = 0.0;  // [kg]
  Vec3d momentum;     // [kg m/s]
  double kinetic_energy = 0.0;
  double potential_energy = 0.0;  // [J], zero at the origin
};
// A column `mass` counts where there is one, otherwise the mass by material.
Totals measure_totals(const State& state, const std::vector<double>& masses, const Vec3d& gravity);

// Sum of m_i / rho_i [m^3], rho_i a cubic-spline sum (support of two spacings) over the actual
// positions, scaled so that a lattice at the given spacing has its own volume. It shrinks when
// particles clump and grows when they spread; that is what it is for.
double measure_volume(const State& state, double spacing);

// sum_j W(r_j) spacing^3 over a cubic lattice, about one of its points: what a kernel sum is
// divided by, so that a lattice at the spacing has its own density.
double lattice_sum(double spacing);

// Particles deeper than `margin` [m] inside a solid, by the inequalities of geometry/shape.h and
// not by the signed distance that keeps particles out.
std::int64_t count_leaks(const State& state, const SolidSet& solids, double margin);

}  // namespace barchan
