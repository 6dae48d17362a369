#include "geometry/fill.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "geometry/aabb.h"
#include "geometry/sdf.h"
#include "math/random.h"

namespace barchan {

namespace {

constexpr std::int64_t kMostParticles = (std::int64_t{1} << 31) - 1;
constexpr double kMostCubes = 0x1p36;  // around a thin shape; the search visits blocks of them
constexpr std::int64_t kBlock = 8;     // cubes a side that are accepted or rejected together

// The cubes that may hold a particle.
struct Lattice {
  Vec3d lo;        // [m]
  double spacing;  // [m]
  std::int64_t n[3];

  Vec3d center(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return lo + spacing * Vec3d(static_cast<double>(i) + 0.5, static_cast<double>(j) + 0.5,
                                static_cast<double>(k) + 0.5);
  }
};

Lattice lattice_over(const Aabb& box, double spacing) {
  Lattice all{box.lo, spacing, {0, 0, 0}};
  const Vec3d cubes = box.extent() / spacing;
  if (cubes.x > kMostCubes || cubes.y > kMostCubes || cubes.z > kMostCubes ||
      cubes.x * cubes.y * cubes.z > kMostCubes) {
    reject(
        "a lattice of {} m over a box of {} x {} x {} m has more than {} cubes; use a larger "
        "spacing",
        spacing, box.extent().x, box.extent().y, box.extent().z,
        human_count(static_cast<std::uint64_t>(kMostCubes)));
  }
  // Cube i counts if its centre (i + 1/2) spacing is inside. An extent of n spacings, give or take
  // rounding, is half a cube away from where that changes.
  for (int a = 0; a < 3; ++a) {
    all.n[a] = static_cast<std::int64_t>(std::ceil(cubes[a] - 0.5 - 1e-9));
  }
  return all;
}

void check_count(std::int64_t count, double spacing) {
  if (count <= kMostParticles) return;
  reject(
      "filling the shape at a spacing of {} m takes more than {} particles; use a larger spacing",
      spacing, human_count(static_cast<std::uint64_t>(kMostParticles)));
}

// Places particles one after the other.
class Filler {
 public:
  Filler(const Shape& shape, const FillSettings& settings)
      : shape_(shape), settings_(settings), random_{settings.seed} {}

  void reserve(std::int64_t count) { out_.reserve(static_cast<std::size_t>(count)); }

  // The particle of the cube about `center`, which is inside; `whole`: so is all of the cube.
  void put(const Vec3d& center, bool whole) {
    if (!settings_.jittered) {
      out_.push_back(Vec3(center));
      return;
    }
    const Vec3d u(random_.uniform3(settings_.first_id + out_.size(), kFillStream));
    const Vec3d p = center + (settings_.jitter * settings_.spacing) * (u - Vec3d(0.5, 0.5, 0.5));
    out_.push_back(Vec3(whole || inside(p) ? p : center));
  }

  bool inside(const Vec3d& p) const { return deeper_than(shape_, p, 0.0); }
  std::int64_t count() const { return static_cast<std::int64_t>(out_.size()); }
  std::vector<Vec3> take() { return std::move(out_); }

 private:
  const Shape& shape_;
  const FillSettings& settings_;
  Random random_;
  std::vector<Vec3> out_;
};

// A box along the axes: every cube counts, and only the last layers may stick out of it.
std::vector<Vec3> fill_box(const Shape& shape, const Lattice& cubes, const Vec3d& extent,
                           const FillSettings& settings) {
  const std::int64_t plane = cubes.n[0] * cubes.n[1];
  const double all = static_cast<double>(plane) * static_cast<double>(cubes.n[2]);
  if (all > static_cast<double>(kMostParticles)) check_count(kMostParticles + 1, settings.spacing);

  std::int64_t whole[3];
  for (int a = 0; a < 3; ++a) {
    const double covered = static_cast<double>(cubes.n[a]) * cubes.spacing;
    whole[a] = covered > extent[a] * (1.0 + 1e-12) ? cubes.n[a] - 1 : cubes.n[a];
  }
  Filler filler(shape, settings);
  filler.reserve(plane * cubes.n[2]);
  for (std::int64_t k = 0; k < cubes.n[2]; ++k) {
    for (std::int64_t j = 0; j < cubes.n[1]; ++j) {
      const bool row_whole = j < whole[1] && k < whole[2];
      for (std::int64_t i = 0; i < cubes.n[0]; ++i) {
        filler.put(cubes.center(i, j, k), row_whole && i < whole[0]);
      }
    }
  }
  return filler.take();
}

enum class Cover : char { none, some, all };

// What the distance at a block's centre says about its cubes: the distance changes by at most one
// metre a metre, so beyond half the block's diagonal all cubes are on one side.
class BlockTest {
 public:
  BlockTest(const Shape& shape, const Lattice& cubes, const Vec3d& extent)
      : cubes_(cubes),
        origin_(cubes.lo + 0.5 * extent),
        program_(compile(shape, origin_, 2.0 * cubes.spacing)) {
    const double edge = cubes.spacing * static_cast<double>(kBlock);
    // The slack is for single precision, and for meshes, whose interpolated distance is too large
    // by up to 3/8 voxel^2 / d (mesh_field.h): voxels are two spacings and d is seven or more.
    reach_ = 0.5 * std::sqrt(3.0) * edge * 1.0001 + 1e-5 * length(extent) + 0.25 * cubes.spacing;
  }

