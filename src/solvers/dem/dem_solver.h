// Grains as rigid clusters of spheres (Bell, Yu & Mucha 2005): the step is in dem_step.h, its
// stages in stages.h, their arithmetic in kernels.h, list_kernels.h and contact_law.h; README.md
// says where each equation is.
#pragma once

#include <string>
#include <vector>

#include "compute/buffer.h"
#include "params/solver_params.h"
#include "sim/solver.h"
#include "solvers/dem/contact_law.h"
#include "solvers/dem/kernels.h"
#include "solvers/dem/list_kernels.h"
#include "spatial/cells.h"
#include "spatial/neighbours.h"

namespace barchan {

template <class Device>
class DemSolver final : public Solver {
 public:
  DemSolver(Device& device, const SolverSetup& setup, const DemParams& params);

  std::vector<ColumnSpec> columns() const override;
  void complete(State& state) override;
  void add_to_frame(const State& now, Frame& frame) const override;
  double suggest_dt(const State& now) const override;
  MoreEnergy more_energy(const State& now) override;
  // A step is a small part of a contact: bodies must be slow in it, too.
  double body_cfl() const override { return 0.02; }
  StepReport step(const State& now, const SolidsView& solids, double dt, State& next,
                  BodyImpulses& out) override;
  double surface_radius() const override { return 0.5 * setup_.spacing; }
  double floor_bytes(std::size_t particles) const override;

 private:
  // The stages, in the order of the step.
  double drift(const State& now, double dt, State& next);
  bool lists_hold(const State& now, double moved, State& next) const;
  void find_contacts(const State& now, const SolidsView& solids, State& next);
  void push(const State& now, const SolidsView& solids, double dt, State& next);
  dem::Summary kick(double dt, State& next);
  void push_solids(const State& now, double dt, State& next, BodyImpulses& out);

  // Parts of them.
  template <bool kHistory>
  void push_by(const State& now, const SolidsView& solids, double dt, State& next);
  View<const std::uint32_t> count_list(const char* label, State& next, const char* name,
                                       std::size_t spheres, std::uint32_t& total);
  void remember(const State& now, State& next);
  bool same_grains(const State& now) const;
  dem::PlaceSpheres placing(const State& next);
  dem::Lists lists(const State& state) const;
  dem::OldLists old_lists(const State& now) const;
  double solids_moved(const State& now, const State& next) const;
  dem::GrainTypes types() const;
  View4<const float> turns(const State& state) const;
  dem::ContactModel model(double dt) const;

  Device& device_;
  SolverSetup setup_;
  DemParams params_;
  dem::Laws laws_;
  bool compound_ = false, history_ = true;
  double sphere_radius_ = 0.0, grain_radius_ = 0.0;  // the largest [m]
  double skin_ = 0.0;                                // [m]

  CellSort<Device> cells_;
  NeighbourSearch<Device> near_;
  Buffer<dem::GrainType> types_;
  Buffer<Float4> offsets_;
  Buffer<dem::PairLaw> pair_laws_;

  Buffer<dem::Sphere> spheres_;
  Buffer<std::uint32_t> counts_;
  Buffer<std::uint8_t> near_wall_;  // of grains, during a search
  Buffer3 remembered_;              // xi of the pairs in new lists
  Buffer<float> wall_memory_;       // likewise at solids
  bool fresh_ = false;              // the lists were made in this step: memory is in those two
  Buffer<Float4> pair_force_, pair_turn_, wall_force_, wall_torque_;
  Buffer3 pair_roll_;
};

}  // namespace barchan
