// The stages of the step but for the search (search.h) and bodies (bodies.h): which kernel runs
// over what, and how long a step is.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/reduce_ops.h"
#include "solvers/dem/dem_solver.h"
#include "solvers/dem/kept.h"

namespace barchan {

namespace dem {

// Steps in an impact at the largest speed. A contact begins somewhere within a step, which shifts
// the rebound the more, the more suddenly damping begins.
inline double impact_steps(Normal law) {
  return law == Normal::hertz_half ? 20.0 : 40.0;
}
// Steps in half an oscillation of a grain on its contacts, all as stiff as the deepest of all:
// velocity Verlet needs more than pi/2.
inline constexpr double kStiffSteps = 5.0;
inline constexpr double kMostShare = 0.4;  // of the contacts that one grain has at most
// In the impact of a grain that lands flat, on all of its spheres at once.
inline constexpr double kFlatSteps = 8.0;
inline constexpr double kShearShare = 0.15;  // k_t dt / m_eff of (18); 4/7 is unstable

}  // namespace dem

// From the Hertz impact at the largest speed there is, and from the stiffest contact there is:
// half an oscillation is pi sqrt(m / k), k = 1.5 k_r sqrt(x), and shorter by the root of the
// contacts that a grain has. A grain that lands on n spheres at once is n times as stiff, and its
// impact n^(2/5) times as short: that tells from n = 10 on.
template <class Device>
double DemSolver<Device>::suggest_dt(const State& now) const {
  if (is_set(params_.dt)) return params_.dt;
  const double speed = std::max(fastest(now), 0.01 * params_.reference_speed);
  const double contacts = std::max({1.0, dem::scalar(now, "dem.contacts"),
                                    dem::kMostShare * dem::scalar(now, "dem.most_contacts")});
  const double load = body_load(now);
  // An adaptive step takes the parts that it needs.
  const double parts = params_.integrator == "rkf45" ? 4.0 : 1.0;
  const double steps = dem::impact_steps(laws_.model.normal) / parts;
  double dt = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < laws_.pairs.size(); ++k) {
    const dem::Effective& of = laws_.effective[k];
    const double k_r = static_cast<double>(laws_.pairs[k].k_r);
    if (!(k_r > 0.0)) continue;  // two that cannot meet
    if (laws_.model.normal == dem::Normal::linear) {
      const double half = kPi * std::sqrt(of.m / k_r);
      dt = std::min({dt, half / steps, half / (dem::kStiffSteps * std::sqrt(contacts))});
      continue;
    }
    // Given k_r, E is what it stands for.
    const double E = k_r / (4.0 / 3.0 * std::sqrt(of.R));
    const double impact = dem::hertz_impact_time(of.m, of.R, E, speed);
    const double flat = dem::hertz_impact_time(of.m, of.R, most_spheres_ * E, speed);
    const double deepest =
        std::max(impact * speed / 2.943275, dem::scalar(now, "dem.deepest") * 2.0 * of.R);
    const double stiffness = 1.5 * k_r * std::sqrt(deepest);
    const double half = kPi * std::sqrt(of.m / stiffness);
    dt = std::min({dt, impact / steps, flat * parts / dem::kFlatSteps,
                   half / (dem::kStiffSteps * std::sqrt(contacts))});
    if (load > 0.0) dt = std::min(dt, kPi / std::sqrt(load * stiffness) / dem::kStiffSteps);
  }
  return dt;
}

// The largest speed of a grain or of a point of a solid that moves [m/s].
template <class Device>
double DemSolver<Device>::fastest(const State& now) const {
  double speed = now.max_speed;
  for (std::size_t s = 0; s < covered_.is_covered.size(); ++s) {
    if (covered_.is_covered[s] == 0) continue;
    const BodyState& body = now.bodies[s];
    speed =
        std::max(speed, length(body.velocity) + length(body.angular_velocity) * known_[s].reach);
  }
  return speed;
}

// How much a unit of stiffness may shake any body, over all its contacts [1/kg]: off its middle a
// contact moves it like 2/7 of its mass, as for a sphere.
template <class Device>
double DemSolver<Device>::body_load(const State& now) const {
  double load = 0.0;
  for (const dem::CoveredPart& part : covered_.parts) {
    if (!part.dynamic()) continue;
    load = std::max(load, 3.5 * dem::scalar(now, known_[part.solid].contacts) / part.mass);
  }
  return load;
}

