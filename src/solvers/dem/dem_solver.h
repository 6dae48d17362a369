// Grains as rigid clusters of spheres (Bell, Yu & Mucha 2005): the step is in dem_step.h, its
// stages in search.h, stages.h and rkf45.h, their arithmetic in *_kernels.h and contact_law.h;
// README.md says where each equation is.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "compute/buffer.h"
#include "params/solver_params.h"
#include "sim/solver.h"
#include "solvers/dem/body_kernels.h"
#include "solvers/dem/contact_law.h"
#include "solvers/dem/covered.h"
#include "solvers/dem/grains.h"
#include "solvers/dem/list_kernels.h"
#include "solvers/dem/motion_kernels.h"
#include "solvers/dem/outcome_kernels.h"
#include "solvers/dem/pair_kernels.h"
#include "solvers/dem/rkf45_kernels.h"
#include "solvers/dem/wall_kernels.h"
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
  // By the spheres that cover them.
  bool meets_bodies() const override { return true; }
  void push_first(const State& now, double dt, BodyImpulses& out) const override;
  StepReport step(const State& now, const SolidsView& solids, double dt, State& next,
                  BodyImpulses& out) override;
  double surface_radius() const override { return 0.5 * setup_.spacing; }
  double floor_bytes(std::size_t particles) const override;

 private:
  // The stages, in the order of the step.
  bool lists_hold(const State& now, double dt, State& next) const;
  void drift(const State& now, double dt, State& next);
  void move_covering(const State& now, double dt, const State& next);
  void find_contacts(const State& now, const SolidsView& solids, State& next);
  void push(const dem::Memory& memory, const SolidsView& solids, const dem::ContactModel& model,
            double dt, const State& next);
  void kick(double dt, double next_dt, State& next);
  dem::Summary push_solids(double dt, State& next, BodyImpulses& out);

  // Parts of them.
  void upload_covering();
  void place_covering(const State& next, bool moving_only);
  dem::NearCovering find_near(State& next);
  void list_pairs(const dem::NearCovering& covering, State& next);
  void list_walls(const SolidsView& solids, State& next);
  template <class Search>
  View<const std::uint32_t> list(const char* label, const Search& search, const char* start,
                                 const char* found, const char* sphere, State& next);
  dem::SphereForces forces(const State& next);
  dem::BlockSums block_sums();
  // A thread of a GPU has a sphere, and not all of a grain.
  bool by_spheres() const { return !device_.on_host() && compound_; }
  dem::Outcome* outcomes();
  void sum_walls(const State& next);
  dem::Summary fetch(std::vector<dem::Wrench>& wrenches);
  void sum_coverings(State& next, dem::Summary& met, std::vector<dem::Wrench>& wrenches);
  double fastest(const State& now) const;
  double body_load(const State& now) const;
  void make_room(const State& now);
  dem::Memory memory(const State& now, State& next);
  template <bool kHistory>
  void push_by(const dem::Memory& memory, const SolidsView& solids, const dem::ContactModel& model,
               double dt, const State& next);

  // Of the adaptive integrator, instead of drift, push and kick.
  void integrate_rkf45(const State& now, const SolidsView& solids, double dt, State& next);
  void finish_rkf45(const dem::Motion& end, State& next);
  void slope_at(const dem::Motion& at, const dem::Memory& memory, const SolidsView& solids,
                const dem::ContactModel& model, double dt, State& next, const dem::Slope& out);
  dem::RkfSum rkf_sum(const double* weights, int count, double h, std::size_t n);
  dem::Memory rkf_memory(const dem::Memory& known, int place, const State& next);
  dem::Grains grains(const State& next) const;

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
  View<const float> contacts_of_grains(const State& state) const;
  dem::ContactModel model(double dt) const;

  Device& device_;
  SolverSetup setup_;
  DemParams params_;
  dem::Laws laws_;
  bool compound_ = false, history_ = true;
  bool lopsided_ = false;                            // some grain has unequal moments
  double most_spheres_ = 1.0;                        // of a grain
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
  bool fresh_ = false;              // the lists are made in this step: memory is in those two
  Buffer<Float4> pair_force_, pair_turn_, wall_force_, wall_torque_;
  Buffer3 pair_roll_;
  std::uint32_t block_bits_ = 0;  // 0: each sphere sums all its pairs
  Buffer<Float4> block_force_, block_torque_;
  Buffer<float> block_deepest_;
  std::shared_ptr<void> outcomes_;

  // Of the adaptive integrator: grains at two times, slopes of all stages, memories of contacts.
  struct RkfMemory {
    std::array<std::array<Buffer3, 5>, 2> vectors;
    std::array<Buffer<float>, 2> quats;
    std::array<std::array<Buffer3, 3>, dem::kStages> slopes;
    std::array<Buffer<float>, dem::kStages> turn_slopes;
    std::array<Buffer3, 2> shear;
    std::array<Buffer<float>, 2> walls;

    explicit RkfMemory(Device& device);
    dem::Motion motion(std::size_t which, std::size_t n, bool turns);
    dem::Slope slope(int stage, std::size_t n, bool turns);
  };
  RkfMemory rkf_;

  // Solids that are covered with spheres.
  dem::CoveredSolids covered_;
  // Of each solid: the names of its scalars in the State, and how far it reaches from its origin.
  struct Known {
    std::array<std::string, 3> force, torque;  // on bodies, at the end of the last step
    std::string contacts;                      // of a body
    double reach;                              // [m]
  };
  std::vector<Known> known_;
  Buffer<Float4> cover_offsets_;
  Buffer<std::uint32_t> cover_part_, cover_place_;
  Buffer<std::uint8_t> is_covered_;  // solids
  Buffer<dem::PartPose> poses_;
  bool covering_placed_ = false;  // spheres_ has those of solids that stand still
  Buffer<dem::Piece> pieces_, groups_;
  Buffer<dem::PieceSums> piece_sums_, group_sums_;
  std::vector<std::uint32_t> group_part_;
  std::vector<std::uint32_t> walls_;  // solids that are met by their distance
  Buffer3 cover_x_, cover_sorted_;
  CellSort<Device> cover_cells_;
  NeighbourSearch<Device> near_covering_, near_grains_, near_each_other_;
};

}  // namespace barchan
