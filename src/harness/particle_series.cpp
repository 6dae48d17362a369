#include "harness/particle_series.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "cache/frame_file.h"
#include "geometry/point_cells.h"

namespace barchan {

namespace {

// The percentile in "p99_5" as a fraction: 0.995.
std::optional<double> percentile(const std::string& statistic) {
  if (statistic.size() < 2 || statistic.front() != 'p') return std::nullopt;
  std::string text = statistic.substr(1);
  std::replace(text.begin(), text.end(), '_', '.');
  double percent = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool good = code == std::errc() && end == text.data() + text.size();
  if (!good || !(percent >= 0.0) || !(percent <= 100.0)) return std::nullopt;
  return percent / 100.0;
}

template <class Get>
std::vector<double> gather(const std::vector<Vec3>& vectors, Get get) {
  std::vector<double> values;
  values.reserve(vectors.size());
  for (const Vec3& v : vectors) values.push_back(get(Vec3d(v)));
  return values;
}

std::vector<double> extra_values(const ExtraColumn& column) {
  std::vector<double> values(column.size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    switch (column.type) {
      case Type::f32:
        values[i] = column.as<float>()[i];
        break;
      case Type::f64:
        values[i] = column.as<double>()[i];
        break;
      case Type::u8:
        values[i] = column.as<std::uint8_t>()[i];
        break;
      case Type::u32:
        values[i] = column.as<std::uint32_t>()[i];
        break;
      case Type::u64:
        values[i] = static_cast<double>(column.as<std::uint64_t>()[i]);
        break;
    }
  }
  return values;
}

// How far the nearest other particle is, in spacings; 2 where none is nearer.
std::vector<double> nearest_of(const LoadedFrame& frame) {
  const double reach = 2.0 * frame.spacing;
  const auto at = [&](std::size_t i) { return Vec3d(frame.position[i]); };
  const PointCells cells(frame.size(), reach, at);
  std::vector<double> values(frame.size());
  for (std::size_t i = 0; i < frame.size(); ++i) {
    double nearest = reach * reach;
    cells.for_near(at(i), [&](std::size_t j) {
      if (j != i) nearest = std::min(nearest, length_squared(at(j) - at(i)));
    });
    values[i] = std::sqrt(nearest) / frame.spacing;
  }
  return values;
}

// Where particles were in the first frame that holds them.
class FirstPlaces {
 public:
  // How far each is from there [m].
  std::vector<double> ways_to(const LoadedFrame& frame) {
    std::vector<double> ways(frame.size());
    for (std::size_t i = 0; i < frame.size(); ++i) {
      const Vec3d here(frame.position[i]);
      ways[i] = length(here - place_.try_emplace(frame.id[i], here).first->second);
    }
    return ways;
  }

 private:
  std::unordered_map<std::uint64_t, Vec3d> place_;
};

// Between the two ranks around fraction x (n - 1), along a straight line.
double at_fraction(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  const double rank = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double part = rank - static_cast<double>(below);
  return values[below] + part * (values[above] - values[below]);
}

double statistic_of(std::vector<double> values, const std::string& statistic) {
  const bool unknown = std::any_of(values.begin(), values.end(), [](double v) { return v != v; });
  if (values.empty() || unknown) return std::numeric_limits<double>::quiet_NaN();
  if (statistic == "min") return *std::min_element(values.begin(), values.end());
  if (statistic == "max") return *std::max_element(values.begin(), values.end());
  if (statistic == "mean") {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
  return at_fraction(std::move(values), *percentile(statistic));
}

}  // namespace

std::vector<double> particle_values(const LoadedFrame& frame, const std::string& quantity) {
  if (quantity == "x") return gather(frame.position, [](const Vec3d& v) { return v.x; });
  if (quantity == "y") return gather(frame.position, [](const Vec3d& v) { return v.y; });
  if (quantity == "z") return gather(frame.position, [](const Vec3d& v) { return v.z; });
  if (quantity == "vx") return gather(frame.velocity, [](const Vec3d& v) { return v.x; });
  if (quantity == "vy") return gather(frame.velocity, [](const Vec3d& v) { return v.y; });
  if (quantity == "vz") return gather(frame.velocity, [](const Vec3d& v) { return v.z; });
  if (quantity == "speed") return gather(frame.velocity, [](const Vec3d& v) { return length(v); });
  if (quantity == "nearest") return nearest_of(frame);
  const ExtraColumn* column = frame.find(quantity);
  if (!column || column->components != 1) {
    reject(
        "frames hold no '{}' of one number a particle; there are x, y, z, vx, vy, vz, speed, "
        "nearest{}",
        quantity, column ? "" : " and what the solver writes");
  }
  return extra_values(*column);
}

void check_statistic(const std::string& statistic) {
  if (statistic == "min" || statistic == "max" || statistic == "mean") return;
  if (!percentile(statistic)) {
    reject("'{}' is no statistic; there are min, max, mean and percentiles such as p50 and p99_5",
           statistic);
  }
}

Series particle_series(const RunFolder& run, const ParticleStatistic& wanted) {
  check_statistic(wanted.statistic);
  Series series;
  FirstPlaces first;
  for (const std::int64_t number : run.frames()) {
    const LoadedFrame frame = read_frame(run.frame(number));
    const std::vector<double> values =
        wanted.quantity == "moved" ? first.ways_to(frame) : particle_values(frame, wanted.quantity);
    series.time.push_back(frame.time);
    series.value.push_back(statistic_of(values, wanted.statistic));
  }
  if (series.empty()) reject("{} holds no frames", run.path().string());
  return series;
}

double particle_spacing(const RunFolder& run) {
  const std::vector<std::int64_t> frames = run.frames();
  if (frames.empty()) reject("{} holds no frames", run.path().string());
  return summarize_frame(run.frame(frames.front())).spacing;
}

}  // namespace barchan
