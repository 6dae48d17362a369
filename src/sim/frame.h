// One picture's worth of simulation, on the host, and whoever takes it (cache/, view/).
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "sim/columns.h"
#include "sim/state.h"

namespace barchan {

struct Frame {
  std::int64_t index = 0;
  double time = 0.0;                   // [s]
  double spacing = 0.0;                // particle spacing [m]
  double surface_radius = 0.0;         // a particle's distance to the surface it should give [m]
  std::vector<std::string> materials;  // what the numbers in column `material` mean
  std::vector<HostColumn> columns;     // position, velocity, id, material, then the solver's
  std::vector<BodyState> bodies;
  std::map<std::string, double> probes;  // what each measured, by name; NaN: nothing to measure
};

// The whole state on the host: what a checkpoint holds.
struct Snapshot {
  double time = 0.0;
  std::int64_t step = 0;
  std::int64_t frame = 0;
  double last_dt = 0.0;
  std::uint64_t next_id = 0;
  double max_speed = 0.0;
  std::vector<BodyState> bodies;
  std::map<std::string, double> scalars;
  std::size_t count = 0;
  std::vector<HostColumn> columns;
  std::vector<HostColumn> kept;
};

Snapshot take_snapshot(const State& state);
void restore(const Snapshot& snapshot, State& state);

inline constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

// One row of ledger.csv. A NaN (or -1 for the counts) is written as an empty field.
struct LedgerRow {
  std::int64_t frame = 0;
  double time = 0.0;
  std::int64_t steps = 0;  // taken since the frame before
  std::uint64_t particles = 0;
  double mass = 0.0;    // [kg]
  double volume = 0.0;  // [m^3] sum of m_i / rho_i over a kernel sum of the actual positions
  Vec3d momentum;       // [kg m/s]
  double kinetic_energy = 0.0, potential_energy = 0.0;                         // [J]
  double max_speed = 0.0;                                                      // [m/s]
  double density_error_mean = kNotMeasured, density_error_max = kNotMeasured;  // relative
  double divergence_max = kNotMeasured;                                        // [1/s]
  double iterations_mean = kNotMeasured;
  // Of the step that ended the frame: the largest density error after each of its iterations.
  std::vector<double> density_errors;
  std::int64_t leaks = 0;
  std::int64_t retries = 0;
  double ms_per_step = 0.0;
};

// A checkpoint that was due, or one because the run was stopped, perhaps within a frame.
enum class CheckpointKind { regular, interrupted };

// Takes what a run produces. Calls come from the simulation's thread, in order.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  virtual void frame(Frame frame, const LedgerRow& row) = 0;
  virtual void checkpoint(Snapshot snapshot, CheckpointKind kind) = 0;
};

}  // namespace barchan
