// The stages of the step: which kernel runs over what.
//
// The lists of contacts and what contacts remember live in the State as kept arrays, because sums
// follow their order: a resumed or repeated step has to find them as they were.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/reduce_ops.h"
#include "solvers/dem/dem_solver.h"
#include "spatial/kernels.h"

namespace barchan {

namespace dem {

inline constexpr const char* kSphereStart = "dem.sphere_start";
inline constexpr const char* kPairStart = "dem.pair_start";
inline constexpr const char* kPairFirst = "dem.pair_first";
inline constexpr const char* kPairOther = "dem.pair_other";
inline constexpr const char* kBackStart = "dem.back_start";
inline constexpr const char* kBackPair = "dem.back_pair";
inline constexpr const char* kWallStart = "dem.wall_start";
inline constexpr const char* kWallSolid = "dem.wall_solid";
inline constexpr const char* kWallSphere = "dem.wall_sphere";
inline constexpr const char* kShear = "dem.shear";
inline constexpr const char* kWallShear = "dem.wall_shear";
inline constexpr const char* kSolidPath = "dem.solid_path";    // of any solid since the search [m]
inline constexpr const char* kBornBefore = "dem.born_before";  // next_id at the search

// Steps in an impact at the largest speed. A contact begins somewhere within a step, which shifts
// the rebound the more, the more suddenly damping begins.
inline double impact_steps(Normal law) {
  return law == Normal::hertz_half ? 20.0 : 40.0;
}
inline constexpr double kStiffSteps = 8.0;   // in half an oscillation of the stiffest contact
inline constexpr double kShearShare = 0.15;  // k_t dt / m_eff of (18); 4/7 is unstable

inline View<const std::uint32_t> kept_numbers(const State& state, const char* name) {
  const Column* column = state.kept(name);
  if (column == nullptr) return {};
  return {column->component<std::uint32_t>(0), column->size()};
}
inline View<std::uint32_t> keep_numbers(State& state, const char* name, std::size_t size) {
  Column& column = state.keep({name, Type::u32, 1, false}, size);
  return {const_cast<std::uint32_t*>(column.component<std::uint32_t>(0)), size};
}
inline View3<const float> kept_vectors(const State& state, const char* name) {
  const Column* c = state.kept(name);
  if (c == nullptr) return {};
  return {c->component<float>(0), c->component<float>(1), c->component<float>(2), c->size()};
}
inline View3<float> keep_vectors(State& state, const char* name, std::size_t size) {
  const Column& c = state.keep({name, Type::f32, 3, false}, size);
  const auto part = [&](int k) { return const_cast<float*>(c.component<float>(k)); };
  return {part(0), part(1), part(2), size};
}
inline Slots kept_slots(const State& state) {
  const Column* c = state.kept(kWallShear);
  if (c == nullptr) return {};
  return {const_cast<float*>(c->component<float>(0)), c->stride()};
}
inline Slots keep_slots(State& state, std::size_t size) {
  state.keep({kWallShear, Type::f32, kPlaces * kSlot, false}, size);
  return kept_slots(state);
}

}  // namespace dem

template <class Device>
DemSolver<Device>::DemSolver(Device& device, const SolverSetup& setup, const DemParams& params)
    : device_(device),
      setup_(setup),
      params_(params),
      laws_(dem::make_laws(setup, params)),
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
      pair_roll_(device) {
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
    grain_radius_ = std::max(grain_radius_, largest);
    for (const GrainSphere& s : shape.spheres) {
      offsets.push_back({static_cast<float>(s.center.x), static_cast<float>(s.center.y),
                         static_cast<float>(s.center.z), static_cast<float>(s.radius)});
      sphere_radius_ = std::max(sphere_radius_, s.radius * largest);
    }
  }
  types_.upload(types);
  offsets_.upload(offsets);
  pair_laws_.upload(laws_.pairs);
  history_ = params.shear == "history" || (params.shear == "auto" && !compound_);
  skin_ = params.skin * sphere_radius_;
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
  }
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
                    compound_ ? state.rewrite_orientations("orientation") : View4<float>{}});
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
// contacts that a grain has.
template <class Device>
double DemSolver<Device>::suggest_dt(const State& now) const {
  if (is_set(params_.dt)) return params_.dt;
  const auto scalar = [&](const char* name) {
    const auto found = now.scalars.find(name);
    return found == now.scalars.end() ? 0.0 : found->second;
  };
  const double speed = std::max(now.max_speed, 0.01 * params_.reference_speed);
  const double contacts = std::max(1.0, scalar("dem.contacts"));
  const double steps = dem::impact_steps(laws_.model.normal);
  double dt = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < laws_.pairs.size(); ++k) {
    const dem::Effective& of = laws_.effective[k];
    const double k_r = static_cast<double>(laws_.pairs[k].k_r);
    if (laws_.model.normal == dem::Normal::linear) {
      const double half = kPi * std::sqrt(of.m / k_r);
      dt = std::min({dt, half / steps, half / (dem::kStiffSteps * std::sqrt(contacts))});
      continue;
    }
    // Given k_r, E is what it stands for.
    const double E = k_r / (4.0 / 3.0 * std::sqrt(of.R));
    const double impact = dem::hertz_impact_time(of.m, of.R, E, speed);
    const double deepest = std::max(impact * speed / 2.943275, scalar("dem.deepest") * 2.0 * of.R);
    const double stiffness = 1.5 * k_r * std::sqrt(deepest);
    const double half = kPi * std::sqrt(of.m / stiffness);
    dt = std::min({dt, impact / steps, half / (dem::kStiffSteps * std::sqrt(contacts))});
  }
  return dt;
}

