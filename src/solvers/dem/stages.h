// The stages of the step but for the search (search.h): which kernel runs over what.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

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

template <class Device>
DemSolver<Device>::DemSolver(Device& device, const SolverSetup& setup, const DemParams& params)
    : device_(device),
      setup_(setup),
      params_(params),
      cells_(device),
      near_(device),
      types_(device),
      offsets_(device),
      pair_laws_(device),
      spheres_(device),
      counts_(device),
      near_wall_(device),
      remembered_(device),
      wall_memory_(device),
      pair_force_(device),
      pair_turn_(device),
      wall_force_(device),
      wall_torque_(device),
      pair_roll_(device),
      block_force_(device),
      block_torque_(device),
      block_deepest_(device),
      rkf_(device),
      cover_offsets_(device),
      cover_part_(device),
      cover_place_(device),
      is_covered_(device),
      poses_(device),
      pieces_(device),
      groups_(device),
      piece_sums_(device),
      group_sums_(device),
      cover_x_(device),
      cover_sorted_(device),
      cover_cells_(device),
      near_covering_(device),
      near_grains_(device),
      near_each_other_(device) {
  std::vector<dem::GrainType> types;
  std::vector<Float4> offsets;
  for (std::size_t m = 0; m < setup.materials.size(); ++m) {
    const GrainShape& shape = setup.grains[m];
    const auto [smallest, largest] = setup.grain_radii(m);
    dem::GrainType type;
    type.first = static_cast<std::uint32_t>(offsets.size());
    type.count = static_cast<std::uint32_t>(shape.spheres.size());
    type.smallest = static_cast<float>(smallest);
    type.largest = static_cast<float>(largest);
    type.mass = static_cast<float>(setup.materials[m].density * shape.volume);
    type.reach = static_cast<float>(shape.reach);
    type.inertia = Vec3(shape.moments / shape.volume);
    type.kind = type.count > 1 ? type.count : 0;
    types.push_back(type);
    compound_ = compound_ || shape.compound();
    most_spheres_ = std::max(most_spheres_, static_cast<double>(type.count));
    lopsided_ = lopsided_ || !dem::all_alike(type.inertia);
    grain_radius_ = std::max(grain_radius_, largest);
    for (const GrainSphere& s : shape.spheres) {
      offsets.push_back({static_cast<float>(s.center.x), static_cast<float>(s.center.y),
                         static_cast<float>(s.center.z), static_cast<float>(s.radius)});
      sphere_radius_ = std::max(sphere_radius_, s.radius * largest);
    }
  }
  types_.upload(types);
  offsets_.upload(offsets);
  covered_ = dem::cover_solids(setup, params, sphere_radius_);
  laws_ = dem::make_laws(setup, params, covered_.parts);
  pair_laws_.upload(laws_.pairs);
  upload_covering();
  history_ = params.shear == "history" || (params.shear == "auto" && !compound_);
  skin_ = params.skin * sphere_radius_;
}

// The spheres that cover solids, the pieces that sums over them are taken by, and what is asked of
// solids in each step.
template <class Device>
void DemSolver<Device>::upload_covering() {
  cover_offsets_.upload(covered_.spheres);
  cover_part_.upload(covered_.part_of);
  is_covered_.upload(covered_.is_covered);
  for (std::size_t s = 0; s < setup_.solids.size(); ++s) {
    const std::string name = "dem.solid." + std::to_string(s);
    const Aabb box = bounds(setup_.solids[s].shape);
    const double reach =
        box.is_bounded() ? length(max(box.hi, -box.lo)) : std::numeric_limits<double>::infinity();
    known_.push_back({{name + ".force_x", name + ".force_y", name + ".force_z"},
                      {name + ".torque_x", name + ".torque_y", name + ".torque_z"},
                      name + ".contacts",
                      reach});
  }
  std::vector<dem::Piece> pieces, groups;
  const auto cut = [](std::vector<dem::Piece>& to, std::size_t part, std::uint32_t first,
                      std::uint32_t end, std::uint32_t most) {
    for (std::uint32_t at = first; at < end; at += most) {
      to.push_back({static_cast<std::uint32_t>(part), at, std::min(at + most, end)});
    }
  };
  for (std::size_t p = 0; p < covered_.parts.size(); ++p) {
    const auto first = static_cast<std::uint32_t>(covered_.parts[p].first);
    const auto first_piece = static_cast<std::uint32_t>(pieces.size());
    cut(pieces, p, first, first + static_cast<std::uint32_t>(covered_.parts[p].count),
        dem::kPieceSpheres);
    cut(groups, p, first_piece, static_cast<std::uint32_t>(pieces.size()), dem::kGroupPieces);
  }
  pieces_.upload(pieces);
  piece_sums_.resize(pieces.size());
  groups_.upload(groups);
  group_sums_.resize(groups.size());
  for (const dem::Piece& group : groups) group_part_.push_back(group.part);
  for (std::size_t k = 0; k < setup_.solids.size(); ++k) {
    if (covered_.is_covered[k] == 0) walls_.push_back(static_cast<std::uint32_t>(k));
  }
}

