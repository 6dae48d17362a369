#include "spatial/tile_grid.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "spatial/cells.h"

namespace barchan {

namespace {

// Tiles along an axis: at most 2^17 of them, so that three axes and the place in a tile still
// number within 63 bits.
constexpr double kMostTiles = 1 << 17;

struct AxisTiles {
  double first;  // in tiles from the world's origin
  int count;
};

AxisTiles axis_tiles(float lo, float hi, double edge) {
  const double first = std::floor(lo / edge) - 1.0, last = std::floor(hi / edge) + 1.0;
  const double count = std::min(last - first + 1.0, kMostTiles);
  return {first, static_cast<int>(count)};
}

}  // namespace

TileFrame tile_frame(const Bounds& bounds, float size) {
  const double edge = static_cast<double>(size) * kTileEdge;
  const Bounds held = bounds.empty() ? Bounds{} : bounds;
  const AxisTiles x = axis_tiles(held.lo.x, held.hi.x, edge);
  const AxisTiles y = axis_tiles(held.lo.y, held.hi.y, edge);
  const AxisTiles z = axis_tiles(held.lo.z, held.hi.z, edge);
  const Vec3d origin(x.first * edge, y.first * edge, z.first * edge);
  return {Vec3(origin), size, 1.0f / size, x.count, y.count, z.count};
}

}  // namespace barchan
