// Statistics of the spheres that cover a surface (Bell, Yu & Mucha 2005, figure 6).
#pragma once

#include <string>

#include "cache/run_folder.h"

namespace barchan {

// covering.KEY of the expression language, of the particles of frame 0 over the surface of the
// scene's first [[fill]]. KEY is count, radius [m], or, in radii, nearest_mean, nearest_cv (a
// ratio), worst_gap, worst_off_surface.
double covering_measure(const RunFolder& run, const std::string& key);

// The keys there are.
const std::vector<std::string>& covering_keys();

}  // namespace barchan
