// Particles that fly under gravity and bounce or slide on solids: the smallest solver, and the one
// docs/adding-a-solver.md is written around.
#pragma once

#include "compute/buffer.h"
#include "params/solver_params.h"
#include "sim/solver.h"

namespace barchan {

template <class Device>
class BallisticSolver final : public Solver {
 public:
  BallisticSolver(Device& device, const SolverSetup& setup, const BallisticParams& params);

  double suggest_dt(const State& now) const override;
  // What a body pushes against a wall must not be in either of them: a quarter of a radius a step.
  double body_cfl() const override { return 0.125; }
  StepReport step(const State& now, const SolidsView& solids, double dt, State& next,
                  BodyImpulses& out) override;
  double surface_radius() const override { return 0.5 * setup_.spacing; }
  double floor_bytes(std::size_t particles) const override;

 private:
  Device& device_;
  SolverSetup setup_;
  BallisticParams params_;
  Buffer<float> mass_of_;           // by material [kg]
  Buffer<std::uint8_t> near_wall_;  // particles of this step that might touch a solid
};

}  // namespace barchan
