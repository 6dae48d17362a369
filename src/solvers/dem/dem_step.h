// The step, instantiated for each device in dem_cpu.cpp and dem_cuda.cu: velocity Verlet with one
// evaluation of forces, where spheres are at its end; or Runge-Kutta-Fehlberg, as in the paper.
#pragma once

#include "solvers/dem/bodies.h"
#include "solvers/dem/dem_solver.h"
#include "solvers/dem/rkf45.h"
#include "solvers/dem/search.h"
#include "solvers/dem/setup.h"
#include "solvers/dem/stages.h"

namespace barchan {

template <class Device>
StepReport DemSolver<Device>::step(const State& now, const SolidsView& solids, double dt,
                                   State& next, BodyImpulses& out) {
  fresh_ = !lists_hold(now, dt, next);  // after this step, or a search is due
  if (params_.integrator == "symplectic") {
    drift(now, dt, next);                                  // v += dt/2 F/m,  x += dt v; spheres
    move_covering(now, dt, next);                          // spheres of bodies, likewise
    if (fresh_) find_contacts(now, solids, next);          // who may touch whom; rows are sorted
    push(memory(now, next), solids, model(dt), dt, next);  // contacts, (10)-(19)
    kick(dt, dt, next);                                    // v += dt/2 F/m
  } else {
    if (!fresh_) make_room(now);
    move_covering(now, dt, next);
    if (fresh_) find_contacts(now, solids, next);
    integrate_rkf45(now, solids, dt, next);  // in parts, by their error
    kick(0.0, dt, next);                     // forces where it ends
  }
  // by the opposite of what they did to grains
  const dem::Summary met = push_solids(dt, next, out);

  const auto n = static_cast<double>(now.size());
  next.scalars["dem.deepest"] = static_cast<double>(met.deepest);
  next.scalars["dem.contacts"] = n > 0.0 ? met.contacts / n : 0.0;
  next.scalars["dem.most_contacts"] = met.most;
  next.scalars[dem::kAhead] = static_cast<double>(met.ahead);
  next.scalars[dem::kPace] = static_cast<double>(met.pace);
  next.scalars[dem::kLastStep] = dt;
  StepReport report;
  report.dt_used = dt;
  report.max_speed = std::sqrt(static_cast<double>(met.vitals.max_speed_squared));
  const std::uint32_t bad = met.vitals.first_bad;
  report.first_bad = bad == ~0u ? -1 : static_cast<std::int64_t>(bad);
  report.pairs = met.contacts;
  return report;
}

}  // namespace barchan
