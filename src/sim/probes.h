// [[probe]]: one number a frame, measured from the columns that every solver has (and `pressure`
// where a solver has one), so that methods can be compared by the same definition. d is the
// spacing, `up` the scene's.
//
//   level     the surface above a point [m]: the height along up of the highest particle, plus d /
//   2,
//             in the stack that stands at the lowest one. The stack holds the particles within one
//             d of the point's vertical; a gap of more than 2 d ends it, so spray does not count.
//   front     how far matter on the floor has come [m]: the 99.5th percentile (nearest rank) of the
//             coordinate along the axis ("-x": of -x), among particles less than 2 d above the
//             floor, which is d / 2 below the lowest particle.
//   pressure  [Pa] sum_j W_j p_j / sum_j W_j, W the cubic spline about the point, support 2 d.
//   density   [kg/m^3] sum_j m_j W_j over its value for a lattice; 0 where nobody is near.
//   flow      [kg/s] mass that crossed a rectangle along its normal, less what came back, over the
//             time since the frame before; empty in frame 0.
//
// NaN (an empty field) where there is nothing to measure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compute/buffer.h"
#include "scene/scene.h"
#include "sim/selection.h"
#include "sim/state.h"

namespace barchan {

class Probes {
 public:
  Probes(const Scene& scene, Device& device);

  // A solver's columns, and what the probes need beside them.
  std::vector<ColumnSpec> with_columns(std::vector<ColumnSpec> columns) const;

  // At the beginning of a run. Rejects a probe of pressure where the state has none.
  void start(State& state) const;
  // After each step: adds up what crossed the rectangles of flow probes. Sums are in
  // State::scalars, for a run may be stopped within a frame.
  void follow_paths(State& state) const;
  // After a frame was written.
  void start_frame(State& state) const;

  // All probes by name. `seconds` since the frame before; 0: there was none.
  std::map<std::string, double> measure(const State& state, double seconds);

 private:
  double level(const State& state, const ProbeParams& probe);
  double front(const State& state, const ProbeParams& probe);
  double density(const State& state, const ProbeParams& probe);
  // Of pressure, or of a component of the velocity.
  double mean_near(const State& state, const ProbeParams& probe);

  // The particles within two spacings of a probe: W of each, and its row of a column.
  struct Nearby {
    std::vector<double> weights;
    HostColumn column;
  };
  Nearby near(const State& state, const ProbeParams& probe, const std::string& column);

  std::vector<Probe> probes_;
  bool any_flow_ = false;
  std::string solver_;          // for messages
  double spacing_;              // [m]
  Vec3d up_;                    // unit, along an axis
  std::vector<double> masses_;  // by material [kg]
  Buffer<double> mass_of_;      // the same on the device
  RowSelector selector_;
};

}  // namespace barchan