// Nobody was born or left since the lists were made.
template <class Device>
bool DemSolver<Device>::same_grains(const State& now) const {
  return dem::kept_numbers(now, dem::kSphereStart).size == now.size() + 1 &&
         now.scalars.at(dem::kBornBefore) == static_cast<double>(now.next_id);
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
          next.material(),
          types(),
          dem::kept_numbers(next, dem::kSphereStart),
          spheres_.view()};
}

template <class Device>
double DemSolver<Device>::drift(const State& now, double dt, State& next) {
  const View3<float> x = next.write_position(), low = next.write_vectors("position_low"),
                     v = next.write_velocity(), w = next.write_vectors("angular_velocity");
  const View4<float> q = compound_ ? next.write_orientations("orientation") : View4<float>{};
  const View<float> turned = compound_ ? next.write_numbers<float>("turned") : View<float>{};
  // A resumed run has lists before it has spheres.
  dem::PlaceSpheres place{};
  if (same_grains(now)) {
    std::uint32_t spheres = 0;
    const View<const std::uint32_t> start = dem::kept_numbers(now, dem::kSphereStart);
    if (now.size() > 0) device_.download(&spheres, start.data + now.size(), sizeof(spheres));
    spheres_.resize(spheres);
    place = placing(next);
  }
  return static_cast<double>(reduce<Largest<float>>(
      device_, "drift", static_cast<std::int64_t>(now.size()),
      dem::Drift{now.position(),
                 now.vectors("position_low"),
                 now.velocity(),
                 now.vectors("angular_velocity"),
                 now.vectors("force"),
                 now.vectors("torque"),
                 turns(now),
                 now.numbers<float>("scale"),
                 now.numbers<float>("mass"),
                 compound_ ? now.numbers<float>("turned") : View<const float>{},
                 now.material(),
                 types().types,
                 now.vectors("listed_position"),
                 Vec3(setup_.gravity),
                 static_cast<float>(dt),
                 x,
                 low,
                 v,
                 w,
                 q,
                 turned,
                 place}));
}

