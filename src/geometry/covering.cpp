#include "geometry/covering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "compute/parallel.h"
#include "geometry/mesh.h"
#include "geometry/point_cells.h"
#include "geometry/sdf.h"
#include "geometry/solid_mesh.h"
#include "geometry/tessellate.h"
#include "math/random.h"

namespace barchan {

namespace {

constexpr double kMostSpheres = 5e7;
constexpr double kCell = 0.7;        // of the tessellation, in radii; meshes are baked by half
constexpr int kRounds = 3;           // of relaxing, thinning and filling gaps
constexpr int kSteps = 40;           // of relaxing, a round
constexpr double kSupport = 1.5;     // floaters this far apart do not meet, in spacings
constexpr double kPush = 0.35;       // displacement by unit repulsion, in spacings
constexpr double kStill = 0.004;     // a largest displacement that counts as rest, in spacings
constexpr double kCrowded = 0.62;    // nearer neighbours are too many, in spacings
constexpr int kSamplesEach = 30;     // of the surface, a sphere
constexpr std::size_t kBlock = 256;  // points that a thread takes at once

const ThreadPool& all_cores() {
  static const ThreadPool pool(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  return pool;
}

// Runs work(i) for all i below count, on all cores.
template <class Work>
void for_all(std::size_t count, const Work& work) {
  all_cores().parallel_blocks((count + kBlock - 1) / kBlock, [&](std::size_t b) {
    for (std::size_t i = b * kBlock; i < std::min(count, (b + 1) * kBlock); ++i) work(i);
  });
}

// ---- the surface

struct SurfacePoint {
  Vec3d at;      // [m]
  Vec3d normal;  // unit
};

// The zero set: points are brought to it. Meshes by their nearest point, which is exact; anything
// else by v = -phi n, a few times for shapes whose distance is a bound.
class Surface {
 public:
  Surface(const Shape& shape, double radius)
      : shape_(shape), origin_(natural_origin(shape)), tolerance_(1e-3 * radius) {
    if (shape.kind != Shape::Kind::mesh) program_ = compile(shape, origin_, 0.5 * kCell * radius);
  }

  SurfacePoint project(const Vec3d& p) const {
    if (shape_.kind == Shape::Kind::mesh) return on_mesh(p);
    SurfacePoint on{p, {}};
    for (int k = 0; k < kMostProjections; ++k) {
      const Distance phi = distance(program_.begin(), program_.end(), Vec3(on.at - origin_));
      on.normal = Vec3d(phi.gradient);
      if (k > 0 && std::abs(phi.d) < tolerance_) break;
      on.at -= static_cast<double>(phi.d) * on.normal;
    }
    return on;
  }

  double distance_to(const Vec3d& p) const { return length(project(p).at - p); }

 private:
  static constexpr int kMostProjections = 8;

  SurfacePoint on_mesh(const Vec3d& p) const {
    const SolidMesh& mesh = *shape_.mesh;
    const SolidMesh::Nearest near = mesh.nearest(shape_.placement.to_local(p));
    const Triangle& t = mesh.mesh().triangles[static_cast<std::size_t>(near.triangle)];
    const Vec3d a = mesh.mesh().corner(t, 0), b = mesh.mesh().corner(t, 1),
                c = mesh.mesh().corner(t, 2);
    return {shape_.placement.to_world(near.point),
            rotate(shape_.placement.orientation, normalized(cross(b - a, c - a), Vec3d(0, 1, 0)))};
  }

  const Shape& shape_;
  Vec3d origin_;      // [m]
  double tolerance_;  // [m]
  SdfProgram program_;
};

double area_of(const Mesh& mesh, const Triangle& t) {
  const Vec3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
  return 0.5 * length(cross(b - a, c - a));
}

// Random points of the surface, one on each `share` [m^2]. Triangles in a row share what is left
// over, so each gets its area's number rounded up or down, with the right odds.
std::vector<Vec3d> scatter(const Mesh& mesh, double share, std::uint64_t seed,
                           std::uint32_t counter) {
  const Random random{seed};
  std::vector<Vec3d> points;
  double due = random.uniform(0, kCoveringStream, counter);
  for (const Triangle& t : mesh.triangles) {
    due += area_of(mesh, t) / share;
    for (; due >= 1.0; due -= 1.0) {
      Vec3d u(random.uniform3(points.size() + 1, kCoveringStream, counter));
      if (u.x + u.y > 1.0) u = {1.0 - u.x, 1.0 - u.y, 0.0};  // the parallelogram's other half
      const Vec3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
      points.push_back(a + u.x * (b - a) + u.y * (c - a));
    }
  }
  return points;
}

// ---- neighbours

PointCells cells_of(const std::vector<SurfacePoint>& points, double edge) {
  return PointCells(points.size(), edge, [&](std::size_t i) { return points[i].at; });
}

// The distance to the nearest point but `self`; `within` if there is none nearer [m].
double nearest_distance(const PointCells& cells, const std::vector<SurfacePoint>& points,
                        const Vec3d& p, double within, std::size_t self) {
  double squared = within * within;
  cells.for_near(p, [&](std::uint32_t i) {
    if (i != self) squared = std::min(squared, length_squared(points[i].at - p));
  });
  return std::sqrt(squared);
}
constexpr std::size_t kNobody = std::numeric_limits<std::size_t>::max();

// ---- floaters

class Floaters {
 public:
  Floaters(const Surface& surface, double spacing, const std::vector<Vec3d>& seeds)
      : surface_(surface), spacing_(spacing), points_(seeds.size()) {
    for_all(seeds.size(), [&](std::size_t i) { points_[i] = surface_.project(seeds[i]); });
  }

  // Lets them float until they are still, or for kSteps.
  void relax() {
    std::vector<SurfacePoint> next(points_.size());
    std::vector<double> moved(points_.size());
    for (int step = 0; step < kSteps && !points_.empty(); ++step) {
      const PointCells cells = cells_of(points_, kSupport * spacing_);
      for_all(points_.size(), [&](std::size_t i) {
        next[i] = surface_.project(points_[i].at + spacing_ * repulsion(cells, i));
        moved[i] = length(next[i].at - points_[i].at);
      });
      points_.swap(next);
      if (*std::max_element(moved.begin(), moved.end()) < kStill * spacing_) break;
    }
  }

  // Of two that are too near to each other the later one dies.
  void thin() {
    const PointCells cells = cells_of(points_, spacing_);
    std::vector<char> dead(points_.size(), 0);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (dead[i]) continue;
      cells.for_near(points_[i].at, [&](std::uint32_t j) {
        const bool meet = j > i && dot(points_[i].normal, points_[j].normal) > kSameSide;
        if (meet && length(points_[j].at - points_[i].at) < kCrowded * spacing_) dead[j] = 1;
      });
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      if (!dead[i]) points_[kept++] = points_[i];
    }
    points_.resize(kept);
  }

  // New floaters where a sample of the surface has none within `gap` [m]; returns how many.
  std::size_t fill_gaps(const std::vector<SurfacePoint>& samples, double gap) {
    if (points_.empty() && !samples.empty()) points_.push_back(samples.front());
    const PointCells cells = cells_of(points_, gap);
    std::vector<char> open(samples.size());
    for_all(samples.size(), [&](std::size_t i) {
      open[i] = nearest_distance(cells, points_, samples[i].at, gap, kNobody) >= gap;
    });
    // Open samples close others around them: those go in turn, against the new floaters alone.
    std::vector<SurfacePoint> waiting;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (open[i]) waiting.push_back(samples[i]);
    }
    if (waiting.empty()) return 0;
    const PointCells near = cells_of(waiting, gap);
    std::vector<char> closed(waiting.size(), 0);
    std::size_t added = 0;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (closed[i]) continue;
      points_.push_back(waiting[i]);
      ++added;
      near.for_near(waiting[i].at, [&](std::uint32_t j) {
        if (length(waiting[j].at - waiting[i].at) < gap) closed[j] = 1;
      });
    }
    return added;
  }

