// The adaptive step of the paper (integrator = "rkf45"): Runge-Kutta-Fehlberg 4(5), in as many
// parts of the step as its error asks for. Solids stand where they are at the end of the step.
#pragma once

#include <algorithm>
#include <cmath>

#include "compute/reduce_ops.h"
#include "solvers/dem/dem_solver.h"
#include "solvers/dem/kept.h"
#include "solvers/dem/rkf45_kernels.h"

namespace barchan {

namespace dem {

inline constexpr double kPlaceError = 1e-5;  // allowed in a part of a step, over the radius
inline constexpr double kSpeedError = 1e-4;  // over the reference speed
inline constexpr double kShortest = 1e-3;    // part of a step

// From the error of a part to the length of the next one, or of the same one again.
inline double rescaled(double h, double error) {
  return h * std::clamp(0.9 * std::pow(std::max(error, 1e-8), -0.2), 0.2, 4.0);
}

}  // namespace dem

template <class Device>
DemSolver<Device>::RkfMemory::RkfMemory(Device& device) {
  const auto place = [&](auto& buffers) {
    for (auto& buffer : buffers) buffer = std::remove_reference_t<decltype(buffer)>(device);
  };
  for (auto& parts : vectors) place(parts);
  for (auto& parts : slopes) place(parts);
  place(quats);
  place(turn_slopes);
  place(shear);
  place(walls);
}

template <class Device>
dem::Motion DemSolver<Device>::RkfMemory::motion(std::size_t which, std::size_t n, bool turns) {
  std::array<Buffer3, 5>& parts = vectors[which];
  for (Buffer3& part : parts) part.resize(n);
  if (turns) quats[which].resize(4 * n);
  float* q = turns ? quats[which].data() : nullptr;
  return {
      parts[0].view(), parts[1].view(),
      parts[2].view(), parts[3].view(),
      parts[4].view(), turns ? View4<float>{q, q + n, q + 2 * n, q + 3 * n, n} : View4<float>{}};
}

template <class Device>
dem::Slope DemSolver<Device>::RkfMemory::slope(int stage, std::size_t n, bool turns) {
  std::array<Buffer3, 3>& parts = slopes[static_cast<std::size_t>(stage)];
  for (Buffer3& part : parts) part.resize(n);
  Buffer<float>& turn = turn_slopes[static_cast<std::size_t>(stage)];
  if (turns) turn.resize(4 * n);
  float* q = turns ? turn.data() : nullptr;
  return {parts[0].view(), parts[1].view(), parts[2].view(),
          turns ? View4<float>{q, q + n, q + 2 * n, q + 3 * n, n} : View4<float>{}};
}

template <class Device>
dem::Grains DemSolver<Device>::grains(const State& next) const {
  return {next.numbers<float>("scale"), next.numbers<float>("mass"), next.material(),
          types().types};
}

// y' at `at`. Springs are those of the beginning of the part, and `dt` of sliding as it is here.
template <class Device>
void DemSolver<Device>::slope_at(const dem::Motion& at, const dem::Memory& memory,
                                 const SolidsView& solids, const dem::ContactModel& model,
                                 double dt, State& next, const dem::Slope& out) {
  const auto n = static_cast<std::int64_t>(next.size());
  const dem::Grains of = grains(next);
  for_each(device_, "rkf45", n,
           dem::PlaceSpheres{at.x, at.low, at.v, at.w, at.q, of.scale, of.mass,
                             contacts_of_grains(next), of.material, types(),
                             dem::kept_numbers(next, dem::kSphereStart), spheres_.view()});
  push(memory, solids, model, dt, next);
  for_each(device_, "rkf45", n, dem::RkfSlope{forces(next), at, of, types(), out});
}

// The sum of the first `count` slopes by weights.
template <class Device>
dem::RkfSum DemSolver<Device>::rkf_sum(const double* weights, int count, double h, std::size_t n) {
  dem::RkfSum sum{};
  for (int j = 0; j < count; ++j) {
    sum.slopes[j] = rkf_.slope(j, n, compound_);
    sum.weight[j] = static_cast<float>(weights[j]);
  }
  sum.count = count;
  sum.h = static_cast<float>(h);
  return sum;
}

// Where contacts remember in a part of the step: what they knew, and in two places in turn what
// they will know; at the end of the step in the State.
template <class Device>
dem::Memory DemSolver<Device>::rkf_memory(const dem::Memory& known, int place, const State& next) {
  if (!history_) return {};
  const dem::Lists lists = this->lists(next);
  const std::size_t entries = lists.wall_solid.size;
  Buffer3& shear = rkf_.shear[static_cast<std::size_t>(place)];
  Buffer<float>& walls = rkf_.walls[static_cast<std::size_t>(place)];
  shear.resize(lists.pair_other.size);
  walls.resize(static_cast<std::size_t>(dem::kPlaces * dem::kSlot) * entries);
  return {known.shear, known.walls, shear.view(), {walls.data(), entries}};
}

template <class Device>
void DemSolver<Device>::integrate_rkf45(const State& now, const SolidsView& solids, double dt,
                                        State& next) {
  const dem::Fehlberg table;
  const std::size_t n = next.size();
  const auto items = static_cast<std::int64_t>(n);
  dem::ContactModel model = this->model(dt);
  model.at_instant = true;
  const dem::Memory last = memory(now, next);  // of the step: from the State to the next
  dem::Memory known = last;
  std::size_t from = 0;
  int place = 0;
  const dem::Grains of = grains(next);
  const auto L = lopsided_ ? next.vectors("angular_momentum") : View3<const float>{};
  for_each(device_, "rkf45", items,
           dem::BeginRkf{next.position(), next.vectors("position_low"), next.velocity(),
                         next.vectors("angular_velocity"), L, turns(next), of,
                         rkf_.motion(0, n, compound_)});
  slope_at(rkf_.motion(from, n, compound_), rkf_memory(known, place, next), solids, model, 0.0,
           next, rkf_.slope(0, n, compound_));
  double left = dt, h = std::min(dt, dem::scalar(now, dem::kRkfPart));
  if (!(h > 0.0)) h = dt;
  while (left > 0.0) {
    if (h > 0.999 * left) h = left;
    const dem::Motion base = rkf_.motion(from, n, compound_);
    const dem::Motion stage = rkf_.motion(1 - from, n, compound_);
    const dem::Memory memory = rkf_memory(known, place, next);
    for (int k = 1; k < dem::kStages; ++k) {
      for_each(
          device_, "rkf45", items,
          dem::RkfAdvance{base, stage, of, rkf_sum(table.a[k], k, h, n), Vec3(setup_.gravity)});
      slope_at(stage, memory, solids, model, table.c[k] * h, next, rkf_.slope(k, n, compound_));
    }
    const auto error = static_cast<double>(reduce<Largest<float>>(
        device_, "rkf45", items,
        dem::RkfError{of, rkf_sum(table.e, dem::kStages, h, n),
                      static_cast<float>(dem::kPlaceError),
                      static_cast<float>(dem::kSpeedError * params_.reference_speed)}));
    if (error > 1.0 && h > dem::kShortest * dt) {
      h = std::max(dem::rescaled(h, error), dem::kShortest * dt);
      continue;
    }
    for_each(device_, "rkf45", items,
             dem::RkfAdvance{base, stage, of, rkf_sum(table.b, dem::kStages, h, n),
                             Vec3(setup_.gravity)});
    left -= h;
    dem::Memory to = memory;
    if (!(left > 0.0)) to = {known.shear, known.walls, last.next_shear, last.next_walls};
    slope_at(stage, to, solids, model, h, next, rkf_.slope(0, n, compound_));
    known = {to.next_shear, to.next_walls, {}, {}};
    from = 1 - from;
    place = 1 - place;
    h = dem::rescaled(h, error);
  }
  next.scalars[dem::kRkfPart] = h;
  finish_rkf45(rkf_.motion(from, n, compound_), next);
}

template <class Device>
void DemSolver<Device>::finish_rkf45(const dem::Motion& end, State& next) {
  for_each(device_, "rkf45", static_cast<std::int64_t>(next.size()),
           dem::EndRkf{end, next.rewrite_vectors("position"), next.rewrite_vectors("position_low"),
                       next.rewrite_vectors("velocity"), next.rewrite_vectors("angular_velocity"),
                       lopsided_ ? next.rewrite_vectors("angular_momentum") : View3<float>{},
                       compound_ ? next.rewrite_orientations("orientation") : View4<float>{},
                       compound_ ? next.rewrite_numbers<float>("turned") : View<float>{}});
}

}  // namespace barchan
