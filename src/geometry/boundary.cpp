#include "geometry/boundary.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "compute/parallel.h"
#include "geometry/covering.h"
#include "geometry/point_cells.h"
#include "geometry/sdf.h"
#include "geometry/tessellate.h"
#include "math/sph_kernels.h"

namespace barchan {

namespace {

// All in spacings.
constexpr double kSupport = 2.0;     // of the kernel
constexpr double kDepth = 0.5;       // of the samples, where the solid is thick enough
constexpr double kRadius = 0.5;      // of the covering's spheres
constexpr double kGrid = 0.63;       // step of regular grids: as near as a covering's neighbours
constexpr double kBeyond = 6.0;      // how far endless shapes go on beyond the stage
constexpr double kCut = 2.0;         // there they have an end, so no thin parts are looked for
constexpr double kCell = 0.35;       // where to look for thin parts; as cover() does for kRadius
constexpr double kFar = 0.65;        // no sample of the sunk surface this near: a thin part
constexpr double kThinApart = 0.45;  // of samples in thin parts, on one side, at least
constexpr double kBlur = 0.1;        // of gradients there
constexpr int kSinkSteps = 32;       // to find how deep a thin part is

constexpr double kFlatWall = 28.0 / 9.0;  // S, see boundary.h
constexpr double kMostSamples = 5e7;
constexpr std::size_t kBlock = 256;  // points that a thread takes at once

// Runs work(i) for all i below count, on all cores.
template <class Work>
void for_all(std::size_t count, const Work& work) {
  const ThreadPool pool(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  pool.parallel_blocks((count + kBlock - 1) / kBlock, [&](std::size_t b) {
    for (std::size_t i = b * kBlock; i < std::min(count, (b + 1) * kBlock); ++i) work(i);
  });
}

PointCells cells_of(const std::vector<Vec3d>& points, double edge) {
  return PointCells(points.size(), edge, [&](std::size_t i) { return points[i]; });
}

// ---- regular grids

void check_count(double samples, double spacing) {
  if (samples <= kMostSamples) return;
  reject(
      "the boundary has {} samples at a spacing of {} m and there may be {}; use a larger "
      "resolution",
      human_count(static_cast<std::uint64_t>(std::min(samples, 1e18))), spacing,
      human_count(static_cast<std::uint64_t>(kMostSamples)));
}

// The surface of a lattice of n + 1 points along each edge of the sunk box. Sunk by half its
// thickness a thin box has n = 0 along that edge: both faces are one layer.
std::vector<Vec3d> sample_box(const Shape& box, bool inside_out, double spacing) {
  Vec3d half = 0.5 * (box.hi - box.lo), step;
  const Vec3d middle = 0.5 * (box.lo + box.hi);
  double n[3];
  for (int a = 0; a < 3; ++a) {
    half[a] = std::max(half[a] + (inside_out ? kDepth : -kDepth) * spacing, 0.0);
    n[a] = std::ceil(2.0 * half[a] / (kGrid * spacing));
    step[a] = n[a] > 0.0 ? 2.0 * half[a] / n[a] : 0.0;
  }
  check_count(2.0 * ((n[0] + 1) * (n[1] + 1) + (n[1] + 1) * (n[2] + 1) + (n[2] + 1) * (n[0] + 1)),
              spacing);
  std::vector<Vec3d> points;
  for (int k = 0; k <= n[2]; ++k) {
    for (int j = 0; j <= n[1]; ++j) {
      // Within the box only the row's two ends are on the surface.
      const bool face = k == 0 || k == n[2] || j == 0 || j == n[1];
      for (int i = 0; i <= n[0]; i += face ? 1 : std::max(static_cast<int>(n[0]), 1)) {
        const Vec3d p = middle - half + Vec3d(i * step.x, j * step.y, k * step.z);
        points.push_back(box.placement.to_world(p));
      }
    }
  }
  return points;
}

// A square grid over what the stage holds of the sunk plane.
std::vector<Vec3d> sample_plane(const Shape& plane, bool inside_out, double spacing,
                                const Aabb& stage) {
  const Vec3d n = rotate(plane.placement.orientation, normalized(plane.normal));
  const Vec3d origin =
      plane.placement.to_world(plane.point) + (inside_out ? kDepth : -kDepth) * spacing * n;
  const Vec3d u = Vec3d(sdf::across(Vec3(n)));
  const Vec3d side = normalized(u - dot(u, n) * n), other = cross(n, side);
  Aabb seen;  // the stage's corners along side and other [m]
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d c(corner & 1 ? stage.hi.x : stage.lo.x, corner & 2 ? stage.hi.y : stage.lo.y,
                  corner & 4 ? stage.hi.z : stage.lo.z);
    const Vec3d at(dot(c - origin, side), dot(c - origin, other), 0.0);
    seen = join(seen, {at, at});
  }
  const double step = kGrid * spacing;
  const Vec3d size = seen.extent();
  check_count((size.x / step + 1.0) * (size.y / step + 1.0), spacing);
  std::vector<Vec3d> points;
  for (double y = step * std::ceil(seen.lo.y / step); y <= seen.hi.y; y += step) {
    for (double x = step * std::ceil(seen.lo.x / step); x <= seen.hi.x; x += step) {
      const Vec3d p = origin + x * side + y * other;
      if (stage.contains(p)) points.push_back(p);
    }
  }
  return points;
}

// ---- any shape

// The distance to the solid's material, negative in it.
class Material {
 public:
  // The program is that of the surface moved out by d/2: so its meshes are baked as far as those of
  // the coverings, and shared with them.
  Material(const Shape& shape, bool inside_out, double spacing, const Vec3d& origin)
      : out_(kDepth * spacing), sign_(inside_out ? -1.0 : 1.0), origin_(origin) {
    program_ = compile(make_offset(shape, out_), origin, 0.5 * kCell * spacing);
  }
  double depth_or_gap(const Vec3d& p) const {
    return sign_ * (distance_only(program_.begin(), program_.end(), Vec3(p - origin_)) + out_);
  }
  Vec3d outwards(const Vec3d& p) const {
    return sign_ * Vec3d(distance(program_.begin(), program_.end(), Vec3(p - origin_)).gradient);
  }