template <class Device>
std::vector<ColumnSpec> DemSolver<Device>::columns() const {
  std::vector<ColumnSpec> columns = {
      {"angular_velocity", Type::f32, 3, true},  // [rad/s]
      {"scale", Type::f32, 1, true},             // radius of the grain [m]
      {"shape", Type::u8, 1, true},              // spheres of a compound grain, 0 for a sphere
      {"mass", Type::f32, 1, false},             // [kg]
      {"position_low", Type::f32, 3, false},     // what `position` leaves of the position [m]
      {"force", Type::f32, 3, false},            // of contacts [N]
      {"torque", Type::f32, 3, false},           // [N m]
      {"listed_position", Type::f32, 3, false},  // where the lists were made [m]
      {"listed_row", Type::u32, 1, false},       // the row there, plus 1
  };
  if (compound_) {
    columns.push_back({"orientation", Type::f32, 4, true});
    columns.push_back({"turned", Type::f32, 1, false});
    columns.push_back({"contacts", Type::f32, 1, false});
  }
  if (lopsided_) columns.push_back({"angular_momentum", Type::f32, 3, false});  // [kg m^2/s]
  return columns;
}

template <class Device>
dem::GrainTypes DemSolver<Device>::types() const {
  return {types_.view(), offsets_.view()};
}

template <class Device>
View4<const float> DemSolver<Device>::turns(const State& state) const {
  return compound_ ? state.orientations("orientation") : View4<const float>{};
}

template <class Device>
void DemSolver<Device>::complete(State& state) {
  for_each(
      device_, "newborn", static_cast<std::int64_t>(state.size()),
      dem::Complete{state.id(), state.material(), types().types, Random{setup_.seed},
                    state.rewrite_numbers<float>("scale"), state.rewrite_numbers<float>("mass"),
                    state.rewrite_numbers<std::uint8_t>("shape"),
                    compound_ ? state.rewrite_orientations("orientation") : View4<float>{},
                    state.vectors("angular_velocity"),
                    lopsided_ ? state.rewrite_vectors("angular_momentum") : View3<float>{}});
}

// spheres/position, radius and grain, for whoever draws them.
template <class Device>
void DemSolver<Device>::add_to_frame(const State& now, Frame& frame) const {
  const HostColumn x = download(device_, now.column("position"));
  const HostColumn scale = download(device_, now.column("scale"));
  const HostColumn material = download(device_, now.column("material"));
  HostColumn q;
  if (compound_) q = download(device_, now.column("orientation"));
  std::size_t count = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    count += setup_.grains[material.component<std::uint8_t>(0)[i]].spheres.size();
  }
  HostColumn position = make_host_column({"spheres/position", Type::f32, 3, true}, count);
  HostColumn radius = make_host_column({"spheres/radius", Type::f32, 1, true}, count);
  HostColumn grain = make_host_column({"spheres/grain", Type::u32, 1, true}, count);
  std::size_t s = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Quat turn = compound_ ? Quat(q.component<float>(0)[i], q.component<float>(1)[i],
                                       q.component<float>(2)[i], q.component<float>(3)[i])
                                : Quat();
    const float r = scale.component<float>(0)[i];
    for (const GrainSphere& of : setup_.grains[material.component<std::uint8_t>(0)[i]].spheres) {
      const Vec3 arm = rotate(turn, r * Vec3(of.center));
      for (int axis = 0; axis < 3; ++axis) {
        position.component<float>(axis)[s] = x.component<float>(axis)[i] + arm[axis];
      }
      radius.component<float>(0)[s] = r * static_cast<float>(of.radius);
      grain.component<std::uint32_t>(0)[s] = static_cast<std::uint32_t>(i);
      ++s;
    }
  }
  for (HostColumn* column : {&position, &radius, &grain}) {
    frame.columns.push_back(std::move(*column));
  }
}

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

