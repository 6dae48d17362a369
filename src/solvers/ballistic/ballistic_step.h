// The step, instantiated for each device in ballistic_cpu.cpp and ballistic_cuda.cu.
#pragma once

#include <cmath>

#include "solvers/ballistic/ballistic_solver.h"
#include "solvers/ballistic/kernels.h"

namespace barchan {

template <class Device>
BallisticSolver<Device>::BallisticSolver(Device& device, const SolverSetup& setup,
                                         const BallisticParams& params)
    : device_(device), setup_(setup), params_(params), mass_of_(device) {
  const std::vector<double> masses = setup.particle_masses();
  mass_of_.upload(std::vector<float>(masses.begin(), masses.end()));
}

// Collisions are swept, so no step is too long to be safe; cfl keeps fast flights finely sampled.
template <class Device>
double BallisticSolver<Device>::suggest_dt(const State& now) const {
  const double g = length(setup_.gravity);
  const double speed = now.max_speed + g * params_.dt_max;
  return std::min(params_.dt_max, params_.cfl * setup_.spacing / std::max(speed, 1e-12));
}

template <class Device>
StepReport BallisticSolver<Device>::step(const State& now, const SolidsView& solids, double dt,
                                         State& next, BodyImpulses& out) {
  StepReport report;
  report.dt_used = dt;
  const auto n = static_cast<std::int64_t>(now.size());
  // A particle at rest falls onto its wall at g dt every step: impacts like that do not bounce.
  const double rest_speed = 2.0 * length(setup_.gravity) * dt;
  Fly fly{now.position(),
          now.velocity(),
          now.material(),
          std::as_const(mass_of_).view(),
          solids,
          Vec3(setup_.gravity),
          static_cast<float>(dt),
          static_cast<float>(surface_radius()),
          static_cast<float>(rest_speed),
          0,
          next.write_position(),
          next.write_velocity()};

  // The first pass moves the particles; more passes only sum impulses, for scenes of many solids.
  for (int first = 0; first == 0 || first < solids.count; first += kSolidsPerPass) {
    fly.first_solid = first;
    if (first > 0) fly.next_x = fly.next_v = {};
    const FlightSums sums = reduce<JoinFlights>(device_, "fly", n, fly);
    report.max_speed = std::sqrt(static_cast<double>(sums.max_speed_squared));
    report.first_bad = sums.first_bad == ~0u ? -1 : static_cast<std::int64_t>(sums.first_bad);
    for (int s = 0; s < kSolidsPerPass && first + s < solids.count; ++s) {
      const auto solid = static_cast<std::size_t>(first + s);
      const Vec3d origin = next.bodies[solid].position;  // where the step began
      out.linear[solid] = sums.impulse[s];
      out.angular[solid] = sums.angular_impulse[s] - cross(origin, sums.impulse[s]);
    }
  }
  return report;
}

// Position and velocity read and written once.
template <class Device>
double BallisticSolver<Device>::floor_bytes(std::size_t particles) const {
  return 4.0 * 3.0 * sizeof(float) * static_cast<double>(particles);
}

}  // namespace barchan