// A bound on how far any point of any solid goes in this step [m].
template <class Device>
double DemSolver<Device>::solids_moved(const State& now, const State& next) const {
  double farthest = 0.0;
  for (std::size_t s = 0; s < setup_.solids.size(); ++s) {
    const Solid& solid = setup_.solids[s];
    if (solid.drive == SolidDrive::fixed) continue;
    const BodyState &from = now.bodies[s], &to = next.bodies[s];
    const double turn = length(rotation_vector(from.orientation, to.orientation));
    double way = length(to.position - from.position);
    if (turn > 0.0) {
      const Aabb box = bounds(solid.shape);
      way += box.is_bounded() ? turn * length(max(box.hi, -box.lo))
                              : std::numeric_limits<double>::infinity();
    }
    farthest = std::max(farthest, way);
  }
  return farthest;
}

// The same grains, and none came farther than the lists look.
template <class Device>
bool DemSolver<Device>::lists_hold(const State& now, double moved, State& next) const {
  double& path = next.scalars[dem::kSolidPath];
  path += solids_moved(now, next);
  return same_grains(now) && 2.0 * moved < skin_ && moved + path < skin_;
}

// From counts in counts_ to where each list starts.
template <class Device>
View<const std::uint32_t> DemSolver<Device>::count_list(const char* label, State& next,
                                                        const char* name, std::size_t spheres,
                                                        std::uint32_t& total) {
  const View<std::uint32_t> start = dem::keep_numbers(next, name, spheres + 1);
  total = device_.exclusive_scan(label, std::as_const(counts_).view(), start);
  return start;
}

template <class Device>
void DemSolver<Device>::find_contacts(const State& now, const SolidsView& solids, State& next) {
  next.scalars[dem::kSolidPath] = 0.0;
  next.scalars[dem::kBornBefore] = static_cast<double>(next.next_id);
  const double bridges = laws_.model.coheres ? params_.cohesion_range * sphere_radius_ : 0.0;
  const auto radius = static_cast<float>(2.0 * grain_radius_ + bridges + skin_);
  cells_.sort(next.position(), radius);
  next.reorder(cells_.order());
  near_.build(cells_.cells(), next.position(), radius);

  const auto n = static_cast<std::int64_t>(next.size());
  std::uint32_t total = 0, pairs = 0, backs = 0, walls = 0;
  counts_.resize(next.size() + 1);
  for_each(device_, "lists", n + 1,
           dem::CountSpheres{next.material(), types().types, counts_.view()});
  const auto sphere_start = count_list("lists", next, dem::kSphereStart, next.size(), total);
  spheres_.resize(total);
  counts_.resize(total + 1);
  for_each(device_, "lists", n, placing(next));

  const View<const dem::Sphere> spheres = std::as_const(spheres_).view();
  const auto reach = static_cast<float>(skin_);
  const auto bridge = static_cast<float>(laws_.model.coheres ? params_.cohesion_range : 0.0);
  const Neighbours near = near_.view();
  const std::int64_t m = total;
  for_each(device_, "lists", m + 1,
           dem::ListPairs<false>{
               spheres, near, sphere_start, reach, bridge, counts_.view(), {}, {}, {}});
  const auto pair_start = count_list("lists", next, dem::kPairStart, total, pairs);
  const View<std::uint32_t> other = dem::keep_numbers(next, dem::kPairOther, pairs);
  for_each(device_, "lists", m,
           dem::ListPairs<true>{spheres,
                                near,
                                sphere_start,
                                reach,
                                bridge,
                                {},
                                pair_start,
                                dem::keep_numbers(next, dem::kPairFirst, pairs),
                                other});

  for_each(device_, "lists", m + 1,
           dem::ListBacks<false>{
               spheres, near, sphere_start, pair_start, other, counts_.view(), {}, {}});
  const auto back_start = count_list("lists", next, dem::kBackStart, total, backs);
  for_each(device_, "lists", m,
           dem::ListBacks<true>{spheres,
                                near,
                                sphere_start,
                                pair_start,
                                other,
                                {},
                                back_start,
                                dem::keep_numbers(next, dem::kBackPair, backs)});

  near_wall_.resize(next.size());
  for_each(device_, "lists: walls", n,
           dem::NearWalls{next.position(), next.numbers<float>("scale"), solids, reach,
                          near_wall_.view()});
  for_each(
      device_, "lists: walls", m + 1,
      dem::ListWalls<false>{
          spheres, solids, std::as_const(near_wall_).view(), reach, counts_.view(), {}, {}, {}});
  const auto wall_start = count_list("lists: walls", next, dem::kWallStart, total, walls);
  for_each(device_, "lists: walls", m,
           dem::ListWalls<true>{spheres,
                                solids,
                                {},
                                reach,
                                {},
                                wall_start,
                                dem::keep_numbers(next, dem::kWallSolid, walls),
                                dem::keep_numbers(next, dem::kWallSphere, walls)});
  if (history_) remember(now, next);
  for_each(device_, "lists", n,
           dem::NoteRows{next.position(), next.write_vectors("listed_position"),
                         next.write_numbers<std::uint32_t>("listed_row"),
                         compound_ ? next.write_numbers<float>("turned") : View<float>{}});
}