// Where covered solids are at the end of the step; the driver has moved them. Velocities are means
// over the step, as those of grains are. A contact moves the whole body; where there are many, each
// has its share, or their friction together would throw the body back.
template <class Device>
void DemSolver<Device>::move_covering(const State& now, double dt, const State& next) {
  const auto stands = [&](const dem::CoveredPart& part) {
    return setup_.solids[part.solid].drive == SolidDrive::fixed;
  };
  const std::vector<dem::CoveredPart>& parts = covered_.parts;
  const bool known = poses_.size() == parts.size() && covering_placed_ && same_grains(now);
  if (known && std::all_of(parts.begin(), parts.end(), stands)) return;
  std::vector<dem::PartPose> poses;
  for (const dem::CoveredPart& part : parts) {
    const BodyState &from = now.bodies[part.solid], &to = next.bodies[part.solid];
    dem::PartPose pose{};
    pose.x = Vec3(to.position);
    pose.low = Vec3(to.position - Vec3d(pose.x));
    pose.v = Vec3((to.position - from.position) / dt);
    pose.w = Vec3(rotation_vector(from.orientation, to.orientation) / dt);
    pose.q = Quat(to.orientation);
    const double contacts = dem::scalar(now, known_[part.solid].contacts);
    pose.mass = part.dynamic() ? static_cast<float>(part.mass / std::max(1.0, contacts)) : 1e20f;
    pose.solid = static_cast<std::uint32_t>(part.solid);
    pose.dynamic = part.dynamic();
    pose.moves = !stands(part);
    poses.push_back(pose);
  }
  poses_.upload(poses);
  if (!fresh_) place_covering(next, covering_placed_);
}

