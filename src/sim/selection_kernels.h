// By what rows are chosen, for both devices.
#pragma once

#include "base/hd.h"
#include "compute/view.h"
#include "sim/selection.h"

namespace barchan {

struct InAny {
  View3<const float> x;
  View<const Box> boxes;
  HD bool operator()(int at) const {
    const Vec3 p = x[static_cast<std::size_t>(at)];
    for (std::size_t b = 0; b < boxes.size; ++b) {
      if (boxes[b].contains(p)) return true;
    }
    return false;
  }
};

struct OutsideAll {
  View3<const float> x;
  SolidsView solids;
  HD bool operator()(int at) const {
    const Vec3 p = x[static_cast<std::size_t>(at)];
    for (int s = 0; s < solids.count; ++s) {
      if (solid_distance_at_end(solids.data[s], p).d < 0.0f) return false;
    }
    return true;
  }
};

}  // namespace barchan