  const std::vector<SurfacePoint>& points() const { return points_; }

 private:
  // Floaters on the two faces of a thin wall do not meet; on both sides of an edge they do.
  static constexpr double kSameSide = -0.5;

  // Eq. 20 with K = kPush (1 - r / support)^2, in spacings; no longer than a quarter.
  Vec3d repulsion(const PointCells& cells, std::size_t i) const {
    const SurfacePoint& self = points_[i];
    const double support = kSupport * spacing_;
    Vec3d sum;
    cells.for_near(self.at, [&](std::uint32_t j) {
      const Vec3d apart = self.at - points_[j].at;
      const double r2 = length_squared(apart);
      if (j == i || r2 >= support * support) return;
      if (dot(self.normal, points_[j].normal) < kSameSide) return;
      const double r = std::sqrt(r2), close = 1.0 - r / support;
      // Two in one place part along x, the one with the lower number ahead.
      const Vec3d way = r > 0.0 ? apart / r : Vec3d(i < j ? 1.0 : -1.0, 0.0, 0.0);
      sum += (kPush * close * close) * way;
    });
    const double size = length(sum);
    return size > 0.25 ? (0.25 / size) * sum : sum;
  }

  const Surface& surface_;
  double spacing_;  // [m]
  std::vector<SurfacePoint> points_;
};

