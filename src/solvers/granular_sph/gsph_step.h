// The step of granular SPH: Alduan & Otaduy 2011, section 6, in the order that works in 3-D (see
// README.md). Instantiated for each device in gsph_cpu.cpp and gsph_cuda.cu.
#pragma once

#include <algorithm>

#include "solvers/granular_sph/gsph_solver.h"
#include "solvers/granular_sph/stages.h"

namespace barchan {

template <class Device>
int GsphSolver<Device>::iterate(double dt, const gsph::Target& target, State& next) {
  const int most = params_.iterations_max, fewest = std::min(params_.iterations_min, most);
  measure(dt, target, next);             // c, v* by gravity, viscosity and the last p
  correct_velocity_by_stress(dt, next);  // and by the last s                  lines 3-5
  for (int k = 1;; ++k) {
    const bool may_end = k >= fewest, stress_too = paper() || k % gsph::kStressEvery == 1;
    correct_pressure(k, dt, next);  // p += delta (c* - target)                     lines 11-15
    if (paper()) correct_stress(dt, next);
    correct_velocity(k, dt, may_end, next);  // by p, and friction on walls         lines 7-10
    if (stress_too && !paper()) correct_stress(dt, next);  // s += omega D^-1 e*   lines 17-21
    if (stress_too) correct_velocity_by_stress(dt, next);
    if (!may_end || (k < most && !dense_enough())) continue;  //                        line 6
    if (rough_) look_around(next);
    return k;
  }
}

template <class Device>
StepReport GsphSolver<Device>::step(const State& now, const SolidsView& solids, double dt,
                                    State& next, BodyImpulses& out) {
  StepReport report;
  std::vector<gsph::Results> results;
  do {
    find_neighbours(now, solids, next);  // at x, once a step                     line 2
    if (begins_at_rest(now)) begin_at_rest(dt, next);
    report.iterations = iterate(dt, target(dt), next);  // p, s and v*             lines 3-21
    move_on(solids, dt, next);                          // x += dt v*, out of the solids
    push_solids(solids, dt, next);                      // by the opposite of what they did
    results = wait_for_results();
  } while (begin_again(results.front(), now, next));  // rare: see there
  finish_report(results, dt, next, report, out);
  return report;
}

}  // namespace barchan
