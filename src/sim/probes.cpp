#include "sim/probes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "compute/dispatch.h"
#include "geometry/rectangle.h"
#include "math/sph_kernels.h"
#include "sim/frame.h"
#include "sim/initial_state.h"
#include "sim/measures.h"
#include "sim/path_start.h"
#include "sim/solver.h"
#include "spatial/cells.h"

namespace barchan {

// Defined in probes_impl.h, compiled in probes_cpu.cpp and probes_cuda.cu.
template <class Device>
double crossing_mass_on(Device& device, const State& state, View<const double> mass_of,
                        const Rectangle& gate);

namespace {

std::string sum_key(const ProbeParams& probe) {
  return "probe " + probe.name + " crossed";  // [kg]
}

Vec3d axis_of(const std::string& name) {
  const double sign = name.starts_with('-') ? -1.0 : 1.0;
  switch (name.back()) {
    case 'x':
      return {sign, 0, 0};
    case 'y':
      return {0, sign, 0};
    default:
      return {0, 0, sign};
  }
}

Vec3d point(const HostColumn& column, std::size_t i) {
  return {column.component<float>(0)[i], column.component<float>(1)[i],
          column.component<float>(2)[i]};
}

// The half space of points whose coordinate along the unit vector `up`, a coordinate axis, is at
// most `height`.
Aabb below(const Vec3d& up, double height) {
  Aabb box = Aabb::everything();
  for (int a = 0; a < 3; ++a) {
    if (up[a] > 0.5) box.hi[a] = height;
  }
  return box;
}

}  // namespace

Probes::Probes(const Scene& scene, Device& device)
    : probes_(scene.probes),
      solver_(scene.general.solver),
      spacing_(scene.general.resolution),
      up_(scene.up()),
      mass_of_(device),
      selector_(device) {
  for (const Probe& probe : probes_) any_flow_ = any_flow_ || probe.params.kind == "flow";
  masses_ = solver_setup(scene).particle_masses();
  mass_of_.upload(masses_);
}

std::vector<ColumnSpec> Probes::with_columns(std::vector<ColumnSpec> columns) const {
  if (any_flow_) columns.push_back({kPathStart, Type::f32, 3, false});
  return columns;
}

void Probes::start(State& state) const {
  for (const Probe& probe : probes_) {
    if (probe.params.kind == "pressure" && !state.has("pressure")) {
      reject(
          "{}: probe '{}' measures pressure, but solver = \"{}\" has none; choose another kind or "
          "another solver",
          probe.place, probe.params.name, solver_);
    }
  }
  if (any_flow_) state.copy_column("position", kPathStart);
  start_frame(state);
}

void Probes::start_frame(State& state) const {
  for (const Probe& probe : probes_) {
    if (probe.params.kind == "flow") state.scalars[sum_key(probe.params)] = 0.0;
  }
}

void Probes::follow_paths(State& state) const {
  if (!any_flow_) return;
  for (const Probe& probe : probes_) {
    const ProbeParams& p = probe.params;
    if (p.kind != "flow") continue;
    const Rectangle gate = level_rectangle(p.from, p.to, p.normal, up_);
    state.scalars[sum_key(p)] += on_device(state.device(), [&](auto& device) {
      return crossing_mass_on(device, state, mass_of_.view(), gate);
    });
  }
  state.copy_column("position", kPathStart);
}

std::map<std::string, double> Probes::measure(const State& state, double seconds) {
  std::map<std::string, double> values;
  for (const Probe& probe : probes_) {
    const ProbeParams& p = probe.params;
    double& value = values[p.name];
    value = kNotMeasured;
    if (p.kind == "flow") {
      if (seconds > 0.0) value = state.scalars.at(sum_key(p)) / seconds;
    } else if (p.kind == "density") {
      value = density(state, p);
    } else if (p.kind == "pressure" || p.kind == "velocity") {
      value = mean_near(state, p);
    } else if (state.size() > 0) {
      value = p.kind == "level" ? level(state, p) : front(state, p);
    }
  }
  return values;
}

double Probes::level(const State& state, const ProbeParams& probe) {
  Aabb column = Aabb{probe.at, probe.at}.grown(spacing_);
  for (int a = 0; a < 3; ++a) {
    if (up_[a] > 0.5) column.lo[a] = -Aabb::kEndless, column.hi[a] = Aabb::kEndless;
  }
  const HostColumn near = download_rows(state, "position", selector_.in_boxes(state, {column}));
  std::vector<double> heights;
  for (std::size_t i = 0; i < near.size; ++i) {
    const Vec3d p = point(near, i), arm = p - probe.at;
    if (length(arm - dot(arm, up_) * up_) <= spacing_) heights.push_back(dot(p, up_));
  }
  if (heights.empty()) return kNotMeasured;
  std::sort(heights.begin(), heights.end());
  const auto gap = std::adjacent_find(heights.begin(), heights.end(), [this](double a, double b) {
    return b - a > 2.0 * spacing_;
  });
  return (gap == heights.end() ? heights.back() : *gap) + 0.5 * spacing_;
}

double Probes::front(const State& state, const ProbeParams& probe) {
  constexpr double kRank = 0.995;
  const Vec3 lowest = on_device(state.device(), [&](auto& device) {
                        return bounds_of(device, state.position());
                      }).lo;
  const double floor = dot(Vec3d(lowest), up_) - 0.5 * spacing_;
  const HostColumn near = download_rows(
      state, "position", selector_.in_boxes(state, {below(up_, floor + 2.0 * spacing_)}));
  if (near.size == 0) return kNotMeasured;
  const Vec3d axis = axis_of(probe.axis);
  std::vector<double> way;
  for (std::size_t i = 0; i < near.size; ++i) way.push_back(dot(point(near, i), axis));
  const auto rank =
      static_cast<std::ptrdiff_t>(std::ceil(kRank * static_cast<double>(way.size()))) - 1;
  std::nth_element(way.begin(), way.begin() + rank, way.end());
  return way[static_cast<std::size_t>(rank)];
}

Probes::Nearby Probes::near(const State& state, const ProbeParams& probe,
                            const std::string& column) {
  const CubicSpline W(static_cast<float>(2.0 * spacing_));
  const Aabb box = Aabb{probe.at, probe.at}.grown(2.0 * spacing_);
  const View<const std::uint32_t> rows = selector_.in_boxes(state, {box});
  const HostColumn x = download_rows(state, "position", rows);
  Nearby nearby{{}, download_rows(state, column, rows)};
  for (std::size_t i = 0; i < x.size; ++i) {
    const auto distance = static_cast<float>(length(point(x, i) - probe.at));
    nearby.weights.push_back(static_cast<double>(W.w(distance)));
  }
  return nearby;
}

double Probes::density(const State& state, const ProbeParams& probe) {
  const Nearby nearby = near(state, probe, "material");
  double sum = 0.0;
  for (std::size_t i = 0; i < nearby.weights.size(); ++i) {
    sum += nearby.weights[i] * masses_[nearby.column.component<std::uint8_t>(0)[i]];
  }
  return sum / lattice_sum(spacing_);
}

double Probes::mean_near(const State& state, const ProbeParams& probe) {
  const bool is_velocity = probe.kind == "velocity";
  const Nearby nearby = near(state, probe, is_velocity ? "velocity" : "pressure");
  double sum = 0.0, weights = 0.0;
  for (std::size_t i = 0; i < nearby.weights.size(); ++i) {
    const double value = is_velocity ? dot(point(nearby.column, i), axis_of(probe.axis))
                                     : static_cast<double>(nearby.column.component<float>(0)[i]);
    sum += nearby.weights[i] * value;
    weights += nearby.weights[i];
  }
  return weights > 0.0 ? sum / weights : kNotMeasured;
}

}  // namespace barchan