Shape moved_out(const Shape& shape, double offset) {
  return offset == 0.0 ? shape : make_offset(shape, offset);
}

void check(const Shape& shape, double radius) {
  const std::string fault = describe_fault(shape);
  if (!fault.empty()) reject("{}", fault);
  if (!(radius > 0.0) || !std::isfinite(radius)) {
    reject("the radius of a covering is {} m; it must be above 0", radius);
  }
  if (!bounds(shape).is_bounded()) {
    reject("the shape has no end, so it cannot be covered; intersect it with a box");
  }
}

double area_of(const Mesh& mesh) {
  double sum = 0.0;
  for (const Triangle& t : mesh.triangles) sum += area_of(mesh, t);
  return sum;
}

// Dense points of the surface: kSamplesEach for each sphere, and all corners, where a mesh sticks
// out most.
std::vector<SurfacePoint> sample(const Surface& surface, const Mesh& mesh, double radius,
                                 std::uint64_t seed) {
  const double share = kCoveringSpacing * kCoveringSpacing * radius * radius / kSamplesEach;
  std::vector<Vec3d> seeds = scatter(mesh, share, seed, 1);
  seeds.insert(seeds.end(), mesh.vertices.begin(), mesh.vertices.end());
  std::vector<SurfacePoint> samples(seeds.size());
  for_all(seeds.size(), [&](std::size_t i) { samples[i] = surface.project(seeds[i]); });
  return samples;
}

}  // namespace

Covering cover(const Shape& original, double radius, std::uint64_t seed, double offset) {
  const Shape shape = moved_out(original, offset);
  check(shape, radius);
  const Mesh mesh = tessellate(shape, kCell * radius);
  const double spacing = kCoveringSpacing * radius;
  const double share = 0.5 * std::sqrt(3.0) * spacing * spacing;
  if (area_of(mesh) / share > kMostSpheres) {
    reject("covering {} m^2 with spheres of {} m takes more than {}; use larger ones",
           area_of(mesh), radius, human_count(static_cast<std::uint64_t>(kMostSpheres)));
  }
  const Surface surface(shape, radius);
  const std::vector<SurfacePoint> samples = sample(surface, mesh, radius, seed);

  Floaters floaters(surface, spacing, scatter(mesh, share, seed, 0));
  for (int round = 0; round < kRounds; ++round) {
    floaters.relax();
    floaters.thin();
    if (floaters.fill_gaps(samples, 0.8 * spacing) == 0) break;
  }
  // What is left open gets a sphere that stays where it is.
  floaters.fill_gaps(samples, (kCoveringGap - 0.05) * radius);

  Covering covering{{}, radius};
  covering.points.reserve(floaters.points().size());
  for (const SurfacePoint& p : floaters.points()) covering.points.push_back(p.at);
  return covering;
}

CoveringStatistics measure(const Covering& covering, const Shape& original, double offset) {
  CoveringStatistics found;
  found.count = covering.points.size();
  if (covering.points.empty()) return found;
  const double radius = covering.radius;
  const Shape shape = moved_out(original, offset);
  const Surface surface(shape, radius);
  std::vector<SurfacePoint> points(covering.points.size());
  std::vector<double> off(points.size()), nearest(points.size());
  for_all(points.size(), [&](std::size_t i) {
    points[i].at = covering.points[i];
    off[i] = surface.distance_to(covering.points[i]) / radius;
  });
  const double within = 4.0 * radius;
  const PointCells cells = cells_of(points, within);
  for_all(points.size(), [&](std::size_t i) {
    nearest[i] = nearest_distance(cells, points, points[i].at, within, i) / radius;
  });
  // Other samples than those the covering was made with.
  const std::vector<SurfacePoint> samples =
      sample(surface, tessellate(shape, kCell * radius), radius, 0x5eed);
  std::vector<double> gap(samples.size());
  for_all(samples.size(), [&](std::size_t i) {
    gap[i] = nearest_distance(cells, points, samples[i].at, within, kNobody) / radius;
  });

  const auto count = static_cast<double>(points.size());
  for (const double d : nearest) found.nearest_mean += d / count;
  double variance = 0.0;
  for (const double d : nearest) {
    variance += (d - found.nearest_mean) * (d - found.nearest_mean) / count;
  }
  found.nearest_cv = std::sqrt(variance) / found.nearest_mean;
  if (!gap.empty()) found.worst_gap = *std::max_element(gap.begin(), gap.end());
  found.worst_off_surface = *std::max_element(off.begin(), off.end());
  return found;
}

}  // namespace barchan