template <class Device>
dem::Lists DemSolver<Device>::lists(const State& state) const {
  const auto kept = [&](const char* name) { return dem::kept_numbers(state, name); };
  return {kept(dem::kSphereStart), kept(dem::kPairStart), kept(dem::kPairFirst),
          kept(dem::kPairOther),   kept(dem::kBackStart), kept(dem::kBackPair),
          kept(dem::kWallStart),   kept(dem::kWallSolid), kept(dem::kWallSphere)};
}

template <class Device>
dem::OldLists DemSolver<Device>::old_lists(const State& now) const {
  return {lists(now), dem::kept_vectors(now, dem::kShear), dem::kept_slots(now)};
}

template <class Device>
void DemSolver<Device>::remember(const State& now, State& next) {
  const dem::Lists fresh = lists(next);
  const dem::OldLists old = old_lists(now);
  const View<const dem::Sphere> spheres = std::as_const(spheres_).view();
  const dem::OldPlace place{next.numbers<std::uint32_t>("listed_row"), fresh.sphere_start,
                            old.lists.sphere_start};
  const auto m = static_cast<std::int64_t>(spheres.size);
  remembered_.resize(fresh.pair_other.size);
  for_each(device_, "lists: memory", m,
           dem::RememberPairs{spheres, fresh.pair_start, fresh.pair_other, place, old,
                              remembered_.view()});
  const std::size_t entries = fresh.wall_solid.size;
  wall_memory_.resize(static_cast<std::size_t>(dem::kPlaces * dem::kSlot) * entries);
  for_each(
      device_, "lists: memory", m,
      dem::RememberWalls{
          spheres, fresh.wall_start, fresh.wall_solid, place, old, {wall_memory_.data(), entries}});
}

// (18) is stable for k_t dt < 4/7 m_eff of one contact; grains have several.
template <class Device>
dem::ContactModel DemSolver<Device>::model(double dt) const {
  dem::ContactModel model = laws_.model;
  model.viscous = static_cast<float>(dem::kShearShare / dt);
  return model;
}

// What contacts remember was written by the search, or is what the step before left.
template <class Device>
template <bool kHistory>
void DemSolver<Device>::push_by(const State& now, const SolidsView& solids, double dt,
                                State& next) {
  const dem::Lists lists = this->lists(next);
  const std::size_t pairs = lists.pair_other.size, entries = lists.wall_solid.size;
  View3<const float> shear;
  View3<float> next_shear;
  dem::Slots walls, next_walls;
  if constexpr (kHistory) {
    shear = fresh_ ? std::as_const(remembered_).view() : dem::kept_vectors(now, dem::kShear);
    walls = fresh_ ? dem::Slots{wall_memory_.data(), entries} : dem::kept_slots(now);
    next_shear = dem::keep_vectors(next, dem::kShear, pairs);
    next_walls = dem::keep_slots(next, entries);
  }
  const auto materials = static_cast<std::uint32_t>(setup_.materials.size());
  const auto row = materials + static_cast<std::uint32_t>(setup_.solids.size());
  const dem::LawTable table{model(dt), std::as_const(pair_laws_).view(), row, materials};
  const View<const dem::Sphere> spheres = std::as_const(spheres_).view();
  const auto step = static_cast<float>(dt);
  push_pairs(device_, static_cast<std::int64_t>(pairs),
             dem::PushPairs<kHistory>{table, spheres, lists, step, shear, next_shear,
                                      pair_force_.view(), pair_turn_.view(), pair_roll_.view()});
  for_each(device_, "contacts: walls", static_cast<std::int64_t>(entries),
           dem::PushAtWalls<kHistory>{table, spheres, lists, solids, step, walls, next_walls,
                                      wall_force_.view(), wall_torque_.view()});
}

