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
  View<const Region> regions;
  HD bool operator()(int at) const {
    const Vec3 p = x[static_cast<std::size_t>(at)];
    for (std::size_t r = 0; r < regions.size; ++r) {
      if (regions[r].contains(p)) return false;
    }
    return true;
  }
};

}  // namespace barchan