 private:
  double out_, sign_;  // [m], -
  Vec3d origin_;       // [m]
  SdfProgram program_;
};

// A shape and what of it is sampled: all, or what the stage holds of an endless one.
struct Subject {
  Shape within;
  Aabb clear;  // of the cut: here the surface is the true one [m]
  Material material;
  bool inside_out;
  double spacing;  // [m]
};

// The surface moved into the material by `by` [m].
Shape sunk(const Subject& s, double by) {
  return make_offset(s.within, s.inside_out ? by : -by);
}

// The covering of the sunk surface. On the cut of an endless shape the true surface is elsewhere.
std::vector<Vec3d> sample_sunk_surface(const Subject& s, std::uint64_t seed) {
  const double depth = kDepth * s.spacing;
  if (bounds(sunk(s, depth)).is_empty()) return {};
  std::vector<Vec3d> points =
      cover(s.within, kRadius * s.spacing, seed, s.inside_out ? depth : -depth).points;
  std::erase_if(points, [&](const Vec3d& p) {
    return std::abs(s.material.depth_or_gap(p) + depth) > 0.1 * s.spacing;
  });
  return points;
}

struct Sunk {
  Vec3d at;  // [m]
  Vec3d in;  // unit; the way it came
};

// How fast the distance rises, over kBlur to both sides: half way between faces it does not.
Vec3d blurred_gradient(const Material& material, const Vec3d& p, double spacing) {
  const double e = kBlur * spacing;
  Vec3d gradient;
  for (int a = 0; a < 3; ++a) {
    Vec3d before = p, behind = p;
    before[a] += e;
    behind[a] -= e;
    gradient[a] = (material.depth_or_gap(before) - material.depth_or_gap(behind)) / (2.0 * e);
  }
  return gradient;
}

// From where fluid rests, d/2 before the surface, d along the inward normal: to the sunk surface.
// If the solid is too thin for that, from the surface downhill into its middle, by d at most.
Sunk sink(const Subject& s, const Vec3d& rest) {
  const Vec3d in = -s.material.outwards(rest);
  const double depth = kDepth * s.spacing;
  Vec3d p = rest + s.material.depth_or_gap(rest) * in;
  const Vec3d full = p + depth * in;
  if (s.material.depth_or_gap(full) < -0.9 * depth) return {full, in};
  for (int k = 0; k < kSinkSteps && s.material.depth_or_gap(p) > -depth; ++k) {
    p -= 2.0 * depth / kSinkSteps * blurred_gradient(s.material, p, s.spacing);
  }
  return {p, in};
}

// Of two that are too near to each other the later one goes, but for those that came from the two
// faces of a plate: they may be near without being of the same layer, unless they are very near.
std::vector<Vec3d> thinned(const std::vector<Sunk>& candidates, double apart) {
  const PointCells cells(candidates.size(), apart, [&](std::size_t i) { return candidates[i].at; });
  std::vector<char> closed(candidates.size(), 0);
  std::vector<Vec3d> samples;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (closed[i]) continue;
    const Sunk& self = candidates[i];
    samples.push_back(self.at);
    cells.for_near(self.at, [&](std::uint32_t j) {
      const bool same_side = dot(candidates[j].in, self.in) > -0.5;
      const double least = same_side ? apart : 0.2 * apart;
      if (length(candidates[j].at - self.at) < least) closed[j] = 1;
    });
  }
  return samples;
}

// Where points of the resting fluid's surface sink to, if that is far from all samples of the sunk
// surface.
std::vector<Sunk> far_from(const std::vector<Vec3d>& sunk_samples, const Subject& s,
                           const std::vector<Vec3d>& rest) {
  const double d = s.spacing;
  const PointCells cells = cells_of(sunk_samples, kFar * d);
  std::vector<Sunk> found(rest.size());
  std::vector<char> far(rest.size());
  for_all(rest.size(), [&](std::size_t i) {
    far[i] = s.clear.contains(rest[i]);
    if (!far[i]) return;
    found[i] = sink(s, rest[i]);
    cells.for_near(found[i].at, [&](std::uint32_t j) {
      if (length(sunk_samples[j] - found[i].at) < kFar * d) far[i] = 0;
    });
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (far[i]) found[kept++] = found[i];
  }
  found.resize(kept);
  return found;
}

// Thin parts are seen from the surface where fluid rests: it is thick where the solid is thin, so
// that nothing falls through its cells. A covering of it is even; most solids do not need one.
std::vector<Vec3d> sample_thin_parts(const Subject& s, const std::vector<Vec3d>& sunk_samples,
                                     std::uint64_t seed) {
  const double d = s.spacing;
  const Shape resting = sunk(s, -kDepth * d);
  if (bounds(resting).is_empty()) return {};
  if (far_from(sunk_samples, s, tessellate(resting, kCell * d).vertices).empty()) return {};
  const Covering covering = cover(resting, kRadius * d, seed);
  return thinned(far_from(sunk_samples, s, covering.points), kThinApart * d);
}

std::vector<Vec3d> sample_any(const Subject& s, std::uint64_t seed) {
  std::vector<Vec3d> points = sample_sunk_surface(s, seed);
  const std::vector<Vec3d> thin = sample_thin_parts(s, points, seed);
  points.insert(points.end(), thin.begin(), thin.end());
  return points;
}

std::vector<Vec3d> sample_points(const Shape& shape, bool inside_out, double spacing,
                                 std::uint64_t seed, const Aabb& stage) {
  if (shape.kind == Shape::Kind::box) return sample_box(shape, inside_out, spacing);
  if (bounds(shape).is_bounded()) {
    const Material material(shape, inside_out, spacing, natural_origin(shape));
    return sample_any({shape, Aabb::everything(), material, inside_out, spacing}, seed);
  }
  if (stage.is_empty()) return {};
  const Aabb seen = stage.grown(kBeyond * spacing);
  if (!seen.is_bounded()) reject("an endless solid needs a stage with an end to be sampled in");
  if (shape.kind == Shape::Kind::plane) return sample_plane(shape, inside_out, spacing, seen);
  const Shape within = make_intersection({shape, make_box(seen.lo, seen.hi)});
  if (bounds(within).is_empty()) return {};
  const Material material(shape, inside_out, spacing, natural_origin(within));
  return sample_any({within, seen.grown(-kCut * spacing), material, inside_out, spacing}, seed);
}

std::vector<float> weigh(const std::vector<Vec3d>& points, double spacing) {
  const Poly6 kernel(static_cast<float>(kSupport));
  const PointCells cells = cells_of(points, kSupport * spacing);
  std::vector<float> weight(points.size());
  for_all(points.size(), [&](std::size_t i) {
    double crowd = 0.0;
    cells.for_near(points[i], [&](std::uint32_t k) {
      const double r2 = length_squared(points[k] - points[i]) / (spacing * spacing);
      crowd += kernel.w_r2(static_cast<float>(r2));
    });
    weight[i] = static_cast<float>(std::min(kFlatWall * kernel.w_r2(0.0f) / crowd, 1.0));
  });
  return weight;
}

}  // namespace

BoundarySamples sample_boundary(const Shape& shape, bool inside_out, double spacing,
                                std::uint64_t seed, const Aabb& stage) {
  const std::string fault = describe_fault(shape);
  if (!fault.empty()) reject("{}", fault);
  if (!(spacing > 0.0) || !std::isfinite(spacing)) {
    reject("the spacing of boundary samples is {} m; it must be above 0", spacing);
  }
  BoundarySamples samples;
  samples.points = sample_points(shape, inside_out, spacing, seed, stage);
  samples.weight = weigh(samples.points, spacing);
  return samples;
}

}  // namespace barchan
