// The stages of the granular SPH step: which kernel runs over what.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "solvers/granular_sph/gsph_solver.h"
#include "solvers/granular_sph/lattice.h"
#include "solvers/granular_sph/pressure_kernels.h"
#include "solvers/granular_sph/stress_kernels.h"

namespace barchan {

namespace gsph {

inline constexpr float kWarm = 0.9f;      // share of the last pressure to begin with
inline constexpr float kWarmMean = 0.6f;  // how much of that is the mean around, in sand
inline constexpr double kBack = 0.05;     // share of an excess taken back in a step; < 1 - kWarm
inline constexpr double kBand = 0.01;     // deficit of density that a target may have
inline constexpr double kGrowth = 1.25;   // of the time step, from one to the next
inline constexpr double kRelax = 0.7;     // under-relaxation of the pressure: 1 diverges in a crowd
inline constexpr double kOmega = 0.2;     // under-relaxation of the stress
inline constexpr int kStressEvery = 2;    // of the iterations corrects the stress, too
inline constexpr double kSmooth = 0.3;    // share of the stress around it in a particle's own
inline constexpr double kStick = 0.003;   // spacings a step, below which neighbours stick
inline constexpr double kShear = 4.0;     // spacings that a rate of strain is a speed over, there
inline constexpr double kTogether = 0.5;  // of pressure and stress that are corrected at once
inline constexpr double kPacking = 0.05;  // density that loose sand may lack at the start
inline constexpr int kTries = 400;        // for rest at the start
inline constexpr int kHopeless = 150;     // without a stop
inline constexpr int kStops = 4;          // at the fastest, that end them
inline constexpr double kPull = 0.001;    // excess density that a pull undoes at most
inline constexpr double kSound = 1.0 / 0.03;  // speed of sound over sqrt(g d)

}  // namespace gsph

template <class Device>
GsphSolver<Device>::GsphSolver(Device& device, const SolverSetup& setup,
                               const GranularSphParams& params)
    : device_(device),
      setup_(setup),
      params_(params),
      kernels_(gsph::lattice_kernels(setup.spacing)),
      gravity_(setup.gravity),
      frame_(device),
      cells_(device),
      near_(device),
      boundary_(device, setup.solids, setup.spacing, setup.seed, setup.stage),
      matter_(device),
      points_(device),
      with_pressure_(device),
      velocities_(device),
      free_(device),
      rest_of_star_(device),
      goals_(device),
      stress_(device),
      rest_of_stress_(device),
      more_stress_(device),
      pull_(device),
      friction_(device),
      around_(device),
      packing_(device),
      pressure_and_shear_(device),
      strain_rate_(device),
      near_wall_(device),
      pushed_(device),
      wall_parts_(device),
      wall_pressure_(device),
      results_(device),
      excess_(device.host_memory(sizeof(gsph::Excess))) {
  std::vector<gsph::Matter> matter;
  for (const MaterialParams& m : setup.materials) {
    const double angle = radians(m.friction_angle);
    const bool rough = m.friction_angle > 0.0 || m.cohesion > 0.0;
    double friction = std::sqrt(2.0) * std::tan(angle);
    if (params.yield == "plane-strain") friction = std::sqrt(2.0) * std::sin(angle);
    if (params.yield == "alduan-otaduy") friction = std::sqrt(2.0 / 3.0) * std::sin(angle);
    matter.push_back({static_cast<float>(m.density),
                      static_cast<float>(setup.materials.front().density / m.density),
                      static_cast<float>(friction), static_cast<float>(m.cohesion),
                      static_cast<float>(rough ? 0.0 : params.viscosity * m.density), rough});
    rough_ = rough_ || rough;
    cohesive_ = cohesive_ || m.cohesion > 0.0;
    lightest_ = std::min(lightest_, matter.back().density);
  }
  matter_.upload(matter);
  for (const Solid& solid : setup.solids) {
    driven_ = driven_ || solid.drive == SolidDrive::keyframes;
  }
}

template <class Device>
std::vector<ColumnSpec> GsphSolver<Device>::columns() const {
  std::vector<ColumnSpec> columns = {{"density", Type::f32, 1, true},
                                     {"pressure", Type::f32, 1, true}};
  if (rough_) {
    columns.push_back({"stress_normal", Type::f32, 3, false});  // xx, yy, zz
    columns.push_back({"stress_shear", Type::f32, 3, false});   // xy, xz, yz
    columns.push_back({"wall_friction", Type::f32, 3, false});
    columns.push_back({"mean_pressure", Type::f32, 1, false});  // around a particle
    columns.push_back({"packing", Type::f32, 1, false});
  }
  if (cohesive_) columns.push_back({"damage", Type::f32, 1, true});
  return columns;
}

// A density error is never cured by a shorter step: overlap / dt is the speed that would come of
// it. Steps grow slowly, for pressure carried over from a short one must not meet a long one.
template <class Device>
double GsphSolver<Device>::longest_step() const {
  const double g = length(setup_.gravity);
  return g > 0.0 ? std::min(params_.dt_max, params_.fall * std::sqrt(setup_.spacing / g))
                 : params_.dt_max;
}
template <class Device>
double GsphSolver<Device>::suggest_dt(const State& now) const {
  const double fast = params_.cfl * setup_.spacing / std::max(now.max_speed, 1e-9);
  double dt = std::min(longest_step(), fast);
  if (now.last_dt > 0.0) dt = std::min(dt, gsph::kGrowth * now.last_dt);
  return dt;
}

// The net lies below the distance that boundary samples keep, d / 2: a particle pressed onto it
// still feels them push.
template <class Device>
Containment GsphSolver<Device>::containment(const SolidsView& solids) const {
  const auto d = static_cast<float>(setup_.spacing);
  return {solids, 0.25f * d, 0.1f * d, 0.5f * d};
}

// In the order of the cells; all that belongs to the solids is made beside the lists of the fluid.
template <class Device>
void GsphSolver<Device>::find_neighbours(const State& now, const SolidsView& solids, State& next) {
  const std::size_t count = now.size();
  const float h = kernels_.W.h;
  const gsph::Warm smooth{paper() ? 0.0f : gsph::kWarm, 0.0f};
  const gsph::Warm rough{smooth.own - gsph::kWarmMean, gsph::kWarmMean};
  const int passes = (solids.count + kSolidsPerPass - 1) / kSolidsPerPass;
  results_.resize(static_cast<std::size_t>(std::max(params_.iterations_max, passes)));
  const CellFrame frame = frame_.choose(now.position(), h);
  begin_aside(device_);
  frame_.measure(now.position(), &results_.data()->bounds);
  end_aside(device_);
  cells_.sort(now.position(), frame);
  for (auto* packs : {&points_, &with_pressure_, &velocities_, &free_}) packs->resize(count);
  rest_of_star_.resize(count);
  goals_.resize(count);
  for_each(
      device_, "reorder", n(),
      gsph::Gather{cells_.order(), now.position(), now.velocity(), now.numbers<float>("pressure"),
                   rough_ ? now.numbers<float>("mean_pressure") : View<const float>{},
                   now.material(), std::as_const(matter_).view(), smooth, paper() ? smooth : rough,
                   points_.view(), with_pressure_.view(), velocities_.view()});
  if (rough_) {
    for (auto* packs : {&stress_, &more_stress_, &pull_}) packs->resize(count);
    rest_of_stress_.resize(count);
    pressure_and_shear_.resize(count);
    friction_.resize(count);
    for (auto* numbers : {&around_, &packing_, &strain_rate_}) numbers->resize(count);
    for_each(device_, "reorder", n(),
             gsph::GatherStress{cells_.order(), now.vectors("stress_normal"),
                                now.vectors("stress_shear"), now.vectors("wall_friction"),
                                now.numbers<float>("mean_pressure"), now.numbers<float>("packing"),
                                paper() ? 0.0f : 1.0f, stress(), friction_.view(),
                                with_pressure_.view(), around_.view(), packing_.view()});
  }
  begin_aside(device_);
  boundary_.place(next.bodies, cells_.cells(), std::as_const(points_).view(), h);
  device_.copy(&results_.data()->touched, boundary_.view().count, sizeof(std::uint32_t));
  wall_parts_.resize(boundary_.room());
  for_each_at_walls(device_, "walls", static_cast<std::int64_t>(boundary_.room()),
                    gsph::MeasureWalls{boundary_.view(), std::as_const(points_).view(), solids,
                                       kernels_, rough_ || driven_, wall_parts_.view()});
  end_aside(device_);
  next.reorder(cells_.order(), {"position", "velocity", "density", "pressure", "stress_normal",
                                "stress_shear", "wall_friction", "mean_pressure", "packing"});
  near_.build_later(cells_.cells(), std::as_const(points_).view(), h);
  join_aside(device_);
}

// Over a shorter step less is taken back: speeds of the way back do not grow as steps get shorter
// for them.
template <class Device>
gsph::Target GsphSolver<Device>::target(double dt) const {
  const bool pulls = params_.pressure == "bilateral";
  const double band = pulls ? 1.0 : paper() ? 0.0 : gsph::kBand;
  const double back = gsph::kBack * std::min(1.0, dt / longest_step());
  return {static_cast<float>(paper() && !pulls ? 1.0 : back), static_cast<float>(band)};
}

template <class Device>
void GsphSolver<Device>::measure(double dt, const gsph::Target& target, State& next) {
  const double d = setup_.spacing, g = length(setup_.gravity);
  const double sound = gsph::kSound * std::sqrt(g * d) * d;  // c_s h / 2
  reduce_lists_to<gsph::JoinExcess>(device_, "measure", n(),
                                    gsph::Measure{near_.view(),
                                                  std::as_const(with_pressure_).view(),
                                                  std::as_const(velocities_).view(),
                                                  next.material(),
                                                  std::as_const(matter_).view(),
                                                  boundary_.view().slot_of,
                                                  std::as_const(wall_parts_).view(),
                                                  std::as_const(friction_).view(),
                                                  std::as_const(packing_).view(),
                                                  kernels_,
                                                  target,
                                                  gravity_,
                                                  static_cast<float>(dt),
                                                  static_cast<float>(sound),
                                                  free_.view(),
                                                  star(),
                                                  more_stress_.view(),
                                                  pull_.view(),
                                                  goals_.view(),
                                                  next.write_numbers<float>("density")},
                                    &results_.data()->measured);
}

template <class Device>
void GsphSolver<Device>::correct_pressure(int k, double dt, const State& next) {
  const double delta =
      gsph::pressure_step(kernels_, dt) * (paper() && rough_ ? gsph::kTogether : gsph::kRelax);
  reduce_lists_to<gsph::JoinExcess>(
      device_, "pressure", n(),
      gsph::Press{near_.view(), moving(), next.material(), std::as_const(matter_).view(),
                  boundary_.view().slot_of, std::as_const(wall_parts_).view(), kernels_,
                  static_cast<float>(dt), static_cast<float>(delta),
                  static_cast<float>(params_.pressure == "bilateral" ? gsph::kPull : 0.0),
                  goals_.view(), with_pressure_.view()},
      &results_.data()[k - 1].excess);
}

template <class Device>
void GsphSolver<Device>::correct_velocity(int k, double dt, bool may_end, State& next) {
  const BoundaryView walls = boundary_.view();
  const View<const Float4> with_pressure = std::as_const(with_pressure_).view(),
                           free = std::as_const(free_).view();
  wall_pressure_.resize(boundary_.placed());
  begin_aside(device_);
  if (may_end) {
    device_.download_later(excess_.get(), &results_.data()[k - 1].excess, sizeof(gsph::Excess));
  }
  for_each_at_walls(device_, "walls", static_cast<std::int64_t>(boundary_.placed()),
                    gsph::PressWalls{walls, with_pressure, kernels_, wall_pressure_.view()});
  end_aside(device_);
  for_each_list(
      device_, "push", n(),
      gsph::Push{near_.view(), with_pressure, free, next.material(), std::as_const(matter_).view(),
                 std::as_const(pull_).view(), kernels_, static_cast<float>(dt), star()});
  join_aside(device_);
  for_each_at_walls(device_, "walls", static_cast<std::int64_t>(boundary_.room()),
                    gsph::MeetWalls{near_.view(), walls, with_pressure, free,
                                    std::as_const(wall_pressure_).view(), next.material(),
                                    std::as_const(matter_).view(), kernels_, static_cast<float>(dt),
                                    wall_parts_.view(), friction_.view(), star()});
}

template <class Device>
void GsphSolver<Device>::correct_stress(double dt, const State& next) {
  if (!rough_) return;
  const double omega = gsph::kOmega * (paper() ? gsph::kTogether : 1.0);
  for_each_list(
      device_, "strain", n(),
      gsph::Strain{near_.view(), moving(), std::as_const(free_).view(),
                   std::as_const(with_pressure_).view(),
                   paper() ? View<const float>{} : std::as_const(around_).view(),
                   std::as_const(goals_).view(), next.material(), std::as_const(matter_).view(),
                   cohesive_ ? next.numbers<float>("damage") : View<const float>{}, kernels_,
                   gsph::Yield{params_.yield == "alduan-otaduy"},
                   static_cast<float>(omega * gsph::stress_step(kernels_, dt)), stress(),
                   strain_rate_.view()});
}

template <class Device>
void GsphSolver<Device>::correct_velocity_by_stress(double dt, const State& next) {
  if (!rough_) return;
  for_each_list(
      device_, "pull", n(),
      gsph::Pull{near_.view(), std::as_const(with_pressure_).view(), std::as_const(stress_).view(),
                 std::as_const(rest_of_stress_).view(), std::as_const(more_stress_).view(),
                 next.material(), std::as_const(matter_).view(), kernels_, static_cast<float>(dt),
                 pull_.view(), star()});
}

template <class Device>
bool GsphSolver<Device>::begins_at_rest(const State& now) const {
  return rough_ && !paper() && now.step == 0 && now.max_speed == 0.0;
}

// Sand that begins at rest begins with the pressure and the friction that hold it, where they can:
// in the first steps it would slide, and fall onto itself, before they are there. Tries are steps
// in which nothing moves, and nothing may get denser than it is. When their speeds are greatest
// forces are in balance: there all is stopped. What will not rest only gets faster.
template <class Device>
void GsphSolver<Device>::begin_at_rest(double dt, State& next) {
  double before = 0.0;
  int stops = 0;
  for (int k = 0; k < (stops > 0 ? gsph::kTries : gsph::kHopeless) && stops < gsph::kStops; ++k) {
    iterate(dt, {0.0f, 1.0f}, next);
    keep_stress(dt, next);
    const double speeds = try_again(next);
    if (speeds < before) {
      for_each(device_, "rest", n(), gsph::Stop{velocities_.view()});
      ++stops;
    }
    before = speeds < before ? 0.0 : speeds;
  }
  for_each(device_, "rest", n(), gsph::Stop{velocities_.view()});
  const double delta = gsph::kRelax * gsph::pressure_step(kernels_, dt);
  const double soft = (1.0 - gsph::kWarm) / (params_.iterations_min * delta * gsph::kBack);
  for_each(device_, "rest", n(),
           gsph::Pack{std::as_const(with_pressure_).view(), next.numbers<float>("density"),
                      next.material(), std::as_const(matter_).view(), static_cast<float>(soft),
                      static_cast<float>(gsph::kPacking), packing_.view()});
}

// The sum of their speeds' squares [m^2/s^2].
template <class Device>
double GsphSolver<Device>::try_again(const State& next) {
  reduce_to<gsph::JoinExcess>(
      device_, "rest", n(),
      gsph::TryAgain{moving(), next.vectors("stress_normal"), next.vectors("stress_shear"),
                     next.vectors("wall_friction"), next.numbers<float>("mean_pressure"),
                     next.material(), std::as_const(matter_).view(), gsph::kWarmMean / gsph::kWarm,
                     velocities_.view(), with_pressure_.view(), stress(), friction_.view(),
                     around_.view()},
      &results_.data()->measured);
  gsph::Results now;
  device_.download(&now, results_.data(), sizeof(now));
  return static_cast<double>(now.measured.sum);
}

// Whether the iteration may be the last. Densities are those before it; it makes them better. The
// device has the rest of the iteration to do while the host waits for them.
template <class Device>
bool GsphSolver<Device>::dense_enough() {
  device_.wait_for_download();
  return static_cast<double>(static_cast<const gsph::Excess*>(excess_.get())->largest) <=
         params_.tolerance;
}

template <class Device>
void GsphSolver<Device>::look_around(State& next) {
  const double slow = paper() ? 0.0 : gsph::kStick * setup_.spacing / longest_step();
  for_each(device_, "mean", n(),
           gsph::GatherShear{
               std::as_const(with_pressure_).view(), std::as_const(strain_rate_).view(),
               next.material(), std::as_const(matter_).view(),
               static_cast<float>(gsph::kShear * setup_.spacing), pressure_and_shear_.view()});
  for_each_list(device_, "mean", n(),
                gsph::LookAround{near_.view(), moving(), std::as_const(pressure_and_shear_).view(),
                                 next.material(), std::as_const(matter_).view(), kernels_,
                                 static_cast<float>(std::max(slow, 1e-12)), lightest_,
                                 next.write_numbers<float>("mean_pressure"), velocities_.view()});
}

template <class Device>
void GsphSolver<Device>::keep_stress(double dt, State& next) {
  for_each_list(
      device_, "smooth", n(),
      gsph::KeepStress{near_.view(), std::as_const(points_).view(), std::as_const(stress_).view(),
                       std::as_const(more_stress_).view(), std::as_const(friction_).view(),
                       std::as_const(strain_rate_).view(), std::as_const(packing_).view(),
                       next.material(), std::as_const(matter_).view(), boundary_.view().slot_of,
                       kernels_, static_cast<float>(dt),
                       static_cast<float>(paper() ? 0.0 : gsph::kSmooth),
                       next.write_vectors("stress_normal"), next.write_vectors("stress_shear"),
                       next.write_vectors("wall_friction"), next.write_numbers<float>("packing")});
}

template <class Device>
void GsphSolver<Device>::move_on(const SolidsView& solids, double dt, State& next) {
  near_wall_.resize(points_.size());
  pushed_.resize(points_.size());
  for_each_some(
      device_, "move", n(),
      gsph::MoveOn{star(), rough_ ? std::as_const(velocities_).view() : View<const Float4>{},
                   std::as_const(free_).view(), std::as_const(with_pressure_).view(),
                   next.material(), std::as_const(matter_).view(), boundary_.view().slot_of,
                   std::as_const(wall_parts_).view(), next.id(), containment(solids),
                   static_cast<float>(dt), static_cast<float>(setup_.spacing / longest_step()),
                   near_wall_.view(), pushed_.view(), next.write_position(), next.write_velocity(),
                   next.write_numbers<float>("pressure")});
  if (rough_) keep_stress(dt, next);
  if (cohesive_) {
    const gsph::Bonds bonds{static_cast<float>(params_.bond_limit),
                            static_cast<float>(params_.bond_strain),
                            static_cast<float>(params_.bond_time)};
    for_each(device_, "bonds", n(),
             gsph::AgeBonds{std::as_const(strain_rate_).view(), next.numbers<float>("pressure"),
                            bonds, static_cast<float>(dt), next.rewrite_numbers<float>("damage")});
  }
  reduce_to<JoinVitals>(device_, "vitals", n(), ReadVitals{next.position(), next.velocity()},
                        &results_.data()->vitals);
}

// Samples pushed with -2 m p (V / rho) grad W.
template <class Device>
void GsphSolver<Device>::push_solids(const SolidsView& solids, double dt, const State& next) {
  const double d = setup_.spacing;
  const gsph::Kernels& k = kernels_;
  // k.grad is of sums of the shape's slope over h; W's own gradient has w_scale / h in it.
  const double scale = 2.0 * d * d * d * dt * static_cast<double>(k.grad * k.wall_grad) *
                       static_cast<double>(k.W.h / k.W.w_scale);
  const double mass = setup_.particle_masses().front();
  for (int first = 0; first < solids.count; first += kSolidsPerPass) {
    reduce_some_to<JoinPushes>(
        device_, "push solids", n(),
        PushSolids<CubicSpline>{boundary_.view(), std::as_const(points_).view(),
                                std::as_const(near_wall_).view(), std::as_const(pushed_).view(),
                                next.numbers<float>("pressure"), static_cast<float>(scale), k.W,
                                containment(solids), static_cast<float>(mass),
                                static_cast<float>(dt), first},
        &results_.data()[first / kSolidsPerPass].pushes);
  }
}

template <class Device>
std::vector<gsph::Results> GsphSolver<Device>::wait_for_results() {
  return results_.download();
}

template <class Device>
void GsphSolver<Device>::finish_report(const std::vector<gsph::Results>& results, double dt,
                                       const State& next, StepReport& report, BodyImpulses& out) {
  const gsph::Results& first = results.front();
  report.dt_used = dt;
  report.max_speed = std::sqrt(static_cast<double>(first.vitals.max_speed_squared));
  const std::uint32_t bad = first.vitals.first_bad;
  report.first_bad = bad == ~0u ? -1 : static_cast<std::int64_t>(bad);
  report.boundary_particles = boundary_.size();
  report.pairs = first.measured.pairs;
  const auto iterations = static_cast<std::size_t>(report.iterations);
  for (std::size_t k = 0; k < iterations; ++k) {
    report.density_error.push_back(static_cast<double>(results[k].excess.largest));
  }
  report.density_error_max = static_cast<double>(first.measured.largest);
  report.density_error_mean =
      n() > 0 ? static_cast<double>(first.measured.sum) / static_cast<double>(n()) : 0.0;
  const double left = report.density_error.back();
  if (iterations == static_cast<std::size_t>(params_.iterations_max) && left > params_.tolerance) {
    report.remark = fmt::format(
        "{} iterations, the most allowed, left an excess density of {:.2g} % over the target",
        iterations, 100.0 * left);
  }
  report_pushes(results, next.bodies, out);
}

// See PbfSolver: on a GPU lists are made in room that is guessed, and cells in a frame that is.
template <class Device>
bool GsphSolver<Device>::begin_again(const gsph::Results& results, const State& now, State& next) {
  const bool fluid = near_.settled(), walls = boundary_.settled(results.touched);
  if (fluid && walls && frame_.held(results.bounds, kernels_.W.h)) return false;
  const std::vector<BodyState> bodies = next.bodies;
  next.follow(now);
  next.bodies = bodies;
  return true;
}

// Lists of two bytes an entry, points read and written in each pass, the state once.
template <class Device>
double GsphSolver<Device>::floor_bytes(std::size_t particles) const {
  const double passes = 1.0 + (rough_ ? 4.0 : 2.0) * params_.iterations_min;
  constexpr double kList = 30.0 * 2.0, kPoint = 3.0 * 16.0, kState = 2.0 * 72.0;
  return static_cast<double>(particles) * (passes * (kList + kPoint) + kList + kState);
}

}  // namespace barchan
