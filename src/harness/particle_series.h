// Statistics of the particles in each frame of a run: particles.y.p99_5 is the height that 99.5 %
// of them do not exceed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cache/frame_file.h"
#include "cache/run_folder.h"
#include "harness/series.h"

namespace barchan {

// What is measured and how: x, y, z [m], vx, vy, vz, speed [m/s], moved (distance from its place in
// the first frame that holds it [m]), nearest (distance to the nearest other particle in spacings;
// 2 where none is nearer) or a field of one number that the solver puts into its frames; min, max,
// mean or a percentile pN, pN_M (p99_5 is 99.5 %).
struct ParticleStatistic {
  std::string quantity, statistic;
};

// Rejects statistics that there are not.
void check_statistic(const std::string& statistic);

Series particle_series(const RunFolder& run, const ParticleStatistic& wanted);

// A quantity of every particle of a frame, in the frame's order; not `moved`.
std::vector<double> particle_values(const LoadedFrame& frame, const std::string& quantity);

// Of the first frame [m].
double particle_spacing(const RunFolder& run);

}  // namespace barchan
