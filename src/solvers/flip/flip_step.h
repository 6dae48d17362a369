// The step of Zhu & Bridson 2005, section 4, instantiated for each device in flip_cpu.cpp and
// flip_cuda.cu.
#pragma once

#include "solvers/flip/flip_solver.h"
#include "solvers/flip/paper_stage.h"
#include "solvers/flip/stages.h"

namespace barchan {

template <class Device>
StepReport FlipSolver<Device>::step(const State& now, const SolidsView& solids, double dt,
                                    State& next, BodyImpulses& out) {
  StepReport report;
  lay_grid(now, dt, next);  // sort the particles, tiles around them
  begin_aside(device_);
  look_at_solids(now, next, solids, dt);  // open fractions of faces and cells
  end_aside(device_);
  particles_to_grid(next);  // u_f = weighted mean of the particles near f     4.1
  join_aside(device_);
  find_stuff(next);     // what fills each cell, where materials differ
  mark_liquid();        // cells whose pressure is sought, and how deep they are
  add_forces(now, dt);  // u += dt g
  if (sand_) {
    solve_friction(now, next, dt);  // and u += dt/rho div s, with s on the yield surface 3
  } else {
    solve_pressure(next, dt);  // u -= dt/rho grad p, so that div u = 0           4
  }
  push_solids(next, out);                // by the pressure
  mend_crowding(dt);                     // where to move particles so that cells hold eight
  extend_velocities();                   // into air and solids: grad u . grad d = 0        4
  grid_to_particles(dt, next);           // PIC, FLIP or APIC, and x' = u by RK2            4.1
  keep_out_of_solids(solids, dt, next);  // swept
  if (sand_) friction_.keep(friction_grid(), std::as_const(blend_).view(), per_pascal(), next);
  finish_report(dt, next, report, out);
  return report;
}

}  // namespace barchan
