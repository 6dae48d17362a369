// The stages of the step: which kernel runs over what.
//
// The lists of contacts and what contacts remember live in the State as kept arrays, because sums
// follow their order: a resumed or repeated step has to find them as they were.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

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
inline constexpr const char* kSpheres = "dem.spheres";         // of the grains
// What Kick foresees (Summary), for a step as long as the last one.
inline constexpr const char* kAhead = "dem.ahead";
inline constexpr const char* kPace = "dem.pace";
inline constexpr const char* kLastStep = "dem.last_step";  // [s]

// Steps in an impact at the largest speed. A contact begins somewhere within a step, which shifts
// the rebound the more, the more suddenly damping begins.
inline double impact_steps(Normal law) {
  return law == Normal::hertz_half ? 20.0 : 40.0;
}
inline constexpr double kStiffSteps = 8.0;   // in half an oscillation of the stiffest contact
inline constexpr double kShearShare = 0.15;  // k_t dt / m_eff of (18); 4/7 is unstable

inline double scalar(const State& state, const std::string& name) {
  const auto found = state.scalars.find(name);
  return found == state.scalars.end() ? 0.0 : found->second;
}

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
      outcome_(device),
      cover_offsets_(device),
      cover_part_(device),
      cover_place_(device),
      is_covered_(device),
      poses_(device),
      pieces_(device),
      piece_sums_(device),
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
  std::vector<dem::Piece> pieces;
  for (std::size_t p = 0; p < covered_.parts.size(); ++p) {
    const auto first = static_cast<std::uint32_t>(covered_.parts[p].first);
    const std::uint32_t end = first + static_cast<std::uint32_t>(covered_.parts[p].count);
    for (std::uint32_t at = first; at < end; at += dem::kPieceSpheres) {
      pieces.push_back({static_cast<std::uint32_t>(p), at, std::min(at + dem::kPieceSpheres, end)});
    }
  }
  pieces_.upload(pieces);
  piece_sums_.resize(pieces.size());
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
// contacts that a grain has.
template <class Device>
double DemSolver<Device>::suggest_dt(const State& now) const {
  if (is_set(params_.dt)) return params_.dt;
  const double speed = std::max(fastest(now), 0.01 * params_.reference_speed);
  const double contacts = std::max(1.0, dem::scalar(now, "dem.contacts"));
  const double load = body_load(now);
  const double steps = dem::impact_steps(laws_.model.normal);
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
    const double deepest =
        std::max(impact * speed / 2.943275, dem::scalar(now, "dem.deepest") * 2.0 * of.R);
    const double stiffness = 1.5 * k_r * std::sqrt(deepest);
    const double half = kPi * std::sqrt(of.m / stiffness);
    dt = std::min({dt, impact / steps, half / (dem::kStiffSteps * std::sqrt(contacts))});
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

// Nobody was born or left since the lists were made.
template <class Device>
bool DemSolver<Device>::same_grains(const State& now) const {
  return dem::kept_numbers(now, dem::kSphereStart).size == now.size() + 1 &&
         now.scalars.contains(dem::kSpheres) &&
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
void DemSolver<Device>::drift(const State& now, double dt, State& next) {
  const View3<float> x = next.write_position(), low = next.write_vectors("position_low"),
                     v = next.write_velocity(), w = next.write_vectors("angular_velocity");
  const View4<float> q = compound_ ? next.write_orientations("orientation") : View4<float>{};
  const View<float> turned = compound_ ? next.write_numbers<float>("turned") : View<float>{};
  // A resumed run has lists before it has spheres.
  dem::PlaceSpheres place{};
  if (!fresh_) {
    const auto spheres = static_cast<std::size_t>(dem::scalar(now, dem::kSpheres));
    if (spheres_.resize(spheres + covered_.spheres.size())) covering_placed_ = false;
    place = placing(next);
  }
  for_each(device_, "drift", static_cast<std::int64_t>(now.size()),
           dem::Drift{now.position(),
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
                      place});
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

// A bound on how far any point of any solid goes in this step [m].
template <class Device>
double DemSolver<Device>::solids_moved(const State& now, const State& next) const {
  double farthest = 0.0;
  for (std::size_t s = 0; s < setup_.solids.size(); ++s) {
    if (setup_.solids[s].drive == SolidDrive::fixed) continue;
    const BodyState &from = now.bodies[s], &to = next.bodies[s];
    const double turn = length(rotation_vector(from.orientation, to.orientation));
    double way = length(to.position - from.position);
    if (turn > 0.0) way += turn * known_[s].reach;
    farthest = std::max(farthest, way);
  }
  return farthest;
}

// The same grains, and none will come farther than the lists look. In a shorter step than the last
// one grains go less far, but for what gravity and contacts bend their ways: far less than the
// hundredth of the skin that is kept back.
template <class Device>
bool DemSolver<Device>::lists_hold(const State& now, double dt, State& next) const {
  double& path = next.scalars[dem::kSolidPath];
  path += solids_moved(now, next);
  if (!same_grains(now)) return false;
  const double longer = std::max(0.0, dt - dem::scalar(now, dem::kLastStep));
  const double moved =
      dem::scalar(now, dem::kAhead) + 2.0 * longer * dem::scalar(now, dem::kPace) + 0.005 * skin_;
  return 2.0 * moved < skin_ && moved + path < skin_ && !(covered_.meet && 2.0 * path >= skin_);
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

// Who is near whom: rows sorted by cells, grains near grains, and spheres of coverings near both.
// One frame holds them all.
template <class Device>
dem::NearCovering DemSolver<Device>::find_near(State& next) {
  const double bridges = laws_.model.coheres ? params_.cohesion_range * sphere_radius_ : 0.0;
  const double largest = std::max(grain_radius_ + 0.5 * bridges, covered_.largest);
  const auto radius = static_cast<float>(2.0 * largest + skin_);
  if (covered_.parts.empty()) {
    cells_.sort(next.position(), radius);
    next.reorder(cells_.order());
    near_.build(cells_.cells(), next.position(), radius);
    return {};
  }
  const std::size_t spheres = covered_.spheres.size();
  cover_x_.resize(spheres);
  for_each(device_, "lists: coverings", static_cast<std::int64_t>(spheres),
           dem::CoveringCentres{cover_offsets_.view(), cover_part_.view(), poses_.view(),
                                cover_x_.view()});
  const View3<const float> cover_x = std::as_const(cover_x_).view();
  const Bounds all =
      JoinBounds::combine(bounds_of(device_, next.position()), bounds_of(device_, cover_x));
  const CellFrame frame = frame_around({all, 0.5 * (Vec3d(all.lo) + Vec3d(all.hi))}, radius);
  cells_.sort(next.position(), frame, spheres);
  next.reorder(cells_.order());
  near_.build(cells_.cells(), next.position(), radius);
  cover_cells_.sort(cover_x, frame, next.size());
  permute(device_, cover_x, cover_cells_.order(), cover_sorted_);
  const View3<const float> sorted = std::as_const(cover_sorted_).view();
  near_covering_.build(cells_.cells(), next.position(), cover_cells_.cells(), sorted, radius);
  near_grains_.build(cover_cells_.cells(), sorted, cells_.cells(), next.position(), radius);
  if (covered_.meet) near_each_other_.build(cover_cells_.cells(), sorted, radius);
  cover_place_.resize(spheres);
  for_each(device_, "lists: coverings", static_cast<std::int64_t>(spheres),
           dem::Invert{cover_cells_.order(), cover_place_.view()});
  return {near_covering_.view(),
          near_grains_.view(),
          covered_.meet ? near_each_other_.view() : Neighbours{},
          cover_cells_.order(),
          std::as_const(cover_place_).view(),
          std::as_const(poses_).view(),
          static_cast<std::uint32_t>(next.size()),
          0,
          covered_.meet};
}

template <class Device>
void DemSolver<Device>::find_contacts(const State& now, const SolidsView& solids, State& next) {
  next.scalars[dem::kSolidPath] = 0.0;
  next.scalars[dem::kBornBefore] = static_cast<double>(next.next_id);
  dem::NearCovering covering = find_near(next);

  const auto n = static_cast<std::int64_t>(next.size());
  counts_.resize(next.size() + 1);
  for_each(device_, "lists", n + 1,
           dem::CountSpheres{next.material(), types().types, counts_.view()});
  std::uint32_t of_grains = 0;
  count_list("lists", next, dem::kSphereStart, next.size(), of_grains);
  next.scalars[dem::kSpheres] = of_grains;
  covering.first = of_grains;
  spheres_.resize(of_grains + covered_.spheres.size());
  for_each(device_, "lists", n, placing(next));
  place_covering(next, false);
  list_pairs(covering, next);
  list_walls(solids, next);
  if (history_) remember(now, next);
  for_each(device_, "lists", n,
           dem::NoteRows{next.position(), next.write_vectors("listed_position"),
                         next.write_numbers<std::uint32_t>("listed_row"),
                         compound_ ? next.write_numbers<float>("turned") : View<float>{}});
}

template <class Device>
void DemSolver<Device>::list_pairs(const dem::NearCovering& covering, State& next) {
  const View<const dem::Sphere> spheres = std::as_const(spheres_).view();
  const auto sphere_start = dem::kept_numbers(next, dem::kSphereStart);
  const auto reach = static_cast<float>(skin_);
  const auto bridge = static_cast<float>(laws_.model.coheres ? params_.cohesion_range : 0.0);
  const Neighbours near = near_.view();
  const dem::GrainBounds grains{next.position(), next.numbers<float>("scale")};
  // A little more than any pair has, so that rounding never loses one of its two sides
  const auto farthest =
      static_cast<float>(1.01 * skin_ + static_cast<double>(bridge) * sphere_radius_);
  const auto m = static_cast<std::int64_t>(spheres.size);
  std::uint32_t pairs = 0, backs = 0;
  counts_.resize(spheres.size + 1);
  for_each(device_, "lists", m + 1,
           dem::ListPairs<false>{spheres,
                                 near,
                                 covering,
                                 grains,
                                 sphere_start,
                                 reach,
                                 bridge,
                                 counts_.view(),
                                 {},
                                 {},
                                 {}});
  const auto pair_start = count_list("lists", next, dem::kPairStart, spheres.size, pairs);
  const View<std::uint32_t> other = dem::keep_numbers(next, dem::kPairOther, pairs);
  for_each(device_, "lists", m,
           dem::ListPairs<true>{spheres,
                                near,
                                covering,
                                grains,
                                sphere_start,
                                reach,
                                bridge,
                                {},
                                pair_start,
                                dem::keep_numbers(next, dem::kPairFirst, pairs),
                                other});

  for_each(device_, "lists", m + 1,
           dem::ListBacks<false>{spheres,
                                 near,
                                 covering,
                                 grains,
                                 farthest,
                                 sphere_start,
                                 pair_start,
                                 other,
                                 counts_.view(),
                                 {},
                                 {}});
  const auto back_start = count_list("lists", next, dem::kBackStart, spheres.size, backs);
  for_each(device_, "lists", m,
           dem::ListBacks<true>{spheres,
                                near,
                                covering,
                                grains,
                                farthest,
                                sphere_start,
                                pair_start,
                                other,
                                {},
                                back_start,
                                dem::keep_numbers(next, dem::kBackPair, backs)});
}

template <class Device>
void DemSolver<Device>::list_walls(const SolidsView& solids, State& next) {
  const View<const dem::Sphere> spheres = std::as_const(spheres_).view();
  const View<const std::uint8_t> covered = std::as_const(is_covered_).view();
  const View<const dem::PartPose> poses = std::as_const(poses_).view();
  const auto reach = static_cast<float>(skin_);
  const auto m = static_cast<std::int64_t>(spheres.size);
  std::uint32_t walls = 0;
  near_wall_.resize(next.size());
  const View<const std::uint8_t> near = std::as_const(near_wall_).view();
  for_each(device_, "lists: walls", static_cast<std::int64_t>(next.size()),
           dem::NearWalls{next.position(), next.numbers<float>("scale"), solids, covered, reach,
                          near_wall_.view()});
  for_each(device_, "lists: walls", m + 1,
           dem::ListWalls<false>{
               spheres, solids, covered, poses, near, reach, counts_.view(), {}, {}, {}});
  const auto wall_start = count_list("lists: walls", next, dem::kWallStart, spheres.size, walls);
  for_each(device_, "lists: walls", m,
           dem::ListWalls<true>{spheres,
                                solids,
                                covered,
                                poses,
                                {},
                                reach,
                                {},
                                wall_start,
                                dem::keep_numbers(next, dem::kWallSolid, walls),
                                dem::keep_numbers(next, dem::kWallSphere, walls)});
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
  const double most = dem::kShearShare / dt;
  const double wanted = is_set(params_.shear_viscosity) ? params_.shear_viscosity : most;
  model.viscous = static_cast<float>(std::min(most, wanted));
  model.rolling = static_cast<float>(most);
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
  const auto kinds = static_cast<std::uint32_t>(setup_.materials.size() + covered_.parts.size());
  const auto row = kinds + static_cast<std::uint32_t>(setup_.solids.size());
  const dem::LawTable table{model(dt), std::as_const(pair_laws_).view(), row, kinds};
  const View<const dem::Sphere> spheres = std::as_const(spheres_).view();
  const auto step = static_cast<float>(dt);
  push_pairs(device_, static_cast<std::int64_t>(pairs),
             dem::PushPairs<kHistory>{table, spheres, lists, step, shear, next_shear,
                                      pair_force_.view(), pair_turn_.view(), pair_roll_.view()},
             block_sums());
  for_each(device_, "contacts: walls", static_cast<std::int64_t>(entries),
           dem::PushAtWalls<kHistory>{table, spheres, lists, solids, step, walls, next_walls,
                                      wall_force_.view(), wall_torque_.view()});
}

template <class Device>
void DemSolver<Device>::push(const State& now, const SolidsView& solids, double dt, State& next) {
  const dem::Lists lists = this->lists(next);
  for (auto* buffer : {&pair_force_, &pair_turn_}) buffer->resize(lists.pair_other.size);
  for (auto* buffer : {&wall_force_, &wall_torque_}) buffer->resize(lists.wall_solid.size);
  block_bits_ = dem::block_bits(device_, spheres_.size());
  if (block_bits_ > 0) {
    for (auto* buffer : {&block_force_, &block_torque_}) buffer->resize(spheres_.size());
    const std::size_t block = std::size_t{1} << block_bits_;
    block_deepest_.resize((spheres_.size() + block - 1) / block);
  }
  if (laws_.model.rolls) pair_roll_.resize(lists.pair_other.size);
  if (history_) {
    push_by<true>(now, solids, dt, next);
  } else {
    push_by<false>(now, solids, dt, next);
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
void DemSolver<Device>::kick(double dt, State& next) {
  const View3<float> v = next.rewrite_vectors("velocity");
  const View3<float> w = next.rewrite_vectors("angular_velocity");
  outcome_.resize(setup_.solids.size() / dem::kSolidsPerPass + 1);
  reduce_to<dem::JoinSummary>(
      device_, "kick", static_cast<std::int64_t>(next.size()),
      dem::Kick{forces(next), next.position(), next.vectors("position_low"), turns(next),
                next.numbers<float>("scale"), next.numbers<float>("mass"), next.material(),
                types().types, next.vectors("listed_position"),
                compound_ ? next.numbers<float>("turned") : View<const float>{},
                Vec3(setup_.gravity), static_cast<float>(dt), v, w,
                lopsided_ ? next.rewrite_vectors("angular_momentum") : View3<float>{},
                next.write_vectors("force"), next.write_vectors("torque")},
      &outcome_.data()->met);
}

// Forces on the solids that are met by their distance, and their moments about the world's origin:
// on the device, a few solids a pass.
template <class Device>
void DemSolver<Device>::sum_walls(const State& next) {
  const dem::Lists lists = this->lists(next);
  for (std::size_t pass = 0; pass * dem::kSolidsPerPass < setup_.solids.size(); ++pass) {
    const std::size_t first = pass * dem::kSolidsPerPass;
    reduce_to<dem::JoinSolidSums>(
        device_, "push solids", static_cast<std::int64_t>(lists.wall_solid.size),
        dem::PushSolids{std::as_const(spheres_).view(), lists, std::as_const(wall_force_).view(),
                        std::as_const(wall_torque_).view(), static_cast<std::uint32_t>(first)},
        &outcome_.data()[pass].solids);
  }
}

// What the device has summed, fetched.
template <class Device>
dem::Summary DemSolver<Device>::fetch(std::vector<dem::Wrench>& wrenches) {
  const std::vector<dem::Outcome> passes = outcome_.download();
  for (std::size_t s = 0; s < wrenches.size(); ++s) {
    const dem::SolidSums& sums = passes[s / dem::kSolidsPerPass].solids;
    wrenches[s] = {sums.force[s % dem::kSolidsPerPass], sums.moment[s % dem::kSolidsPerPass]};
  }
  dem::Summary met = passes.front().met;
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
  const std::vector<dem::PieceSums> sums = piece_sums_.download();
  std::size_t at = 0;
  std::vector<double> contacts(wrenches.size(), 0.0);
  for (const dem::CoveredPart& part : covered_.parts) {
    const std::size_t end = at + (part.count + dem::kPieceSpheres - 1) / dem::kPieceSpheres;
    for (; at < end; ++at) {
      wrenches[part.solid].force += sums[at].force;
      wrenches[part.solid].moment += sums[at].moment;
      contacts[part.solid] += sums[at].contacts;
      met.deepest = std::max(met.deepest, sums[at].deepest);
    }
    if (part.dynamic()) next.scalars[known_[part.solid].contacts] = contacts[part.solid];
  }
}

// Over a step of velocity Verlet grains get dt/2 times the forces at its beginning and at its end;
// so do bodies: at the end here, and at the next step's beginning by push_first(). Solids that do
// not give way are told of it all at once.
template <class Device>
dem::Summary DemSolver<Device>::push_solids(double dt, State& next, BodyImpulses& out) {
  std::vector<dem::Wrench> wrenches(out.linear.size());
  sum_walls(next);
  for_each(device_, "push solids", static_cast<std::int64_t>(pieces_.size()),
           dem::PushCovering{forces(next), std::as_const(pieces_).view(),
                             static_cast<std::uint32_t>(spheres_.size() - covered_.spheres.size()),
                             piece_sums_.view()});
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
  const auto stored = [&](const Buffer<Float4>& force, const Buffer<Float4>& torque, bool all) {
    more.potential +=
        reduce<Sum<double>>(device_, "ledger: sums", static_cast<std::int64_t>(torque.size()),
                            dem::StoredEnergy{force.view(), torque.view(), all});
  };
  if (block_bits_ > 0) {
    stored(block_force_, block_torque_, true);
  } else {
    stored(pair_force_, pair_turn_, laws_.model.coheres);
  }
  stored(wall_force_, wall_torque_, true);
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
