// Kernels behind boundary.h, for both devices.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "spatial/cells.h"

namespace barchan {

// Samples into the world; those outside of the frame's inner cells are not wanted.
struct PlaceSamples {
  View3<const float> local;
  View<const std::uint32_t> solid_of;
  View<const Float4> pose;  // position and orientation of each solid
  CellFrame frame;
  View3<float> world;        // out
  View<std::uint32_t> kept;  // out

  HD bool inside(float x, float origin, float scale, int cells, int around) const {
    const float c = (x - origin) * scale;
    return c >= static_cast<float>(around) && c < static_cast<float>(cells - around);
  }
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t s = solid_of[i];
    const Float4 p = pose[2 * s], q = pose[2 * s + 1];
    const Vec3 x = Vec3(p.x, p.y, p.z) + rotate(Quat{q.w, q.x, q.y, q.z}, local[i]);
    world[i] = x;
    kept[i] = inside(x.x, frame.origin.x, frame.x_scale(), frame.nx, frame.reach) &&
                      inside(x.y, frame.origin.y, frame.inverse_size, frame.ny, 1) &&
                      inside(x.z, frame.origin.z, frame.inverse_size, frame.nz, 1)
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

// Marks the cells around each sample's, nine runs of them, in a table of all cells.
struct MarkCells {
  View<const std::uint32_t> cell_of;
  CellFrame frame;
  View<std::uint8_t> marked;  // out
  HD void operator()(int item) const {
    const std::int64_t cell = cell_of[static_cast<std::size_t>(item / 9)];
    const std::int64_t middle = cell + frame.row_offset(item % 9);
    for (std::int64_t at = middle - frame.reach; at <= middle + frame.reach; ++at) {
      marked[static_cast<std::size_t>(at)] = 1;
    }
  }
};

}  // namespace barchan
