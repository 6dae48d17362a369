// Position Based Fluids (Macklin & Mueller 2013): the step is in pbf_step.h, its stages in
// stages.h, their arithmetic in kernels.h, and README.md says where each equation is.
#pragma once

#include <vector>

#include "compute/buffer.h"
#include "params/solver_params.h"
#include "sim/boundary.h"
#include "sim/solver.h"
#include "solvers/pbf/kernels.h"
#include "spatial/cells.h"
#include "spatial/guessed_frame.h"
#include "spatial/neighbours.h"

namespace barchan {

template <class Device>
class PbfSolver final : public Solver {
 public:
  PbfSolver(Device& device, const SolverSetup& setup, const PbfParams& params);

  std::vector<ColumnSpec> columns() const override;
  double suggest_dt(const State& now) const override;
  // A body that falls onto a film of water on a floor must feel it before it is through.
  double body_cfl() const override { return 0.25; }
  // Bodies that set more in motion hop on still water, or spin away when it hits them.
  double most_added_mass() const override { return 1.0; }
  StepReport step(const State& now, const SolidsView& solids, double dt, State& next,
                  BodyImpulses& out) override;
  double surface_radius() const override { return 0.5 * setup_.spacing; }
  double floor_bytes(std::size_t particles) const override;

 private:
  // The stages, in the order of the step.
  void predict(const State& now, const SolidsView& solids, double dt);
  void find_neighbours(const State& now, double dt, State& next);
  void solve_constraints(const SolidsView& solids, double dt, State& next, StepReport& report);
  void update_velocities(const SolidsView& solids, double dt, State& next);
  void push_solids(const SolidsView& solids, double dt);
  void smooth_velocities(double dt, State& next);
  std::vector<pbf::Results> wait_for_results();
  bool begin_again(const pbf::Results& results, const State& now, State& next);
  void finish_report(const std::vector<pbf::Results>& results, double dt, const State& next,
                     StepReport& report, BodyImpulses& out);

  // Parts of them.
  void measure_walls();
  pbf::MeasureWalls wall_sums();
  template <bool kLast>
  void iterate(int k, const SolidsView& solids, const pbf::MoveOn& move_on,
               View<const std::uint8_t> material);
  pbf::MoveOn mover(const SolidsView& solids, double dt, State& next);
  int most_iterations() const;
  // Which corrections are the last is known before them.
  bool ends_with_corrections() const { return params_.tolerance <= 0.0 && params_.iterations > 0; }
  bool confines() const { return params_.vorticity > 0.0; }
  bool smooths() const { return confines() || params_.xsph > 0.0; }
  bool one_mass() const { return setup_.materials.size() == 1; }

  Containment containment(const SolidsView& solids) const;
  std::int64_t n() const { return static_cast<std::int64_t>(points_.size()); }

  Device& device_;
  SolverSetup setup_;
  PbfParams params_;
  pbf::Kernels kernels_;
  pbf::ArtificialPressure s_corr_;
  Vec3 gravity_;  // [m/s^2]

  GuessedFrame<Device> frame_;
  CellSort<Device> cells_;
  NeighbourSearch<Device> near_;
  Boundary<Device> boundary_;

  Buffer<float> inverse_mass_of_, density_of_;  // by material; w, rho_0 [kg/m^3]
  Buffer3 predicted_;                           // x* in the order of the state
  Buffer<std::uint8_t> near_wall_, sorted_near_wall_;
  Buffer<Float4> points_;             // x*, w
  Buffer<Float4> points_and_lambda_;  // x*, lambda
  Buffer<Float4> moved_;        // by constraints and solids [m], sum of lambda; then v, |omega|
  Buffer3 pushed_;              // by solids [m]
  Buffer<float> multiplier_;    // sum of lambda [m^2]
  Buffer<std::uint32_t> left_;  // particles that the last corrections leave to MoveOn
  Buffer<pbf::WallPart> wall_parts_;  // of the particles near solids
  Buffer<Float4> wall_lambda_;        // of the boundary samples [m^2]
  Buffer<pbf::Results> results_;
};

}  // namespace barchan
