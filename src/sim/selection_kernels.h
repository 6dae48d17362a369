// By what rows are chosen, for both devices.
#pragma once

#include "base/hd.h"
#include "compute/view.h"
#include "sim/selection.h"

namespace barchan {

struct InBox {
  View3<const float> x;
  Vec3 lo, hi;  // [m]
  HD bool operator()(int at) const {
    const Vec3 p = x[static_cast<std::size_t>(at)];
    return lo.x <= p.x && p.x <= hi.x && lo.y <= p.y && p.y <= hi.y && lo.z <= p.z && p.z <= hi.z;
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