template <class Device>
void DemSolver<Device>::push(const State& now, const SolidsView& solids, double dt, State& next) {
  const dem::Lists lists = this->lists(next);
  for (auto* buffer : {&pair_force_, &pair_turn_}) buffer->resize(lists.pair_other.size);
  for (auto* buffer : {&wall_force_, &wall_torque_}) buffer->resize(lists.wall_solid.size);
  if (laws_.model.rolls) pair_roll_.resize(lists.pair_other.size);
  if (history_) {
    push_by<true>(now, solids, dt, next);
  } else {
    push_by<false>(now, solids, dt, next);
  }
}

template <class Device>
dem::Summary DemSolver<Device>::kick(double dt, State& next) {
  const View3<float> v = next.rewrite_vectors("velocity");
  const View3<float> w = next.rewrite_vectors("angular_velocity");
  return reduce<dem::JoinSummary>(
      device_, "kick", static_cast<std::int64_t>(next.size()),
      dem::Kick{std::as_const(spheres_).view(),
                lists(next),
                std::as_const(pair_force_).view(),
                std::as_const(pair_turn_).view(),
                std::as_const(wall_force_).view(),
                std::as_const(wall_torque_).view(),
                laws_.model.rolls ? std::as_const(pair_roll_).view() : View3<const float>{},
                next.position(),
                next.vectors("position_low"),
                turns(next),
                next.numbers<float>("scale"),
                next.numbers<float>("mass"),
                next.material(),
                types().types,
                Vec3(setup_.gravity),
                static_cast<float>(dt),
                v,
                w,
                next.write_vectors("force"),
                next.write_vectors("torque")});
}

// Over a step of velocity Verlet grains get dt/2 times the forces at its beginning and at its end;
// so do the solids. Those at the beginning are in the state.
template <class Device>
void DemSolver<Device>::push_solids(const State& now, double dt, State& next, BodyImpulses& out) {
  const dem::Lists lists = this->lists(next);
  const auto share = [&](std::size_t solid, const char* what, int axis, double value) {
    const std::string name = "dem.solid." + std::to_string(solid) + what + "xyz"[axis];
    const auto before = now.scalars.find(name);
    next.scalars[name] = value;
    return 0.5 * dt * (value + (before == now.scalars.end() ? 0.0 : before->second));
  };
  for (std::size_t first = 0; first < out.linear.size(); first += dem::kSolidsPerPass) {
    const dem::SolidSums sums = reduce<dem::JoinSolidSums>(
        device_, "push solids", static_cast<std::int64_t>(lists.wall_solid.size),
        dem::PushSolids{std::as_const(spheres_).view(), lists, std::as_const(wall_force_).view(),
                        std::as_const(wall_torque_).view(), static_cast<std::uint32_t>(first)});
    for (std::size_t s = 0; s < dem::kSolidsPerPass && first + s < out.linear.size(); ++s) {
      const std::size_t solid = first + s;
      const Vec3d force = sums.force[s];
      const Vec3d torque = sums.moment[s] - cross(next.bodies[solid].position, force);
      for (int axis = 0; axis < 3; ++axis) {
        out.linear[solid][axis] = share(solid, ".force_", axis, force[axis]);
        out.angular[solid][axis] = share(solid, ".torque_", axis, torque[axis]);
      }
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
  for (const Buffer<Float4>* contacts : {&pair_turn_, &wall_torque_}) {
    more.potential +=
        reduce<Sum<double>>(device_, "ledger: sums", static_cast<std::int64_t>(contacts->size()),
                            dem::StoredEnergy{contacts->view()});
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