template <class Device>
View<const float> DemSolver<Device>::contacts_of_grains(const State& state) const {
  return compound_ ? state.numbers<float>("contacts") : View<const float>{};
}

template <class Device>
dem::PlaceSpheres DemSolver<Device>::placing(const State& next) {
  return {next.position(),
          next.vectors("position_low"),
          next.velocity(),
          next.vectors("angular_velocity"),
          turns(next),
          next.numbers<float>("scale"),
          next.numbers<float>("mass"),
          contacts_of_grains(next),
          next.material(),
          types(),
          dem::kept_numbers(next, dem::kSphereStart),
          spheres_.view()};
}

// A resumed run has lists before it has spheres.
template <class Device>
void DemSolver<Device>::make_room(const State& now) {
  const auto spheres = static_cast<std::size_t>(dem::scalar(now, dem::kSpheres));
  if (spheres_.resize(spheres + covered_.spheres.size())) covering_placed_ = false;
  block_bits_ = static_cast<std::uint32_t>(dem::scalar(now, dem::kBlockBits));
}

template <class Device>
void DemSolver<Device>::drift(const State& now, double dt, State& next) {
  const View3<float> x = next.write_position(), low = next.write_vectors("position_low"),
                     v = next.write_velocity(), w = next.write_vectors("angular_velocity");
  const View4<float> q = compound_ ? next.write_orientations("orientation") : View4<float>{};
  const View<float> turned = compound_ ? next.write_numbers<float>("turned") : View<float>{};
  dem::PlaceSpheres place{};
  if (!fresh_) {
    make_room(now);
    place = placing(next);
  }
  const dem::Drift drift{now.position(),
                         now.vectors("position_low"),
                         now.velocity(),
                         now.vectors("angular_velocity"),
                         now.vectors("force"),
                         now.vectors("torque"),
                         lopsided_ ? now.vectors("angular_momentum") : View3<const float>{},
                         turns(now),
                         now.numbers<float>("scale"),
                         now.numbers<float>("mass"),
                         compound_ ? now.numbers<float>("turned") : View<const float>{},
                         now.material(),
                         types().types,
                         Vec3(setup_.gravity),
                         static_cast<float>(dt),
                         x,
                         low,
                         v,
                         w,
                         lopsided_ ? next.write_vectors("angular_momentum") : View3<float>{},
                         q,
                         turned,
                         place};
  if (by_spheres() && !fresh_) {
    const View<const std::uint32_t> grain = dem::kept_numbers(next, dem::kSphereGrain);
    for_each(device_, "drift", static_cast<std::int64_t>(grain.size),
             dem::DriftSpheres{drift, grain});
  } else {
    drift_grains(device_, now.size(), drift);
  }
}

// (18) is stable for k_t dt < 4/7 m_eff of one contact; grains have several.
template <class Device>
dem::ContactModel DemSolver<Device>::model(double dt) const {
  dem::ContactModel model = laws_.model;
  const double most = dem::kShearShare / dt;
  const double wanted = is_set(params_.shear_viscosity) ? params_.shear_viscosity : most;
  model.viscous = static_cast<float>(std::min(most, wanted));
  model.rolling = static_cast<float>(most);
  return model;
}

// What contacts remember was written by the search, or is what the step before left.
template <class Device>
dem::Memory DemSolver<Device>::memory(const State& now, State& next) {
  if (!history_) return {};
  const dem::Lists lists = this->lists(next);
  const std::size_t pairs = lists.pair_other.size, entries = lists.wall_solid.size;
  return {fresh_ ? std::as_const(remembered_).view() : dem::kept_vectors(now, dem::kShear),
          fresh_ ? dem::Slots{wall_memory_.data(), entries} : dem::kept_slots(now),
          dem::keep_vectors(next, dem::kShear, pairs), dem::keep_slots(next, entries)};
}

