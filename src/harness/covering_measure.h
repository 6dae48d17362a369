// Statistics of the spheres that cover a solid's surface (Bell, Yu & Mucha 2005, figure 6).
#pragma once

#include <string>

#include "scene/scene.h"

namespace barchan {

// covering.SOLID.KEY of the expression language: KEY is count, radius [m], nearest_mean [m],
// nearest_cv or worst_gap [m]. Rejects solids and keys that there are not.
double covering_measure(const Scene& scene, const std::string& solid, const std::string& key);

}  // namespace barchan
