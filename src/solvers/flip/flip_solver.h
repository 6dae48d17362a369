// PIC/FLIP water (Zhu & Bridson 2005, section 4; Zhu's thesis, chapter 3): the step is in
// flip_step.h, its stages in stages.h, their arithmetic in *_kernels.h, and README.md says where
// each part of the paper is and what was added to it.
#pragma once

#include <vector>

#include "compute/buffer.h"
#include "params/solver_params.h"
#include "sim/solver.h"
#include "solvers/flip/contacts.h"
#include "solvers/flip/face_buffer.h"
#include "solvers/flip/fractions.h"
#include "solvers/flip/friction.h"
#include "solvers/flip/motion_kernels.h"
#include "solvers/flip/pressure_kernels.h"
#include "solvers/flip/transfers.h"
#include "spatial/poisson.h"
#include "spatial/tile_grid.h"
#include "spatial/tile_layers.h"

namespace barchan {

template <class Device>
class FlipSolver final : public Solver {
 public:
  FlipSolver(Device& device, const SolverSetup& setup, const FlipParams& params);

  std::vector<ColumnSpec> columns() const override;
  double suggest_dt(const State& now) const override;
  StepReport step(const State& now, const SolidsView& solids, double dt, State& next,
                  BodyImpulses& out) override;
  double surface_radius() const override { return 0.5 * setup_.spacing; }
  double floor_bytes(std::size_t particles) const override;

 private:
  // The stages, in the order of the step.
  void lay_grid(const State& now, double dt, State& next);
  void particles_to_grid(State& next);
  void look_at_solids(const State& now, const State& next, const SolidsView& solids, double dt);
  void find_stuff(const State& next);
  void mark_liquid();
  void add_forces(const State& now, double dt);
  void solve_pressure(const State& next, double dt);
  void solve_friction(const State& now, const State& next, double dt);
  void solve_paper_friction(const State& now, const State& next, double dt);
  void push_solids(const State& next, BodyImpulses& out);
  void mend_crowding(double dt);
  void begin_crowding(double dt);
  void shift_faces(double dt, typename PoissonSolver<Device>::Part part);
  void extend_velocities();
  void grid_to_particles(double dt, State& next);
  void keep_out_of_solids(const SolidsView& solids, double dt, State& next);
  void finish_report(double dt, State& next, StepReport& report, BodyImpulses& out);

  void find_wall_speeds();
  flip::CellContacts contacts_of_cells() const;
  void list_contacts(const State& next);
  bool pushes_come_later() const;
  std::vector<flip::Push> pushes(View<const float> q);
  void move_on(const State& next, const std::vector<flip::Push>& pushes);
  void set_up_equations(const State& next, bool again);
  void find_pressure(const State& next, double dt, bool again, bool last);
  void subtract_gradient();
  flip::FrictionGrid friction_grid();
  flip::Rest rest() const;
  flip::YieldRadius yield() const;
  double per_pascal() const;  // of the pressure q [m/s / Pa]
  double cell_mass() const;   // of a full one [kg]
  bool separate(double least);
  void measure_divergence();
  flip::ConstFaceView open() const;
  View<const bool> closed() const;
  flip::OutFlow out_flow() const;
  flip::Surface surface() const;
  flip::StuffView stuff() const;

  // Sand at rest stays where it is: particles are moved apart and together as they flow only.
  float shift_share() const { return sand_ ? 0.5f : 0.0f; }
  bool affine() const { return transfer_ == "apic"; }
  float size() const { return static_cast<float>(2.0 * setup_.spacing); }  // of a cell [m]
  std::int64_t cells() const { return static_cast<std::int64_t>(tiles_.view().cells()); }

  Device& device_;
  SolverSetup setup_;
  FlipParams params_;
  bool sand_;             // some material has friction or cohesion
  std::string transfer_;  // the one that "auto" stands for

  int most_ = 1;                // cells that a particle may move in this step
  double kick_ = 0.0;           // time that forces and pressure act in this step [s]
  float cell_per_step_ = 0.0f;  // dx / dt [m/s]
  double body_span_ = 1.0;      // and on bodies, in units of that
  TileGrid<Device> tiles_;
  Buffer3 from_;  // the particles' places at the step's beginning, sorted

  flip::FaceBuffer u_, change_, shift_, scratch_;  // [m/s], [m/s], [cells]
  Buffer<float> fill_, depth_, distance_;
  Buffer<std::uint8_t> kind_, next_kind_;

  // Solids; empty in scenes without.
  bool walls_ = false;
  flip::SolidsNow solids_;
  std::vector<flip::SolidMotion> motions_;
  Buffer<flip::SolidMotion> motion_;
  Buffer<std::uint8_t> side_;
  Buffer<std::uint64_t> solids_near_;
  std::vector<double> reach_of_;  // all of a solid is within this of its own origin [m]
  std::uint64_t moving_ = 0;      // those that are not fixed, as the bits of solids_near_
  float solids_way_ = 0.0f;       // none moves farther in this step [m]
  Buffer<bool> closed_;
  Buffer<float> wall_;  // [cells]
  Buffer<flip::Octants> octants_;
  flip::Fractions<Device> fractions_;
  flip::FaceBuffer open_, speed_;
  bool walls_move_ = false;

  flip::Contacts<Device> contacts_;

  PoissonSolver<Device> poisson_;
  std::vector<const PoissonReport*> solves_;             // of this step
  flip::FaceBuffer face_;                                // coefficients
  Buffer<float> anchor_, b_, q_, crowd_;                 // crowd_: as q_, for the particles' places
  bool crowding_begun_ = false;                          // aside
  TileLayers<Device> near_, cell_layers_, face_layers_;  // near_: around particles
  flip::Strength strength_{};                            // of the first sand

  // Where materials differ.
  bool mixed_ = false;
  Buffer<flip::Stuff> stuff_of_;                         // of each material
  Buffer<float> lightness_, inner_friction_, cohesion_;  // of each cell

  flip::Friction<Device> friction_;  // of sand
  flip::FaceBuffer pushed_;          // velocities before friction and pressure [m/s]
  Buffer<float> blend_;              // the pressure that friction goes by [m/s]
  Buffer<float> haste_;              // how fast cells shear
  Buffer<flip::StepSigns> signs_;
};

}  // namespace barchan
