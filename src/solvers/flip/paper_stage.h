// The sand of the papers, `friction = "paper"` (Zhu & Bridson 2005, section 3): the pressure of a
// fluid, then friction cell by cell and in rigid groups, in one go. No stress is known from the
// step before. README.md says what else differs from the print.
#pragma once

#include "solvers/flip/stages.h"

namespace barchan {

// Friction breaks incompressibility (thesis, section 2.3.2): a second pressure mends it, found with
// what friction did to the velocities as they were before the first.
template <class Device>
void FlipSolver<Device>::solve_paper_friction(const State& now, const State& next, double dt) {
  const double nothing = 0.0;  // of the stresses of the last step
  cell_per_step_ = static_cast<float>(static_cast<double>(size()) / dt);
  friction_.begin(friction_grid(), now, nothing);
  friction_.recall_pressure(friction_grid(), now, per_pascal(), q_.view());
  blend_.resize(q_.size());
  pushed_.resize(static_cast<std::size_t>(cells()));
  const auto copy = [&](const flip::FaceBuffer& from, flip::FaceBuffer& to) {
    for_each(device_, "friction", cells(), flip::CopyFaces{from.read(), to.view()});
  };
  copy(u_, pushed_);
  find_pressure(next, dt, false, false);
  subtract_gradient();
  if (contacts_.dynamic() > 0) {  // friction meets bodies as the pressure moves them
    move_on(next, pushes(std::as_const(q_).view()));
    friction_.list_walls(friction_grid());
  }
  copy(u_, scratch_);
  friction_.stop_each(friction_grid(), std::as_const(q_).view(), yield(), scratch_.read(),
                      u_.view());
  for_each_of(device_, "friction", near_.within(2),
              flip::AddChange{scratch_.read(), u_.read(), pushed_.view()});
  copy(pushed_, u_);
  find_pressure(next, dt, true, true);
  subtract_gradient();
  device_.copy(blend_.data(), q_.data(), q_.size() * sizeof(float));
  measure_divergence();
}

}  // namespace barchan
