// The step of Macklin & Mueller 2013, Algorithm 1, instantiated for each device in pbf_cpu.cpp and
// pbf_cuda.cu.
#pragma once

#include "solvers/pbf/pbf_solver.h"
#include "solvers/pbf/stages.h"

namespace barchan {

template <class Device>
StepReport PbfSolver<Device>::step(const State& now, const SolidsView& solids, double dt,
                                   State& next, BodyImpulses& out) {
  StepReport report;
  std::vector<pbf::Results> results;
  do {
    predict(now, solids, dt);        // v += dt f,  x* = x + dt v                        lines 1-4
    find_neighbours(now, dt, next);  // within h of x*, once a step                      lines 5-7
    solve_constraints(solids, dt, next, report);  // lambda, dp, collision, x* += dp      lines 8-19
    update_velocities(solids, dt, next);          // v = (x* - x) / dt                    line 21
    push_solids(solids, dt);                      // by the opposite of what they did to the fluid
    smooth_velocities(dt, next);  // vorticity confinement, XSPH viscosity                line 22
    results = wait_for_results();
  } while (begin_again(results.front(), now, next));  // rare: see there
  finish_report(results, dt, next, report, out);
  return report;
}

}  // namespace barchan
