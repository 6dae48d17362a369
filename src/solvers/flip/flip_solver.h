// PIC/FLIP water (Zhu & Bridson 2005, section 4; Zhu's thesis, chapter 3): the step is in
// flip_step.h, its stages in stages.h, their arithmetic in *_kernels.h, and README.md says where
// each part of the paper is and what was added to it.
#pragma once

#include <vector>

#include "compute/buffer.h"
#include "params/solver_params.h"
#include "sim/solver.h"
#include "solvers/flip/contacts.h"
#include "solvers/flip/motion_kernels.h"
#include "solvers/flip/pressure_kernels.h"
#include "solvers/flip/transfers.h"
#include "spatial/poisson.h"
#include "spatial/tile_grid.h"
#include "spatial/tile_layers.h"

namespace barchan {

namespace flip {

// A number at each low face of the cells.
struct FaceBuffer {
  Buffer<float> of[3];
  explicit FaceBuffer(Device& device)
      : of{Buffer<float>(device), Buffer<float>(device), Buffer<float>(device)} {}
  void resize(std::size_t cells) {
    for (Buffer<float>& a : of) a.resize(cells);
  }
  FaceView view() { return {{of[0].view(), of[1].view(), of[2].view()}}; }
  ConstFaceView read() const { return {{of[0].view(), of[1].view(), of[2].view()}}; }
};

}  // namespace flip

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
  void mark_liquid();
  void add_forces(const State& now, double dt);
  void solve_pressure(const State& next, double dt, StepReport& report);
  void push_solids(const State& next, BodyImpulses& out);
  void mend_crowding(double dt);
  void extend_velocities();
  void grid_to_particles(double dt, State& next);
  void keep_out_of_solids(const SolidsView& solids, double dt, State& next);
  void finish_report(double dt, State& next, StepReport& report);

  void find_wall_speeds();
  void list_contacts(const State& next);
  void move_on(const State& next, const std::vector<flip::Push>& pushes);
  void set_up_equations(const State& next, bool again);
  double cell_mass() const;  // of a full one [kg]
  bool separate(double least);
  void extend(flip::FaceBuffer& faces, int layers);
  flip::ConstFaceView open() const;
  View<const bool> closed() const;
  flip::OutFlow out_flow() const;
  flip::Surface surface() const;

  bool affine() const { return params_.transfer == "apic"; }
  float size() const { return static_cast<float>(2.0 * setup_.spacing); }  // of a cell [m]
  std::int64_t cells() const { return static_cast<std::int64_t>(tiles_.view().cells()); }

  Device& device_;
  SolverSetup setup_;
  FlipParams params_;

  int most_ = 1;            // cells that a particle may move in this step
  double kick_ = 0.0;       // time that forces and pressure act in this step [s]
  double body_span_ = 1.0;  // and on bodies, in units of that
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
  float solids_way_ = 0.0f;       // none moves farther in this step [m]
  Buffer<bool> closed_;
  Buffer<float> wall_;  // [cells]
  Buffer<flip::Octants> octants_;
  flip::FaceBuffer open_, speed_;
  bool walls_move_ = false;

  flip::Contacts<Device> contacts_;

  PoissonSolver<Device> poisson_;
  flip::FaceBuffer face_;                                // coefficients
  Buffer<float> anchor_, b_, q_, crowd_;                 // crowd_: as q_, for the particles' places
  TileLayers<Device> near_, cell_layers_, face_layers_;  // near_: around particles
  Buffer<flip::StepSigns> signs_;
};

}  // namespace barchan
