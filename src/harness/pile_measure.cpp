#include "harness/pile_measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/units.h"
#include "cache/frame_file.h"
#include "scene/scene.h"

namespace barchan {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> along(const std::vector<Vec3>& particles, const Vec3d& axis) {
  std::vector<double> values;
  values.reserve(particles.size());
  for (const Vec3& p : particles) values.push_back(dot(Vec3d(p), axis));
  return values;
}

// A lattice between walls ends half a spacing before each; other particles may come a little
// nearer.
double breadth_of(const std::vector<double>& across, double spacing) {
  const auto [lo, hi] = std::minmax_element(across.begin(), across.end());
  return spacing * std::floor((*hi - *lo) / spacing + 1.001);
}

// Distances from the upright line through the median.
std::vector<double> distances(const std::vector<Vec3>& particles, const Vec3d& up) {
  const Vec3d a = std::abs(up.x) > 0.5 ? Vec3d(0, 1, 0) : Vec3d(1, 0, 0), b = cross(up, a);
  std::vector<double> from_a = along(particles, a), from_b = along(particles, b);
  const double mid_a = median(from_a), mid_b = median(from_b);
  for (std::size_t i = 0; i < from_a.size(); ++i) {
    from_a[i] = std::hypot(from_a[i] - mid_a, from_b[i] - mid_b);
  }
  return from_a;
}

// Directions from that line [rad].
std::vector<double> bearings(const std::vector<Vec3>& particles, const Vec3d& up) {
  const Vec3d a = std::abs(up.x) > 0.5 ? Vec3d(0, 1, 0) : Vec3d(1, 0, 0), b = cross(up, a);
  std::vector<double> from_a = along(particles, a), from_b = along(particles, b);
  const double mid_a = median(from_a), mid_b = median(from_b);
  for (std::size_t i = 0; i < from_a.size(); ++i) {
    from_a[i] = std::atan2(from_b[i] - mid_b, from_a[i] - mid_a);
  }
  return from_a;
}

std::size_t highest(const PileProfile& profile) {
  const auto top = std::max_element(profile.heights.begin(), profile.heights.end());
  return static_cast<std::size_t>(top - profile.heights.begin());
}

Vec3d direction_of(const std::string& name) {
  const double sign = name.starts_with('-') ? -1.0 : 1.0;
  const int axis = name.back() - 'x';
  Vec3d direction;
  if (axis >= 0) direction[axis] = sign;
  return direction;
}

}  // namespace

PileProfile pile_profile(const std::vector<Vec3>& particles, double spacing, const Vec3d& up,
                         const Vec3d& direction, double spacings_wide) {
  PileProfile profile;
  profile.width = spacings_wide * spacing;
  if (particles.empty()) return profile;
  const bool rings = length(direction) == 0.0;
  const std::vector<double> way = rings ? distances(particles, up) : along(particles, direction);

  const auto [lo, hi] = std::minmax_element(way.begin(), way.end());
  const auto column = [&](double x) { return std::floor(x / profile.width); };
  const double first = column(*lo);
  profile.first = (first + 0.5) * profile.width;
  profile.heights.resize(static_cast<std::size_t>(column(*hi) - first) + 1);
  for (const double x : way) profile.heights[static_cast<std::size_t>(column(x) - first)] += 1.0;

  const double breadth = rings ? 0.0 : breadth_of(along(particles, cross(up, direction)), spacing);
  for (std::size_t k = 0; k < profile.heights.size(); ++k) {
    const double middle = profile.first + static_cast<double>(k) * profile.width;
    const double footprint = profile.width * (rings ? 2.0 * kPi * middle : breadth);
    profile.heights[k] *= spacing * spacing * spacing / footprint;
  }
  return profile;
}

