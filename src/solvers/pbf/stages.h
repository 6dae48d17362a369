// The stages of the PBF step: which kernel runs over what.
#pragma once

#include <algorithm>
#include <cmath>

#include "compute/listed.h"
#include "solvers/pbf/lattice.h"
#include "solvers/pbf/pbf_solver.h"

namespace barchan {

template <class Device>
PbfSolver<Device>::PbfSolver(Device& device, const SolverSetup& setup, const PbfParams& params)
    : device_(device),
      setup_(setup),
      params_(params),
      kernels_(pbf::lattice_kernels(setup.spacing, params)),
      s_corr_(pbf::artificial_pressure(kernels_, setup.spacing, params)),
      gravity_(setup.gravity),
      frame_(device),
      cells_(device),
      near_(device),
      boundary_(device, setup.solids, setup.spacing, setup.seed, setup.stage),
      inverse_mass_of_(device),
      density_of_(device),
      predicted_(device),
      near_wall_(device),
      sorted_near_wall_(device),
      points_(device),
      points_and_lambda_(device),
      moved_(device),
      pushed_(device),
      multiplier_(device),
      left_(device),
      wall_parts_(device),
      wall_lambda_(device),
      results_(device) {
  std::vector<float> inverse_masses, densities;
  for (const MaterialParams& material : setup.materials) {
    densities.push_back(static_cast<float>(material.density));
    inverse_masses.push_back(
        static_cast<float>(setup.materials.front().density / material.density));
  }
  inverse_mass_of_.upload(inverse_masses);
  density_of_.upload(densities);
}

template <class Device>
std::vector<ColumnSpec> PbfSolver<Device>::columns() const {
  std::vector<ColumnSpec> columns = {{"density", Type::f32, 1, true},
                                     {"pressure", Type::f32, 1, true}};
  if (confines()) columns.push_back({"spin", Type::f32, 1, false});  // |omega| [1/s]
  return columns;
}

// Always stable: the step is what the user asked for. Frames at any rate see the same steps, but
// for the last of each, which ends on the frame.
template <class Device>
double PbfSolver<Device>::suggest_dt(const State& /*now*/) const {
  return 1.0 / (60.0 * params_.substeps);
}

// The net lies below the distance that boundary samples keep, d / 2: a particle pressed onto it
// still feels them push.
template <class Device>
Containment PbfSolver<Device>::containment(const SolidsView& solids) const {
  const auto d = static_cast<float>(setup_.spacing);
  return {solids, 0.25f * d, 0.1f * d, 1.25f * d};
}

template <class Device>
int PbfSolver<Device>::most_iterations() const {
  return params_.tolerance > 0.0 ? std::max(params_.iterations, params_.iterations_max)
                                 : params_.iterations;
}

template <class Device>
void PbfSolver<Device>::predict(const State& now, const SolidsView& solids, double dt) {
  const int passes = (solids.count + kSolidsPerPass - 1) / kSolidsPerPass;
  results_.resize(static_cast<std::size_t>(std::max(most_iterations(), passes)));
  predicted_.resize(now.size());
  near_wall_.resize(now.size());
  for_each_some(device_, "predict", static_cast<std::int64_t>(now.size()),
                pbf::Predict{now.position(), now.velocity(), containment(solids), gravity_,
                             static_cast<float>(dt), predicted_.view(), near_wall_.view(),
                             cells_.counter(now.size(), frame_.known()), &results_.data()->left});
}

template <class Device>
void PbfSolver<Device>::find_neighbours(const State& now, double dt, State& next) {
  const std::size_t count = now.size();
  const float h = kernels_.W.h;
  const View3<const float> predicted = std::as_const(predicted_).view();
  for (auto* points : {&points_, &points_and_lambda_, &moved_}) points->resize(count);
  pushed_.resize(count);
  sorted_near_wall_.resize(count);
  multiplier_.resize(count);
  if (ends_with_corrections()) left_.resize(count);
  cells_.sort_then(
      predicted, frame_.choose(predicted, h), "reorder",
      pbf::SortPredicted{now.position(), now.velocity(), predicted, now.id(),
                         confines() ? now.numbers<float>("spin") : View<const float>{},
                         now.material(), std::as_const(near_wall_).view(),
                         std::as_const(inverse_mass_of_).view(), gravity_, static_cast<float>(dt),
                         next.write_position(), next.write_velocity(),
                         next.write_numbers<std::uint64_t>("id"),
                         confines() ? next.write_numbers<float>("spin") : View<float>{},
                         next.write_numbers<std::uint8_t>("material"), sorted_near_wall_.view(),
                         points_.view(), moved_.view(), pushed_.view()});
  // All that belongs to the solids goes first, for it waits most of the time; the lists of the
  // fluid take the places on the GPU that this leaves.
  fork_aside(device_);
  boundary_.place(next.bodies, cells_.cells(), std::as_const(points_).view(), h);
  measure_walls();
  begin_aside(device_);
  near_.build_later(cells_.cells(), std::as_const(points_).view(), h);
  end_aside(device_);
  join_aside(device_);
  begin_aside(device_);
  frame_.measure(predicted, &results_.data()->bounds);
  cells_.clear();
  end_aside(device_);
}

// The solids' part of the sums.
template <class Device>
void PbfSolver<Device>::measure_walls() {
  wall_parts_.resize(boundary_.room());
  for_each_at_walls(device_, "walls", static_cast<std::int64_t>(boundary_.room()), wall_sums());
}

template <class Device>
pbf::MeasureWalls PbfSolver<Device>::wall_sums() {
  return {boundary_.view(), std::as_const(points_).view(), kernels_, wall_parts_.view(),
          &results_.data()->touched};
}

template <class Device>
template <bool kLast>
void PbfSolver<Device>::iterate(int k, const SolidsView& solids, const pbf::MoveOn& move_on,
                                View<const std::uint8_t> material) {
  const auto eps = static_cast<float>(params_.cfm) * kernels_.stiffness;
  const BoundaryView walls = boundary_.view();
  wall_lambda_.resize(boundary_.placed());
  reduce_lists_to<pbf::JoinExcess>(
      device_, "multipliers", n(),
      pbf::Multipliers{near_.view(), std::as_const(points_).view(), walls.slot_of,
                       std::as_const(wall_parts_).view(), kernels_, eps,
                       pbf::relaxation(params_.iterations), params_.tension == "paper", k == 0,
                       std::as_const(moved_).view(), points_and_lambda_.view()},
      &results_.data()[k].excess);
  const View<const Float4> with_lambda = std::as_const(points_and_lambda_).view();
  begin_aside(device_);
  for_each_at_walls(device_, "walls", static_cast<std::int64_t>(boundary_.placed()),
                    pbf::WallMultipliers{walls, with_lambda, kernels_, wall_lambda_.view()});
  end_aside(device_);
  for_each_list(device_, "corrections", n(),
                pbf::Corrections<kLast>{
                    near_.view(), with_lambda, material, std::as_const(inverse_mass_of_).view(),
                    std::as_const(sorted_near_wall_).view(), kernels_, s_corr_, k == 0,
                    points_.view(), moved_.view(), move_on, &results_.data()->left, left_.view()});
  join_aside(device_);
  const pbf::MeetWalls<kLast> meet_walls{
      wall_sums(),         std::as_const(wall_lambda_).view(),
      with_lambda,         std::as_const(sorted_near_wall_).view(),
      containment(solids), k == 0,
      points_.view(),      moved_.view(),
      pushed_.view(),      move_on};
  const auto touched = static_cast<std::int64_t>(boundary_.room());
  if constexpr (kLast) {
    for_each_at_walls_and(
        device_, "walls", touched, meet_walls, kListThreads,
        Listed<pbf::MoveOn>{&results_.data()->left, std::as_const(left_).view(), move_on});
  } else {
    for_each_at_walls(device_, "walls", touched, meet_walls);
  }
}

// Fixed iterations, or (tolerance > 0) until the mean excess density is small enough, which is
// looked at once a round of relaxations is whole.
template <class Device>
void PbfSolver<Device>::solve_constraints(const SolidsView& solids, double dt, State& next,
                                          StepReport& report) {
  const pbf::MoveOn move_on = mover(solids, dt, next);
  const int most = most_iterations();
  int k = 0;
  while (k < most) {
    for (int end = std::min(k + params_.iterations, most); k < end; ++k) {
      if (ends_with_corrections() && k + 1 == most) {
        iterate<true>(k, solids, move_on, next.material());
      } else {
        iterate<false>(k, solids, move_on, next.material());
      }
    }
    if (k == most) break;
    pbf::Results last;
    device_.download(&last, results_.data() + k - 1, sizeof(last));
    if (static_cast<double>(last.excess.sum) <= params_.tolerance * static_cast<double>(n())) break;
  }
  report.iterations = k;
}

template <class Device>
pbf::MoveOn PbfSolver<Device>::mover(const SolidsView& solids, double dt, State& next) {
  return {wall_sums(),
          containment(solids),
          static_cast<float>(dt),
          static_cast<float>(setup_.spacing),
          sorted_near_wall_.view(),
          points_.view(),
          std::as_const(moved_).view(),
          pushed_.view(),
          multiplier_.view(),
          next.rewrite_vectors("position"),
          next.rewrite_vectors("velocity"),
          confines() ? std::as_const(next).template numbers<float>("spin") : View<const float>{},
          smooths() ? moved_.view() : View<Float4>{}};
}

// The last corrections did it, where it is known before them which these are.
template <class Device>
void PbfSolver<Device>::update_velocities(const SolidsView& solids, double dt, State& next) {
  if (ends_with_corrections()) return;
  for_each_some(device_, "velocities", n(), mover(solids, dt, next));
}

// c is given for a step of kReferenceStep; over dt, 1 - c is taken to the power of their ratio.
template <class Device>
void PbfSolver<Device>::smooth_velocities(double dt, State& next) {
  const double c = 1.0 - std::pow(1.0 - params_.xsph, dt / pbf::kReferenceStep);
  const View<const Float4> points = std::as_const(points_).view();
  const BoundaryView walls = boundary_.view();
  const double pressure_scale =
      -setup_.materials.front().density * static_cast<double>(kernels_.slope) / (dt * dt);
  const pbf::Densities densities{near_.view(),
                                 points,
                                 next.velocity(),
                                 walls.slot_of,
                                 std::as_const(wall_parts_).view(),
                                 kernels_,
                                 next.material(),
                                 std::as_const(density_of_).view(),
                                 static_cast<float>(pressure_scale),
                                 std::as_const(multiplier_).view(),
                                 next.write_numbers<float>("density"),
                                 next.write_numbers<float>("pressure")};
  pbf::Ending* ending = &results_.data()->ending;
  if (!smooths()) {
    reduce_lists_to<pbf::JoinEnding>(device_, "densities", n(), densities, ending);
    return;
  }
  reduce_lists_to<pbf::JoinEnding>(
      device_, "smooth", n(),
      pbf::Smooth{
          near_.view(), points, std::as_const(moved_).view(), kernels_, static_cast<float>(c),
          static_cast<float>(dt * params_.vorticity) * kernels_.W.h, one_mass(), densities,
          confines() ? next.rewrite_numbers<float>("spin") : View<float>{}, next.write_velocity()},
      ending);
}

// Beside what follows; wait_for_results joins the two. Samples pushed with about (lambda_i +
// lambda_b) V grad W, so a solid gets -2 m V Lambda grad W / dt, Lambda the sum of lambda over the
// iterations.
template <class Device>
void PbfSolver<Device>::push_solids(const SolidsView& solids, double dt) {
  const double mass = setup_.particle_masses().front();
  const double scale = -2.0 * mass * static_cast<double>(kernels_.V) / dt;
  begin_aside(device_);
  for (int first = 0; first < solids.count; first += kSolidsPerPass) {
    reduce_some_to<JoinPushes>(
        device_, "push solids", n(),
        PushSolids<Spiky>{boundary_.view(), std::as_const(points_).view(),
                          std::as_const(sorted_near_wall_).view(), std::as_const(pushed_).view(),
                          std::as_const(multiplier_).view(), static_cast<float>(scale), kernels_.G,
                          containment(solids), static_cast<float>(mass), static_cast<float>(dt),
                          first},
        &results_.data()[first / kSolidsPerPass].pushes);
  }
  end_aside(device_);
}

template <class Device>
std::vector<pbf::Results> PbfSolver<Device>::wait_for_results() {
  join_aside(device_);
  return results_.download();
}

template <class Device>
void PbfSolver<Device>::finish_report(const std::vector<pbf::Results>& results, double dt,
                                      const State& next, StepReport& report, BodyImpulses& out) {
  const pbf::Ending& ending = results.front().ending;
  report.dt_used = dt;
  report.max_speed = std::sqrt(static_cast<double>(ending.vitals.max_speed_squared));
  const std::uint32_t bad = ending.vitals.first_bad;
  report.first_bad = bad == ~0u ? -1 : static_cast<std::int64_t>(bad);
  report.boundary_particles = boundary_.size();

  for (std::size_t k = 1; k < static_cast<std::size_t>(report.iterations); ++k) {
    report.density_error.push_back(results[k].excess.largest);
  }
  report.density_error.push_back(ending.excess.largest);
  report.density_error_max = ending.excess.largest;
  report.density_error_mean =
      n() > 0 ? static_cast<double>(ending.excess.sum) / static_cast<double>(n()) : 0.0;
  report.pairs = ending.pairs;

  report_pushes(results, next.bodies, out);
}

// On a GPU lists are made in room that is guessed, and cells in a frame that is: where either was
// wrong, `next` becomes what it was before the step.
template <class Device>
bool PbfSolver<Device>::begin_again(const pbf::Results& results, const State& now, State& next) {
  const bool fluid = near_.settled();
  const bool walls = boundary_.settled(n() > 0 ? results.touched : 0);
  if (fluid && walls && frame_.held(results.bounds, kernels_.W.h)) return false;
  const std::vector<BodyState> bodies = next.bodies;
  next.follow(now);
  next.bodies = bodies;
  return true;
}

// Lists of two bytes an entry, points read and written in each pass, the state once.
template <class Device>
double PbfSolver<Device>::floor_bytes(std::size_t particles) const {
  const double passes = 2.0 * params_.iterations + 1.0;
  constexpr double kList = 30.0 * 2.0, kPoint = 2.0 * 16.0, kState = 2.0 * 48.0;
  return static_cast<double>(particles) * (passes * (kList + kPoint) + kList + kState);
}

}  // namespace barchan
