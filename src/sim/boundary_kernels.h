// Kernels behind boundary.h, for both devices.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/view.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "spatial/cells.h"
#include "spatial/neighbours.h"

namespace barchan {

// Samples into the world; those outside of the frame's inner cells are not wanted.
struct PlaceSamples {
  View3<const float> local;
  View<const std::uint32_t> solid_of;
  View<const Float4> pose;  // position and orientation of each solid
  CellFrame frame;
  View3<float> world;        // out
  View<std::uint32_t> kept;  // out

  HD bool inside(float x, float origin, int cells) const {
    const float c = (x - origin) * frame.inverse_size;
    return c >= 1.0f && c < static_cast<float>(cells - 1);
  }
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t s = solid_of[i];
    const Float4 p = pose[2 * s], q = pose[2 * s + 1];
    const Vec3 x = Vec3(p.x, p.y, p.z) + rotate(Quat{q.w, q.x, q.y, q.z}, local[i]);
    world[i] = x;
    kept[i] = inside(x.x, frame.origin.x, frame.nx) && inside(x.y, frame.origin.y, frame.ny) &&
                      inside(x.z, frame.origin.z, frame.nz)
                  ? 1u
                  : 0u;
  }
};

// `before`: how many are kept before each; the last entry of the samples tells by `total`.
struct ChooseSamples {
  View<const std::uint32_t> before;
  View3<const float> world;
  std::uint32_t total;
  View<std::uint32_t> chosen;  // out
  View3<float> near;           // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::uint32_t after = i + 1 < before.size ? before[i + 1] : total;
    if (after == before[i]) return;
    chosen[before[i]] = static_cast<std::uint32_t>(at);
    near[before[i]] = world[i];
  }
};

struct SortSamples {
  View<const std::uint32_t> order, chosen;
  View3<const float> near;
  View<const float> weight;
  View<const std::uint32_t> local_solid_of;
  View<Float4> points;           // out
  View<std::uint32_t> solid_of;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::uint32_t sample = chosen[order[i]];
    const Vec3 x = near[order[i]];
    points[i] = {x.x, x.y, x.z, weight[sample]};
    solid_of[i] = local_solid_of[sample];
  }
};

// Marks the 27 cells around each sample's, in a table of all cells.
struct MarkCells {
  View<const std::uint32_t> cell_of;
  CellFrame frame;
  View<std::uint8_t> marked;  // out
  HD void operator()(int item) const {
    const std::int64_t cell = cell_of[static_cast<std::size_t>(item / 9)];
    const std::int64_t middle = cell + frame.row_offset(item % 9);
    for (std::int64_t at = middle - 1; at <= middle + 1; ++at) {
      marked[static_cast<std::size_t>(at)] = 1;
    }
  }
};

// Gathers the fluid particles that have samples near. Their order is the hardware's; nothing that
// is computed with it depends on it.
struct GatherTouched {
  Neighbours near;
  std::uint32_t* count;
  View<std::uint32_t> touched;  // out; what does not fit is counted only
  View<std::uint32_t> slot_of;  // out
  HD void operator()(int i) const {
    std::uint32_t slot = ~0u;
    if (near.count(i) > 0) {
      slot = count_up(count);
      if (slot < touched.size) {
        touched[slot] = static_cast<std::uint32_t>(i);
      } else {
        slot = ~0u;
      }
    }
    slot_of[static_cast<std::size_t>(i)] = slot;
  }
};

}  // namespace barchan
