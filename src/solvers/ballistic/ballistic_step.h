// The step, instantiated for each device in ballistic_cpu.cpp and ballistic_cuda.cu.
#pragma once

#include <cmath>

#include "solvers/ballistic/ballistic_solver.h"
#include "solvers/ballistic/kernels.h"

namespace barchan {

template <class Device>
BallisticSolver<Device>::BallisticSolver(Device& device, const SolverSetup& setup,
                                         const BallisticParams& params)
    : device_(device), setup_(setup), params_(params), mass_of_(device), near_wall_(device) {
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

// From sums about the world's origin to each solid's own, where the step ends.
inline void collect_impulses(const ContactSums& sums, int first, const State& state,
                             BodyImpulses& out) {
  for (int s = 0; s < kSolidsPerPass; ++s) {
    const auto solid = static_cast<std::size_t>(first + s);
    if (solid >= out.linear.size()) return;
    const Vec3d origin = state.bodies[solid].position;
    out.linear[solid] = sums.impulse[s];
    out.approach[solid] = sums.approach[s];
    out.angular[solid] = sums.angular_impulse[s] - cross(origin, sums.impulse[s]);
  }
}

template <class Device>
StepReport BallisticSolver<Device>::step(const State& now, const SolidsView& solids, double dt,
                                         State& next, BodyImpulses& out) {
  StepReport report;
  report.dt_used = dt;
  const auto n = static_cast<std::int64_t>(now.size());
  // A particle at rest falls onto its wall at g dt every step: impacts like that do not bounce.
  const double rest_speed = 2.0 * length(setup_.gravity) * dt;
  const Vec3 gravity(setup_.gravity);
  const auto step = static_cast<float>(dt);
  const auto radius = static_cast<float>(surface_radius());
  const View3<float> x = next.write_position(), v = next.write_velocity();
  near_wall_.resize(now.size());

  Found found = reduce<JoinFound>(
      device_, "fly", n,
      Fly{now.position(), now.velocity(), solids, gravity, step, radius, x, v, near_wall_.view()});
  if (found.near_walls > 0) {
    Collide collide{now.position(),
                    now.velocity(),
                    now.material(),
                    std::as_const(mass_of_).view(),
                    solids,
                    gravity,
                    step,
                    radius,
                    static_cast<float>(rest_speed),
                    std::as_const(near_wall_).view(),
                    0,
                    x,
                    v};
    // More passes than one only sum impulses, for scenes of many solids.
    for (int first = 0; first < solids.count; first += kSolidsPerPass) {
      collide.first_solid = first;
      if (first > 0) collide.next_x = collide.next_v = {};
      const ContactSums sums = reduce<JoinContacts>(device_, "collide", n, collide);
      found = JoinFound::combine(found, sums.found);
      collect_impulses(sums, first, next, out);
    }
  }
  report.max_speed = std::sqrt(static_cast<double>(found.max_speed_squared));
  report.first_bad = found.first_bad == ~0u ? -1 : static_cast<std::int64_t>(found.first_bad);
  return report;
}

// Position and velocity read and written once.
template <class Device>
double BallisticSolver<Device>::floor_bytes(std::size_t particles) const {
  return 4.0 * 3.0 * sizeof(float) * static_cast<double>(particles);
}

}  // namespace barchan