template <class Device>
void DemSolver<Device>::place_covering(const State& next, bool moving_only) {
  const std::size_t spheres = covered_.spheres.size();
  const auto first = static_cast<std::uint32_t>(spheres_.size() - spheres);
  for_each(device_, "coverings", static_cast<std::int64_t>(spheres),
           dem::PlaceCovering{cover_offsets_.view(), cover_part_.view(), poses_.view(),
                              static_cast<std::uint32_t>(next.size()),
                              static_cast<std::uint32_t>(setup_.materials.size()), first,
                              moving_only, spheres_.view()});
  covering_placed_ = true;
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

// What the device has summed for the host lies in the host's memory. Solids are summed by passes.
template <class Device>
dem::Outcome* DemSolver<Device>::outcomes() {
  if (outcomes_ == nullptr) {
    const std::size_t passes = walls_.size() / dem::kSolidsPerPass + 1;
    outcomes_ = device_.host_memory(passes * sizeof(dem::Outcome));
    std::uninitialized_value_construct_n(static_cast<dem::Outcome*>(outcomes_.get()), passes);
  }
  return static_cast<dem::Outcome*>(outcomes_.get());
}

// Forces on the solids that are met by their distance, and their moments about the world's origin:
// a few solids a pass.
template <class Device>
void DemSolver<Device>::sum_walls(const State& next) {
  const dem::Lists lists = this->lists(next);
  for (std::size_t pass = 0; pass * dem::kSolidsPerPass < walls_.size(); ++pass) {
    dem::PushSolids push{std::as_const(spheres_).view(),
                         lists,
                         std::as_const(wall_force_).view(),
                         std::as_const(wall_torque_).view(),
                         {}};
    for (std::size_t k = 0; k < dem::kSolidsPerPass; ++k) {
      const std::size_t wall = pass * dem::kSolidsPerPass + k;
      push.solids[k] = wall < walls_.size() ? walls_[wall] : ~0u;
    }
    reduce_to<dem::JoinSolidSums>(device_, "push solids",
                                  static_cast<std::int64_t>(lists.wall_solid.size), push,
                                  &outcomes()[pass].solids);
  }
}

// What the device has summed, once it has.
template <class Device>
dem::Summary DemSolver<Device>::fetch(std::vector<dem::Wrench>& wrenches) {
  device_.wait();
  const dem::Outcome* passes = outcomes();
  for (std::size_t k = 0; k < walls_.size(); ++k) {
    const dem::SolidSums& sums = passes[k / dem::kSolidsPerPass].solids;
    const std::size_t place = k % dem::kSolidsPerPass;
    wrenches[walls_[k]] = {sums.force[place], sums.moment[place]};
  }
  dem::Summary met = passes->met;
  if (block_bits_ > 0) {
    for (const float deepest : block_deepest_.download()) {
      met.deepest = std::max(met.deepest, deepest);
    }
  }
  return met;
}

// The same of those that are covered, and how many contacts they have.
template <class Device>
void DemSolver<Device>::sum_coverings(State& next, dem::Summary& met,
                                      std::vector<dem::Wrench>& wrenches) {
  const std::vector<dem::PieceSums> sums = group_sums_.download();
  std::vector<double> contacts(wrenches.size(), 0.0);
  for (std::size_t g = 0; g < sums.size(); ++g) {
    const std::size_t solid = covered_.parts[group_part_[g]].solid;
    wrenches[solid].force += sums[g].force;
    wrenches[solid].moment += sums[g].moment;
    contacts[solid] += sums[g].contacts;
    met.deepest = std::max(met.deepest, sums[g].deepest);
  }
  for (const dem::CoveredPart& part : covered_.parts) {
    if (part.dynamic()) next.scalars[known_[part.solid].contacts] = contacts[part.solid];
  }
}

// Over a step of velocity Verlet grains get dt/2 times the forces at its beginning and at its end;
// so do bodies: at the end here, and at the next step's beginning by push_first(). Solids that do
// not give way are told of it all at once.
template <class Device>
dem::Summary DemSolver<Device>::push_solids(double dt, State& next, BodyImpulses& out) {
  std::vector<dem::Wrench> wrenches(out.linear.size());
  for_each(device_, "push solids", static_cast<std::int64_t>(pieces_.size()),
           dem::PushCovering{forces(next), std::as_const(pieces_).view(),
                             static_cast<std::uint32_t>(spheres_.size() - covered_.spheres.size()),
                             piece_sums_.view()});
  for_each(device_, "push solids", static_cast<std::int64_t>(groups_.size()),
           dem::SumPieces{std::as_const(piece_sums_).view(), std::as_const(groups_).view(),
                          group_sums_.view()});
  dem::Summary met = fetch(wrenches);
  if (!covered_.parts.empty()) sum_coverings(next, met, wrenches);
  for (std::size_t s = 0; s < wrenches.size(); ++s) {
    const Vec3d force = wrenches[s].force;
    const Vec3d torque = wrenches[s].moment - cross(next.bodies[s].position, force);
    const bool free = setup_.solids[s].drive == SolidDrive::dynamic;
    out.linear[s] = (free ? 0.5 * dt : dt) * force;
    out.angular[s] = (free ? 0.5 * dt : dt) * torque;
    for (int axis = 0; free && axis < 3; ++axis) {
      next.scalars[known_[s].force[static_cast<std::size_t>(axis)]] = force[axis];
      next.scalars[known_[s].torque[static_cast<std::size_t>(axis)]] = torque[axis];
    }
  }
  return met;
}

template <class Device>
void DemSolver<Device>::push_first(const State& now, double dt, BodyImpulses& out) const {
  for (std::size_t s = 0; s < out.linear.size(); ++s) {
    if (setup_.solids[s].drive != SolidDrive::dynamic) continue;
    for (int axis = 0; axis < 3; ++axis) {
      out.linear[s][axis] =
          0.5 * dt * dem::scalar(now, known_[s].force[static_cast<std::size_t>(axis)]);
      out.angular[s][axis] =
          0.5 * dt * dem::scalar(now, known_[s].torque[static_cast<std::size_t>(axis)]);
    }
  }
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

// State read and written once, spheres written and read by four neighbours, and for each of some
// three pairs a grain an entry of the lists, its memory, and what it does to the other sphere.
template <class Device>
double DemSolver<Device>::floor_bytes(std::size_t particles) const {
  constexpr double kState = 2.0 * 76.0, kSphere = 2.0 * 64.0, kPair = 8.0 + 24.0 + 64.0;
  return static_cast<double>(particles) * (kState + kSphere + 3.0 * kPair);
}

}  // namespace barchan
