#include "spatial/cells.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace barchan {

namespace {

// 2^21 cells along each of three axes still number within 63 bits.
constexpr int kMostCells = 1 << 21;

struct AxisCells {
  double origin;
  int count;
};

AxisCells axis_cells(double lo, double hi, double mean, double size, int most = kMostCells) {
  const double needed = (hi - lo) / size;
  if (needed <= most - 4) return {lo - size, static_cast<int>(needed) + 4};
  return {mean - 0.5 * most * size, most};
}

}  // namespace

int CellFrame::key_bits() const {
  int bits = 1;
  while (bits < 63 && (cells() >> bits) != 0) ++bits;
  return bits;
}

CellFrame frame_around(const Extent& extent, float radius, int reach) {
  if (extent.empty()) return {{0, 0, 0}, 1.0f / radius, 3 * reach, 3, 3, reach};
  const Vec3d lo(extent.lo), hi(extent.hi);
  const Vec3d& mean = extent.mean;
  const double widest = std::max({hi.x - lo.x, hi.y - lo.y, hi.z - lo.z}) / radius;
  // Cell coordinates are rounded to 24 bits, so over n cells they are off by up to n 2^-24. Cells
  // larger by twice that on either side keep all neighbours within one cube.
  const double slack = 1.0 + 5e-7 * std::min<double>(widest + 8.0, kMostCells);
  const double size = radius * slack;
  const AxisCells x = axis_cells(lo.x, hi.x, mean.x, size, kMostCells / reach);
  const AxisCells y = axis_cells(lo.y, hi.y, mean.y, size);
  const AxisCells z = axis_cells(lo.z, hi.z, mean.z, size);
  return {Vec3(Vec3d{x.origin, y.origin, z.origin}),
          static_cast<float>(1.0 / size),
          reach * x.count,
          y.count,
          z.count,
          reach};
}

CellFrame steady_frame(const Extent& extent, float radius, int reach) {
  if (extent.empty()) return frame_around(extent, radius, reach);
  const double step = 8.0 * radius;
  const auto down = [&](float x) { return std::floor((x - 1.01 * radius) / step) * step; };
  const auto up = [&](float x) { return std::ceil((x + 1.01 * radius) / step) * step; };
  Extent wider = extent;
  wider.lo = Vec3(Vec3d{down(extent.lo.x), down(extent.lo.y), down(extent.lo.z)});
  wider.hi = Vec3(Vec3d{up(extent.hi.x), up(extent.hi.y), up(extent.hi.z)});
  return frame_around(wider, radius, reach);
}

void permute(Device& device, View3<const float> x, View<const std::uint32_t> order, Buffer3& out) {
  out.resize(order.size);
  const View3<float> to = out.view();
  device.gather(
      "permute", order,
      {{sizeof(float), x.x, to.x}, {sizeof(float), x.y, to.y}, {sizeof(float), x.z, to.z}});
}

}  // namespace barchan
