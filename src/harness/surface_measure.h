// The surface of a run's last frame, measured (Zhu & Bridson 2005, figure 4 and section 5).
#pragma once

#include <string>
#include <vector>

#include "cache/run_folder.h"

namespace barchan {

// surface.KEY of the expression language, of the last frame with the scene's [surface]. KEY is
// triangles; seconds [s], the median of five on all cores, meshing included; or, for a scene whose
// last [[fill]] covers a shape with particles, how far the surface is from the one a surface_radius
// outside that shape, as root mean square over its area [spacings]: rms_error, and
// best_level_rms_error, the least of all levels (blobbies).
double surface_measure(const RunFolder& run, const std::string& key);

// The keys there are.
const std::vector<std::string>& surface_keys();

}  // namespace barchan