// Pairs and walls do not need each other.
template <class Device>
template <bool kHistory>
void DemSolver<Device>::push_by(const dem::Memory& memory, const SolidsView& solids,
                                const dem::ContactModel& model, double dt, const State& next) {
  const dem::Lists lists = this->lists(next);
  const auto kinds = static_cast<std::uint32_t>(setup_.materials.size() + covered_.parts.size());
  const auto row = kinds + static_cast<std::uint32_t>(setup_.solids.size());
  const dem::LawTable table{model, std::as_const(pair_laws_).view(), row, kinds};
  const View<const dem::Sphere> spheres = std::as_const(spheres_).view();
  const auto step = static_cast<float>(dt);
  begin_aside(device_);
  for_each(device_, "contacts: walls", static_cast<std::int64_t>(lists.wall_solid.size),
           dem::PushAtWalls<kHistory>{table, spheres, lists, solids, step, memory.walls,
                                      memory.next_walls, wall_force_.view(), wall_torque_.view()});
  sum_walls(next);
  end_aside(device_);
  push_pairs(device_,
             dem::PushPairs<kHistory>{table, spheres, lists, step, memory.shear, memory.next_shear,
                                      pair_force_.view(), pair_turn_.view(), pair_roll_.view()},
             block_sums());
  join_aside(device_);
}

template <class Device>
void DemSolver<Device>::push(const dem::Memory& memory, const SolidsView& solids,
                             const dem::ContactModel& model, double dt, const State& next) {
  const dem::Lists lists = this->lists(next);
  for (auto* buffer : {&wall_force_, &wall_torque_}) buffer->resize(lists.wall_solid.size);
  for (auto* buffer : {&block_force_, &block_torque_}) buffer->resize(spheres_.size());
  const std::size_t block = std::size_t{1} << block_bits_;
  block_deepest_.resize((spheres_.size() + block - 1) / block);
  if (block_bits_ > 0) {
    for (auto* buffer : {&pair_force_, &pair_turn_}) buffer->resize(lists.pair_other.size);
    if (laws_.model.rolls) pair_roll_.resize(lists.pair_other.size);
  }
  if (history_) {
    push_by<true>(memory, solids, model, dt, next);
  } else {
    push_by<false>(memory, solids, model, dt, next);
  }
}

template <class Device>
dem::BlockSums DemSolver<Device>::block_sums() {
  return {block_force_.view(), block_torque_.view(), block_deepest_.view(), block_bits_};
}

template <class Device>
dem::SphereForces DemSolver<Device>::forces(const State& next) {
  return {spheres_.view(),
          lists(next),
          pair_force_.view(),
          pair_turn_.view(),
          wall_force_.view(),
          wall_torque_.view(),
          laws_.model.rolls ? pair_roll_.view() : View3<const float>{},
          block_sums()};
}

template <class Device>
void DemSolver<Device>::kick(double dt, double next_dt, State& next) {
  const View3<float> v = next.rewrite_vectors("velocity");
  const View3<float> w = next.rewrite_vectors("angular_velocity");
  kick_grains(device_, next.size(),
              dem::Kick{forces(next), next.position(), turns(next), next.numbers<float>("scale"),
                        next.numbers<float>("mass"), next.material(), types(),
                        next.vectors("listed_position"),
                        compound_ ? next.numbers<float>("turned") : View<const float>{},
                        Vec3(setup_.gravity), static_cast<float>(dt), static_cast<float>(next_dt),
                        v, w, lopsided_ ? next.rewrite_vectors("angular_momentum") : View3<float>{},
                        next.write_vectors("force"), next.write_vectors("torque"),
                        compound_ ? next.write_numbers<float>("contacts") : View<float>{}},
              &outcomes()->met);
}

// Spin, and the springs of contacts as the last step left them.
template <class Device>
MoreEnergy DemSolver<Device>::more_energy(const State& now) {
  MoreEnergy more;
  more.kinetic = reduce<Sum<double>>(
      device_, "ledger: sums", static_cast<std::int64_t>(now.size()),
      dem::SpinEnergy{now.vectors("angular_velocity"), turns(now), now.numbers<float>("scale"),
                      now.numbers<float>("mass"), now.material(), types().types});
  for (const Buffer<Float4>* torque : {&block_torque_, &wall_torque_}) {
    more.potential +=
        reduce<Sum<double>>(device_, "ledger: sums", static_cast<std::int64_t>(torque->size()),
                            dem::StoredEnergy{torque->view()});
  }
  return more;
}

}  // namespace barchan
