// Rows of a State chosen by where their particles are: flagged, counted and listed on the device,
// so that only what was chosen comes to the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hd.h"
#include "compute/buffer.h"
#include "geometry/aabb.h"
#include "geometry/solid.h"
#include "sim/state.h"

namespace barchan {

// A box whose sides may be endless.
struct Box {
  Vec3 lo, hi;  // [m]

  HD bool contains(const Vec3& p) const {
    return lo.x <= p.x && p.x <= hi.x && lo.y <= p.y && p.y <= hi.y && lo.z <= p.z && p.z <= hi.z;
  }
};

class RowSelector {
 public:
  explicit RowSelector(Device& device) : boxes_(device), places_(device), rows_(device) {}

  // In any of the boxes; outside of all solids where they stand. Ascending, and valid until the
  // next call.
  View<const std::uint32_t> in_boxes(const State& state, const std::vector<Aabb>& boxes);
  View<const std::uint32_t> outside(const State& state, const SolidsView& solids);

 private:
  Buffer<Box> boxes_;
  Buffer<std::uint32_t> places_, rows_;
};

// The given rows of one column.
HostColumn download_rows(const State& state, const std::string& column,
                         View<const std::uint32_t> rows);

}  // namespace barchan
