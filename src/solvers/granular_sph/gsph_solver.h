// Granular SPH (Alduan & Otaduy 2011): the step is in gsph_step.h, its stages in stages.h, their
// arithmetic in the kernels, and README.md says where each equation is.
#pragma once

#include <memory>
#include <vector>

#include "compute/buffer.h"
#include "params/solver_params.h"
#include "sim/boundary.h"
#include "sim/solver.h"
#include "solvers/granular_sph/kernels.h"
#include "spatial/cells.h"
#include "spatial/guessed_frame.h"
#include "spatial/neighbours.h"

namespace barchan {

template <class Device>
class GsphSolver final : public Solver {
 public:
  GsphSolver(Device& device, const SolverSetup& setup, const GranularSphParams& params);

  std::vector<ColumnSpec> columns() const override;
  double suggest_dt(const State& now) const override;
  // A body that falls onto a film of sand on a floor must feel it before it is through.
  double body_cfl() const override { return 0.25; }
  StepReport step(const State& now, const SolidsView& solids, double dt, State& next,
                  BodyImpulses& out) override;
  double surface_radius() const override { return 0.5 * setup_.spacing; }
  double floor_bytes(std::size_t particles) const override;

 private:
  double longest_step() const;  // of particles at rest [s]
  // The stages, in the order of the step.
  void find_neighbours(const State& now, const SolidsView& solids, State& next);
  bool begins_at_rest(const State& now) const;
  void begin_at_rest(double dt, State& next);
  double try_again(const State& next);
  int iterate(double dt, const gsph::Target& target, State& next);  // how often
  void measure(double dt, const gsph::Target& target, State& next);
  gsph::Target target(double dt) const;
  void correct_pressure(int k, double dt, const State& next);
  void correct_velocity(int k, double dt, bool may_end, State& next);
  void correct_stress(double dt, const State& next);
  void correct_velocity_by_stress(double dt, const State& next);
  bool dense_enough();
  void look_around(State& next);
  void keep_stress(double dt, State& next);
  void move_on(const SolidsView& solids, double dt, State& next);
  void push_solids(const SolidsView& solids, double dt, const State& next);
  std::vector<gsph::Results> wait_for_results();
  bool begin_again(const gsph::Results& results, const State& now, State& next);
  void finish_report(const std::vector<gsph::Results>& results, double dt, const State& next,
                     StepReport& report, BodyImpulses& out);

  gsph::Star star() { return {points_.view(), rest_of_star_.view()}; }
  gsph::ConstStar moving() const { return {points_.view(), rest_of_star_.view()}; }
  gsph::StressView stress() {
    return {stress_.view(), rest_of_stress_.view(), more_stress_.view()};
  }
  bool paper() const { return params_.scheme == "paper"; }
  Containment containment(const SolidsView& solids) const;
  std::int64_t n() const { return static_cast<std::int64_t>(points_.size()); }

  Device& device_;
  SolverSetup setup_;
  GranularSphParams params_;
  gsph::Kernels kernels_;
  Vec3 gravity_;                           // [m/s^2]
  bool rough_ = false, cohesive_ = false;  // some material is
  bool driven_ = false;                    // some solid has keyframes
  float lightest_ = 1e30f;                 // density of a material [kg/m^3]

  GuessedFrame<Device> frame_;
  CellSort<Device> cells_;
  NeighbourSearch<Device> near_;
  Boundary<Device> boundary_;

  Buffer<gsph::Matter> matter_;
  Buffer<Float4> points_, with_pressure_;  // x with v*.x, x with p
  Buffer<Float4> velocities_, free_;       // v; v by gravity alone, b
  Buffer<Float2> rest_of_star_;            // v*.y, v*.z
  Buffer<gsph::Goal> goals_;
  Buffer<Float4> stress_;  // see StressView
  Buffer<Float2> rest_of_stress_;
  Buffer<Float4> more_stress_;
  Buffer<Float4> pull_;                // by stress [m/s^2], b
  Buffer3 friction_;                   // on walls [m/s^2]
  Buffer<float> around_;               // mean pressure of the step before, of sand [Pa]
  Buffer<float> packing_;              // what the density lacked at the start
  Buffer<Float2> pressure_and_shear_;  // see GatherShear
  Buffer<float> strain_rate_;          // [1/s]
  Buffer<std::uint8_t> near_wall_;
  Buffer3 pushed_;                     // [m]
  Buffer<gsph::WallPart> wall_parts_;  // of the particles near solids
  Buffer<Float4> wall_pressure_;       // of the boundary samples [Pa]
  Buffer<gsph::Results> results_;
  std::shared_ptr<void> excess_;  // of the last iteration, on the host
};

}  // namespace barchan