PileProfile pile_tops(const std::vector<Vec3>& particles, double spacing, const Vec3d& up,
                      const Vec3d& direction) {
  constexpr double kSectors = 12.0;  // of a ring
  PileProfile profile;
  profile.width = 2.0 * spacing;
  if (particles.empty()) return profile;
  const bool rings = length(direction) == 0.0;
  const std::vector<double> way = rings ? distances(particles, up) : along(particles, direction);
  const std::vector<double> height = along(particles, up);
  const std::vector<double> across =
      rings ? bearings(particles, up) : along(particles, cross(up, direction));
  const double patch = rings ? 2.0 * kPi / kSectors : profile.width;
  const double lowest = *std::min_element(height.begin(), height.end());
  const double first = std::floor(*std::min_element(way.begin(), way.end()) / profile.width);
  const double left = *std::min_element(across.begin(), across.end());
  const double right = *std::max_element(across.begin(), across.end());
  const double patches = rings ? kSectors : std::floor((right - left) / patch) + 1.0;

  std::map<std::pair<std::size_t, int>, double> tops;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const auto column = static_cast<std::size_t>(std::floor(way[i] / profile.width) - first);
    const int place = static_cast<int>(std::floor((across[i] - left) / patch));
    double& top = tops[{column, place}];
    top = std::max(top, height[i] - lowest);
  }
  profile.first = (first + 0.5) * profile.width;
  for (const auto& [at, top] : tops) {
    profile.heights.resize(std::max(profile.heights.size(), at.first + 1));
    profile.heights[at.first] += top / patches;
  }
  return profile;
}

double pile_height(const PileProfile& profile) {
  return profile.heights.empty() ? kUnknown : profile.heights[highest(profile)];
}

double pile_front(const PileProfile& profile) {
  const std::vector<double>& heights = profile.heights;
  const double least = 0.5 * profile.width;
  if (heights.empty() || heights[highest(profile)] < least) return kUnknown;
  const auto height = [&](std::size_t k) { return k < heights.size() ? heights[k] : 0.0; };
  const auto ends = [&](std::size_t k) {
    return height(k) < least && height(k) + height(k + 1) < 2.0 * least;
  };
  std::size_t last = highest(profile);
  while (!ends(last + 1)) ++last;
  while (height(last) < least) --last;
  const double part = (height(last) - least) / (height(last) - height(last + 1));
  return profile.first + (static_cast<double>(last) + part) * profile.width;
}

double pile_angle(const PileProfile& profile) {
  const std::vector<double>& h = profile.heights;
  if (h.empty()) return kUnknown;
  const std::size_t top = highest(profile);
  double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t k = top; k < h.size() && h[k] >= 0.2 * h[top]; ++k) {
    if (h[k] > 0.8 * h[top]) continue;
    const double at = static_cast<double>(k) * profile.width;
    n += 1.0, x += at, y += h[k], xx += at * at, xy += at * h[k];
  }
  if (n < 3.0) return kUnknown;
  return degrees(std::atan((x * y - n * xy) / (n * xx - x * x)));
}

const std::vector<std::string>& pile_directions() {
  static const std::vector<std::string> names{"x", "y", "z", "-x", "-y", "-z", "r"};
  return names;
}

const std::vector<std::string>& pile_keys() {
  static const std::vector<std::string> keys{"front", "front2", "height", "angle", "slope"};
  return keys;
}

Series pile_series(const RunFolder& run, const std::string& direction, const std::string& key) {
  const Scene scene = read_scene(read_text_file(run.scene()), run.scene().string());
  const Vec3d axis = direction_of(direction);
  if (std::abs(dot(axis, scene.up())) > 0.5) {
    reject("pile.'{}'.{}: a pile has no profile upwards; take a level direction or r", direction,
           key);
  }
  const auto profile = [&](const LoadedFrame& frame) {
    if (key == "slope") return pile_tops(frame.position, frame.spacing, scene.up(), axis);
    const double wide = key == "front2" ? 4.0 : 2.0;
    return pile_profile(frame.position, frame.spacing, scene.up(), axis, wide);
  };
  const auto measure =
      key.starts_with("front") ? pile_front : (key == "height" ? pile_height : pile_angle);
  Series series;
  for (const std::int64_t number : run.frames()) {
    const LoadedFrame frame = read_frame(run.frame(number));
    series.time.push_back(frame.time);
    series.value.push_back(measure(profile(frame)));
  }
  return series;
}

}  // namespace barchan
