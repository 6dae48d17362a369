#include "sim/inlet.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace barchan {

namespace {

constexpr std::uint32_t kOrderStream = 0x696e6c74;  // "inlt"

// What counts as inside is a little more than nothing, or lines along a face would come and go by
// rounding; steps are never shorter than kStep.
constexpr double kInside = 1e-3, kStep = 0.02;  // spacings

// A direction across `u`: the coordinate axis least along it, straightened. Boxes along the axes
// are then cut in line with their faces.
Vec3d beside_axis(const Vec3d& u) {
  const Vec3d size(std::abs(u.x), std::abs(u.y), std::abs(u.z));
  Vec3d axis(0, 0, 1);
  if (size.x <= size.y && size.x <= size.z) {
    axis = {1, 0, 0};
  } else if (size.y <= size.z) {
    axis = {0, 1, 0};
  }
  return normalized(axis - dot(axis, u) * u);
}

// Half the length of the box as seen along a unit vector.
double half_extent(const Vec3d& size, const Vec3d& unit) {
  return 0.5 * (std::abs(size.x * unit.x) + std::abs(size.y * unit.y) + std::abs(size.z * unit.z));
}

}  // namespace

Inlet::Inlet(const Shape& shape, const Vec3d& direction, double spacing, const Random& random)
    : direction_(direction),
      along_(beside_axis(direction)),
      across_(cross(direction, along_)),
      spacing_(spacing),
      middle_(natural_origin(shape)),
      program_(compile(shape, middle_, 0.5 * spacing)) {
  const Aabb box = barchan::bounds(shape);
  const Vec3d size = box.extent();
  length_ = 2.0 * half_extent(size, direction_);
  half_along_ = half_extent(size, along_);
  half_across_ = half_extent(size, across_);
  back_ = box.center() - 0.5 * length_ * direction_;

  // Of the four lattices that lie evenly in the shape, the one with the most lines.
  for (const double a : {0.5, 0.0}) {
    for (const double b : {0.5, 0.0}) {
      std::vector<InletLine> found = lattice(a * spacing, b * spacing);
      if (found.size() > lines_.size()) lines_ = std::move(found);
    }
  }
  // Births go round the lines; shuffled, they do not sweep over the shape.
  for (std::size_t i = lines_.size(); i > 1; --i) {
    const auto j = static_cast<std::size_t>(static_cast<double>(random.uniform(i, kOrderStream)) *
                                            static_cast<double>(i));
    std::swap(lines_[i - 1], lines_[std::min(j, i - 1)]);
  }
  // A flat mouth is a sheet; the lines beside those of a round one may enter anywhere.
  double first = Aabb::kEndless, last = -Aabb::kEndless;
  for (const InletLine& line : lines_) {
    bounds_ = join(bounds_, {line.entry, line.entry});
    first = std::min(first, dot(line.entry - back_, direction_));
    last = std::max(last, dot(line.entry - back_, direction_));
  }
  bounds_ = last - first < 0.1 * spacing_ ? bounds_.grown(spacing_) : box;
}

double Inlet::most_lines(const Shape& shape, const Vec3d& direction, double spacing) {
  const Vec3d size = barchan::bounds(shape).extent(), along = beside_axis(direction);
  return (2.0 * half_extent(size, along) / spacing + 2.0) *
         (2.0 * half_extent(size, cross(direction, along)) / spacing + 2.0);
}

double Inlet::depth_at(const Vec3d& point) const {
  return -static_cast<double>(
      distance_only(program_.begin(), program_.end(), Vec3(point - middle_)));
}

// Steps as long as the distance allows, first up to the surface, then on inside.
std::optional<InletLine> Inlet::enter(const Vec3d& start) const {
  const double step = kStep * spacing_, inside = kInside * spacing_;
  double s = 0.0, depth = depth_at(start);
  while (depth <= inside) {
    s += std::max(-depth, step);
    if (s > length_) return std::nullopt;
    depth = depth_at(start + s * direction_);
  }
  InletLine line{start + s * direction_, 0.0};
  const double end = s + kDeepest * spacing_;
  while (depth > inside && s < end) {
    line.depth = s - dot(line.entry - start, direction_);
    s += std::max(depth, step);
    depth = depth_at(start + s * direction_);
  }
  return line;
}

std::vector<InletLine> Inlet::lattice(double shift_along, double shift_across) const {
  std::vector<InletLine> found;
  const auto reach = [this](double half, double shift) {
    return static_cast<std::int64_t>(std::floor((half + shift) / spacing_));
  };
  const std::int64_t n = reach(half_along_, shift_along), m = reach(half_across_, shift_across);
  for (std::int64_t j = -m; j <= m; ++j) {
    for (std::int64_t i = -n; i <= n; ++i) {
      const Vec3d start = shifted(back_, static_cast<double>(i) * spacing_ + shift_along,
                                  static_cast<double>(j) * spacing_ + shift_across);
      if (const std::optional<InletLine> line = enter(start)) found.push_back(*line);
    }
  }
  return found;
}

std::optional<InletLine> Inlet::beside(std::size_t line, double along, double across) const {
  const Vec3d entry = lines_[line].entry;
  const Vec3d start = entry - dot(entry - back_, direction_) * direction_;
  return enter(shifted(start, along, across));
}

}  // namespace barchan
