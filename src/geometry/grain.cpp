#include "geometry/grain.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "math/eigen3.h"
#include "math/sym3.h"

namespace barchan {

namespace {

constexpr double kEdge = 1.5;  // of the ready-made grains, in radii of their spheres
constexpr int kSamples = 128;  // of the union, along the longest side

struct Moments {
  double volume = 0.0;
  Vec3d first;
  Sym3d second;  // sums of x x^T
};

void add(Moments& sum, const Vec3d& p, double volume) {
  sum.volume += volume;
  sum.first += volume * p;
  sum.second += Sym3d(p.x * p.x, p.y * p.y, p.z * p.z, p.x * p.y, p.x * p.z, p.y * p.z) * volume;
}

// One sphere has closed forms; a union is sampled at the middles of small cubes, layer by layer
// along z, where each sphere covers one interval of the column.
Moments moments_of(const std::vector<GrainSphere>& spheres) {
  Moments sum;
  if (spheres.size() == 1) {
    const double r = spheres[0].radius, volume = 4.0 / 3.0 * kPi * r * r * r;
    add(sum, spheres[0].center, volume);
    sum.second += Sym3d::identity() * (volume * r * r / 5.0);
    return sum;
  }
  Vec3d lo = spheres[0].center, hi = lo;
  for (const GrainSphere& s : spheres) {
    const Vec3d r(s.radius, s.radius, s.radius);
    lo = min(lo, s.center - r);
    hi = max(hi, s.center + r);
  }
  const Vec3d size = hi - lo;
  const double h = std::max({size.x, size.y, size.z}) / kSamples;
  std::vector<std::pair<double, double>> covered;
  for (double x = lo.x + 0.5 * h; x < hi.x; x += h) {
    for (double y = lo.y + 0.5 * h; y < hi.y; y += h) {
      covered.clear();
      for (const GrainSphere& s : spheres) {
        const double dx = x - s.center.x, dy = y - s.center.y;
        const double half = s.radius * s.radius - dx * dx - dy * dy;
        if (half > 0.0) {
          covered.emplace_back(s.center.z - std::sqrt(half), s.center.z + std::sqrt(half));
        }
      }
      std::sort(covered.begin(), covered.end());
      double end = lo.z;
      for (const auto& [from, to] : covered) {
        const double begin = std::max(from, end), length = to - begin;
        if (length <= 0.0) continue;
        end = to;
        const double volume = h * h * length;
        add(sum, {x, y, 0.5 * (begin + to)}, volume);
        sum.second.zz += volume * length * length / 12.0;
        sum.second.xx += volume * h * h / 12.0;
        sum.second.yy += volume * h * h / 12.0;
      }
    }
  }
  return sum;
}

}  // namespace

std::vector<GrainSphere> grain_spheres(const std::string& name) {
  if (name == "sphere") return {{{0, 0, 0}, 1.0}};
  std::vector<GrainSphere> spheres;
  const bool tetrahedron = name == "tetrahedron";
  if (!tetrahedron && name != "cube") return {};
  // Every second corner of a cube is a corner of a tetrahedron whose edge is the face's diagonal.
  const double half = 0.5 * kEdge / (tetrahedron ? std::sqrt(2.0) : 1.0);
  for (int c = 0; c < 8; ++c) {
    const int x = c & 1, y = c >> 1 & 1, z = c >> 2;
    if (tetrahedron && (x + y + z) % 2 != 0) continue;
    spheres.push_back({{half * (2 * x - 1), half * (2 * y - 1), half * (2 * z - 1)}, 1.0});
  }
  return spheres;
}

GrainShape make_grain(const std::vector<GrainSphere>& spheres) {
  const Moments sum = moments_of(spheres);
  const Vec3d middle = sum.first / sum.volume;
  const Sym3d about =
      sum.second - Sym3d(middle.x * middle.x, middle.y * middle.y, middle.z * middle.z,
                         middle.x * middle.y, middle.x * middle.z, middle.y * middle.z) *
                       sum.volume;
  // I = tr(S) - S has the axes of S.
  const Eigen3<double> axes = eigen_symmetric(about);
  const Matrix3<double> to_axes = transpose(axes.vectors);

  GrainShape grain;
  double size = 0.0;
  for (const GrainSphere& s : spheres) {
    const Vec3d turned = to_axes * (s.center - middle);
    grain.spheres.push_back({turned, s.radius});
    size = std::max(size, length(turned) + s.radius);
  }
  for (GrainSphere& s : grain.spheres) {
    s.center = s.center / size;
    s.radius /= size;
    grain.reach = std::max(grain.reach, length(s.center));
  }
  const Vec3d d = axes.values;
  const double fifth = std::pow(size, 5.0);
  grain.volume = sum.volume / (size * size * size);
  grain.moments = Vec3d{d.y + d.z, d.x + d.z, d.x + d.y} / fifth;
  // What differs by no more than sampling does is the same.
  const double mean = (grain.moments.x + grain.moments.y + grain.moments.z) / 3.0;
  const Vec3d off = grain.moments - Vec3d{mean, mean, mean};
  if (length(off) < 1e-3 * mean) grain.moments = {mean, mean, mean};
  return grain;
}

}  // namespace barchan
