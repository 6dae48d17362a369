// Rows of a State chosen by where their particles are: flagged, counted and listed on the device,
// so that only what was chosen comes to the host.
#pragma once

#include <cstdint>
#include <string>

#include "base/hd.h"
#include "compute/buffer.h"
#include "geometry/aabb.h"
#include "geometry/sdf.h"
#include "sim/state.h"

namespace barchan {

// A shape that stands still, as kernels see it: its distance program about its own middle, which is
// kept as two floats (see geometry/solid.h).
struct Region {
  const SdfNode* begin = nullptr;
  const SdfNode* end = nullptr;
  Vec3 middle, middle_low;  // [m]

  HD bool contains(const Vec3& world) const {
    return distance_only(begin, end, (world - middle) - middle_low) < 0.0f;
  }
};

class RowSelector {
 public:
  explicit RowSelector(Device& device) : places_(device), rows_(device) {}

  // Both ascending, and valid until the next call.
  View<const std::uint32_t> in_box(const State& state, const Aabb& box);
  View<const std::uint32_t> outside(const State& state, View<const Region> regions);

 private:
  Buffer<std::uint32_t> places_, rows_;
};

// The given rows of one column.
HostColumn download_rows(const State& state, const std::string& column,
                         View<const std::uint32_t> rows);

}  // namespace barchan