  Cover operator()(std::int64_t bi, std::int64_t bj, std::int64_t bk) const {
    const double half = 0.5 * static_cast<double>(kBlock - 1);  // from the first cube's centre
    const Vec3d center = cubes_.center(bi * kBlock, bj * kBlock, bk * kBlock) +
                         (half * cubes_.spacing) * Vec3d(1.0, 1.0, 1.0);
    const double d = distance_only(program_.begin(), program_.end(), Vec3(center - origin_));
    return d > reach_ ? Cover::none : (d < -reach_ ? Cover::all : Cover::some);
  }

 private:
  const Lattice& cubes_;
  Vec3d origin_;
  SdfProgram program_;
  double reach_;
};

// One row of cubes along x, given what its blocks hold.
void fill_row(Filler& filler, const Lattice& cubes, std::int64_t j, std::int64_t k,
              const Cover* blocks) {
  for (std::int64_t begin = 0; begin < cubes.n[0]; begin += kBlock) {
    const Cover cover = blocks[begin / kBlock];
    if (cover == Cover::none) continue;
    const std::int64_t end = std::min(begin + kBlock, cubes.n[0]);
    for (std::int64_t i = begin; i < end; ++i) {
      const Vec3d center = cubes.center(i, j, k);
      if (cover == Cover::all || filler.inside(center)) filler.put(center, cover == Cover::all);
    }
  }
}

std::vector<Vec3> fill_blocks(const Shape& shape, const Lattice& cubes, const Vec3d& extent,
                              const FillSettings& settings) {
  const BlockTest test(shape, cubes, extent);
  const std::int64_t bx = (cubes.n[0] + kBlock - 1) / kBlock,
                     by = (cubes.n[1] + kBlock - 1) / kBlock;
  Filler filler(shape, settings);
  std::vector<Cover> slab(static_cast<std::size_t>(bx * by));
  for (std::int64_t k = 0; k < cubes.n[2]; ++k) {
    if (k % kBlock == 0) {
      for (std::int64_t b = 0; b < bx * by; ++b) {
        slab[static_cast<std::size_t>(b)] = test(b % bx, b / bx, k / kBlock);
      }
    }
    for (std::int64_t j = 0; j < cubes.n[1]; ++j) {
      fill_row(filler, cubes, j, k, slab.data() + (j / kBlock) * bx);
      check_count(filler.count(), settings.spacing);
    }
  }
  return filler.take();
}

// Turns down what would run out of memory before it could be counted: whole blocks alone are too
// many already.
void check_whole_blocks(const Shape& shape, const Lattice& cubes, const Vec3d& extent) {
  const BlockTest test(shape, cubes, extent);
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < cubes.n[2] / kBlock; ++k) {
    for (std::int64_t j = 0; j < cubes.n[1] / kBlock; ++j) {
      for (std::int64_t i = 0; i < cubes.n[0] / kBlock; ++i) {
        if (test(i, j, k) == Cover::all) count += kBlock * kBlock * kBlock;
      }
    }
    check_count(count, cubes.spacing);
  }
}

}  // namespace

std::vector<Vec3> fill_shape(const Shape& shape, const FillSettings& settings) {
  const std::string fault = describe_fault(shape);
  if (!fault.empty()) reject("{}", fault);
  if (!(settings.spacing > 0.0) || !std::isfinite(settings.spacing)) {
    reject("the spacing is {} m; it must be above 0", settings.spacing);
  }
  if (!(settings.jitter >= 0.0 && settings.jitter <= 1.0)) {
    reject("the jitter is {}; it must be between 0 and 1", settings.jitter);
  }
  const Aabb box = bounds(shape);
  if (!box.is_bounded()) {
    reject("the shape has no end, so it cannot be filled; intersect it with a box");
  }
  if (box.is_empty()) return {};

  const Lattice cubes = lattice_over(box, settings.spacing);
  if (cubes.n[0] <= 0 || cubes.n[1] <= 0 || cubes.n[2] <= 0) return {};
  const bool plain =
      shape.kind == Shape::Kind::box && shape.placement.orientation == Quatd::identity();
  if (plain) return fill_box(shape, cubes, box.extent(), settings);

  const double all = static_cast<double>(cubes.n[0]) * static_cast<double>(cubes.n[1]) *
                     static_cast<double>(cubes.n[2]);
  if (all > static_cast<double>(kMostParticles)) check_whole_blocks(shape, cubes, box.extent());
  return fill_blocks(shape, cubes, box.extent(), settings);
}

}  // namespace barchan
