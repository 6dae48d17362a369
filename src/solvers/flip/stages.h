// The stages of the FLIP step: which kernel runs over what.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "compute/reduce_ops.h"
#include "solvers/flip/extension_kernels.h"
#include "solvers/flip/flip_solver.h"
#include "solvers/flip/motion_kernels.h"
#include "solvers/flip/spread_kernels.h"
#include "spatial/cells.h"

namespace barchan {

inline bool is_sand(const MaterialParams& material) {
  return material.friction_angle > 0.0 || material.cohesion > 0.0;
}

template <class Device>
FlipSolver<Device>::FlipSolver(Device& device, const SolverSetup& setup, const FlipParams& params)
    : device_(device),
      setup_(setup),
      params_(params),
      sand_(std::any_of(setup.materials.begin(), setup.materials.end(), is_sand)),
      transfer_(params.transfer != "auto" ? params.transfer : (sand_ ? "apic" : "flip")),
      tiles_(device),
      from_(device),
      u_(device),
      change_(device),
      shift_(device),
      scratch_(device),
      fill_(device),
      depth_(device),
      distance_(device),
      kind_(device),
      next_kind_(device),
      motion_(device),
      side_(device),
      solids_near_(device),
      closed_(device),
      wall_(device),
      octants_(device),
      fractions_(device),
      open_(device),
      speed_(device),
      contacts_(device, setup.solids),
      poisson_(device),
      face_(device),
      anchor_(device),
      b_(device),
      q_(device),
      crowd_(device),
      near_(device),
      cell_layers_(device),
      face_layers_(device),
      stuff_of_(device),
      lightness_(device),
      inner_friction_(device),
      cohesion_(device),
      friction_(device),
      pushed_(device),
      blend_(device),
      haste_(device),
      signs_(device, 1) {
  std::vector<flip::Stuff> table;
  const MaterialParams& first = setup.materials.front();
  for (const MaterialParams& m : setup.materials) {
    const flip::Strength strength = flip::strength_of(m, params.yield);
    table.push_back({static_cast<float>(first.density / m.density),
                     static_cast<float>(strength.friction), static_cast<float>(strength.cohesion)});
    mixed_ = mixed_ || m.density != first.density || m.friction_angle != first.friction_angle ||
             m.cohesion != first.cohesion;
  }
  stuff_of_.upload(table);
  const auto sand = std::find_if(setup.materials.begin(), setup.materials.end(), is_sand);
  if (sand_) strength_ = flip::strength_of(*sand, params.yield);
  for (const Solid& solid : setup.solids) {
    const Aabb box = bounds(solid.shape);
    const Vec3d far = max(max(box.hi, -box.lo), Vec3d());
    if (solid.drive != SolidDrive::fixed) moving_ |= flip::bit_of_solid(reach_of_.size());
    reach_of_.push_back(box.is_bounded() ? length(far) : 1e30);
  }
}

template <class Device>
std::vector<ColumnSpec> FlipSolver<Device>::columns() const {
  std::vector<ColumnSpec> columns{{"pressure", Type::f32, 1, true}};
  if (affine()) {
    for (const char* row : {"affine_x", "affine_y", "affine_z"}) {
      columns.push_back({row, Type::f32, 3, false});
    }
  }
  return columns;
}

// So that no particle moves more than cfl cells, those included that fall, or are pressed out from
// under others that do: v dt + 3 g dt^2 = cfl dx.
template <class Device>
double FlipSolver<Device>::suggest_dt(const State& now) const {
  const double way = params_.cfl * static_cast<double>(size());
  const double v = now.max_speed, g = 3.0 * length(setup_.gravity);
  const double dt =
      g > 0.0 ? 2.0 * way / (v + std::sqrt(v * v + 4.0 * g * way)) : way / std::max(v, 1e-12);
  return std::min(dt, params_.dt_max);
}

// ---- Grid and solids

template <class Device>
void FlipSolver<Device>::lay_grid(const State& now, double dt, State& next) {
  constexpr int kMost = 6;  // and two cells more that its velocity is read from
  const double way =
      (now.max_speed + 3.0 * length(setup_.gravity) * dt) * dt / static_cast<double>(size());
  most_ = std::min(kMost, static_cast<int>(std::ceil(1.25 * way)) + 1);
  tiles_.build(now.position(), size(), most_ + 2);
  next.reorder(tiles_.order(), {"position", "pressure"});
  permute(device_, now.position(), tiles_.order(), from_);
  signs_.clear_to_zero();
  solves_.clear();
  if (!setup_.solids.empty()) fractions_.turn_page(octants_, wall_);
  const auto all = static_cast<std::size_t>(cells());
  for (flip::FaceBuffer* faces : {&u_, &change_, &shift_, &scratch_, &face_, &open_}) {
    faces->resize(all);
  }
  for (Buffer<float>* field : {&fill_, &depth_, &distance_, &wall_, &anchor_, &b_, &q_, &crowd_}) {
    field->resize(all);
  }
  kind_.resize(all);
  octants_.resize(all);
  closed_.resize(all);
  for_each(device_, "clear", cells(),
           flip::ClearGrid{{u_.view(), change_.view(), shift_.view(), face_.view()},
                           open_.view(),
                           {fill_.view(), anchor_.view(), b_.view(), q_.view(), crowd_.view()},
                           depth_.view(),
                           {distance_.view(), wall_.view()},
                           kind_.view(),
                           octants_.view(),
                           closed_.view()});
  near_.template build<GrowSetAround>("near", tiles_.view(), flip::HasParticles{tiles_.view()}, 2);
}

template <class Device>
void FlipSolver<Device>::particles_to_grid(State& next) {
  flip::AffineView c;
  if (affine()) c = {next.vectors("affine_x"), next.vectors("affine_y"), next.vectors("affine_z")};
  flip::to_faces(device_,
                 flip::ToFaces{tiles_.view(), std::as_const(from_).view(), next.velocity(), c,
                               u_.view(), fill_.view()},
                 near_.within(1));
}

// No point of a solid moves farther from one pose to another [m].
inline double way_of(const BodyState& from, const BodyState& to, double reach) {
  const double cosine = std::min(1.0, std::abs(dot(from.orientation, to.orientation)));
  const double turn = 2.0 * std::acos(cosine);
  const double turning = turn > 1e-7 ? turn * reach : 0.0;
  return length(to.position - from.position) + turning;
}

// Solids move as they will during this step; one that the liquid pushes, as it will on the mean of
// the next one: with what it has, and half of gravity's pull in that time.
template <class Device>
void FlipSolver<Device>::look_at_solids(const State& now, const State& next,
                                        const SolidsView& solids, double dt) {
  walls_ = solids.count > 0;
  if (!walls_) return;
  motions_.clear();
  walls_move_ = false;
  solids_way_ = 0.0f;
  for (std::size_t s = 0; s < now.bodies.size(); ++s) {
    const BodyState &from = now.bodies[s], &to = next.bodies[s];
    const bool dynamic = setup_.solids[s].drive == SolidDrive::dynamic;
    const Vec3d velocity = dynamic ? to.velocity + 0.5 * dt * setup_.gravity
                                   : (1.0 / dt) * (to.position - from.position);
    motions_.push_back(
        {Vec3(dynamic ? to.position : from.position), Vec3(velocity), Vec3(to.angular_velocity)});
    if (setup_.solids[s].drive == SolidDrive::fixed) continue;
    walls_move_ = true;
    solids_way_ = max(solids_way_, static_cast<float>(way_of(from, to, reach_of_[s])));
  }
  motion_.upload(motions_);

  const TileView tiles = tiles_.view();
  side_.resize(tiles.number.size);
  solids_near_.resize(tiles.number.size);
  const View<const std::uint8_t> side = std::as_const(side_).view();
  for_each(device_, "solids", static_cast<std::int64_t>(tiles.number.size),
           flip::SideOfTiles{tiles, solids, side_.view(), solids_near_.view()});
  solids_ = {solids, walls_move_ ? std::as_const(motion_).view() : View<const flip::SolidMotion>{},
             std::as_const(solids_near_).view()};
  const flip::ConstFaceView found = fractions_.find(tiles, solids_, side, moving_, near_.within(2),
                                                    octants_.view(), wall_.view());
  for_each_of(device_, "solids", near_.within(2),
              flip::CloseSlivers{tiles, side, std::as_const(octants_).view(), found, open_.view(),
                                 closed_.view()});
  if (walls_move_) find_wall_speeds();
}

template <class Device>
void FlipSolver<Device>::find_wall_speeds() {
  speed_.resize(static_cast<std::size_t>(cells()));
  for_each_of(device_, "solids", near_.within(2),
              flip::SolidFaceSpeeds{tiles_.view(), solids_, open_.read(), speed_.view()});
}

template <class Device>
flip::ConstFaceView FlipSolver<Device>::open() const {
  return walls_ ? open_.read() : flip::ConstFaceView{};
}

template <class Device>
View<const bool> FlipSolver<Device>::closed() const {
  return walls_ ? closed_.view() : View<const bool>{};
}

template <class Device>
flip::StuffView FlipSolver<Device>::stuff() const {
  if (!mixed_) return {};
  return {lightness_.view(), inner_friction_.view(), cohesion_.view()};
}

template <class Device>
void FlipSolver<Device>::find_stuff(const State& next) {
  if (!mixed_) return;
  for (Buffer<float>* field : {&lightness_, &inner_friction_, &cohesion_}) {
    field->resize(static_cast<std::size_t>(cells()));
  }
  for_each_of(device_, "materials", near_.within(2),
              flip::StuffOfCells{tiles_.view(), next.material(), std::as_const(stuff_of_).view(),
                                 lightness_.view(), inner_friction_.view(), cohesion_.view()});
}

template <class Device>
void FlipSolver<Device>::mark_liquid() {
  const View<const float> wall = walls_ ? std::as_const(wall_).view() : View<const float>{};
  const double g = length(setup_.gravity);
  const Vec3 up = g > 0.0 ? Vec3(-1.0 / g * setup_.gravity) : Vec3();
  for_each_of(device_, "liquid", near_.within(1),
              flip::Depths{tiles_.view(), sand_ ? 0.5f : flip::Depths::kLeastShare, wall,
                           std::as_const(octants_).view(), fill_.view(), depth_.view()});
  for_each_of(device_, "liquid", near_.within(1),
              flip::MarkLiquid{tiles_.view(), closed(), open(), std::as_const(depth_).view(), up,
                               kind_.view(), distance_.view()});
  poisson_.expect(tiles_.view(), std::as_const(kind_).view());
  if (!walls_) return;
  for_each_of(device_, "liquid", near_.within(1),
              flip::SetNooks{std::as_const(distance_).view(), depth_.view()});
}

// Velocities stand in the middle between positions: the one that the particles move with from here
// on is half of the last step and half of this one later than the one that they came with.
template <class Device>
void FlipSolver<Device>::add_forces(const State& now, double dt) {
  kick_ = 0.5 * (now.last_dt + dt);
  // Bodies are asked for their speed in the middle of the next step. From one middle to the next it
  // is as long for them as for the water, but for the first step.
  body_span_ = now.last_dt > 0.0 ? 1.0 : 1.5 * dt / kick_;
  for_each_of(device_, "forces", near_.within(2),
              flip::AddForces{Vec3(kick_ * setup_.gravity), u_.view(), change_.view()});
}

// ---- Pressure

template <class Device>
flip::Surface FlipSolver<Device>::surface() const {
  return {kind_.view(), depth_.view()};
}
template <class Device>
flip::OutFlow FlipSolver<Device>::out_flow() const {
  return {tiles_.view(),
          u_.read(),
          open(),
          walls_ && walls_move_ ? speed_.read() : flip::ConstFaceView{},
          sand_ ? fill_.view() : View<const float>{},
          cell_per_step_,
          stuff()};
}

template <class Device>
void FlipSolver<Device>::set_up_equations(const State& next, bool again) {
  if (contacts_.dynamic() > 0) list_contacts(next);
  for_each_of(
      device_, "equations", near_.within(2),
      flip::Equations{tiles_.view(), surface(), open(), stuff(), face_.view(), anchor_.view()});
  for_each_of(device_, "equations", near_.within(2),
              flip::RightSide{std::as_const(kind_).view(), out_flow(), b_.view()});
  const flip::ConstFaceView face = face_.read();
  const PoissonMatrix matrix{face.of[0], face.of[1], face.of[2], std::as_const(anchor_).view()};
  const PoissonBodies bodies = contacts_.dynamic() > 0
                                   ? contacts_.bodies(next.bodies, body_span_ * cell_mass())
                                   : PoissonBodies{};
  if (again) {
    poisson_.change(matrix, bodies);  // cells that were let go are as air to those beside them
  } else {
    poisson_.prepare(tiles_.view(), matrix, bodies);
  }
}

// With walls that only push, and sand that does not pull: a first look at the pressure tells which
// cells part from others.
template <class Device>
void FlipSolver<Device>::find_pressure(const State& next, double dt, bool again, bool last) {
  constexpr int kMostIterations = 200;
  constexpr double kGlance = 0.01, kRelative = 1e-6;
  const double per_step = static_cast<double>(size()) / dt;  // one cell a step [m/s]
  // A pull that is let pass: sand in free flight has many steps to feel it.
  const double pull = sand_ ? 1e-4 : 1e-3;
  const double enough = params_.tolerance * per_step;
  const auto solve = [&](double tolerance, auto part) {
    solves_.push_back(poisson_.solve_later(std::as_const(b_).view(), q_.view(), tolerance,
                                           kMostIterations, enough, part));
  };
  set_up_equations(next, again);
  const int looks = sand_ ? 2 : (walls_ ? 1 : 0);
  for (int k = 0; k < looks; ++k) {
    solve(kGlance, poisson_.kWhole);
    if (!separate(pull * per_step)) break;
    set_up_equations(next, true);
  }
  const bool beside = last && poisson_.has_room_beside();
  if (beside) begin_crowding(dt);
  solve(kRelative, beside ? poisson_.kBeside : poisson_.kWhole);
}

template <class Device>
void FlipSolver<Device>::subtract_gradient() {
  const flip::Difference difference{tiles_.view(), surface(), std::as_const(q_).view(), stuff()};
  for_each_of(device_, "project", near_.within(2),
              flip::SubtractGradient{difference, open(), u_.view()});
}

template <class Device>
void FlipSolver<Device>::solve_pressure(const State& next, double dt) {
  cell_per_step_ = static_cast<float>(static_cast<double>(size()) / dt);
  find_pressure(next, dt, false, true);
  subtract_gradient();
  measure_divergence();
}

template <class Device>
void FlipSolver<Device>::measure_divergence() {
  reduce_to<Largest<float>>(device_, "project", cells(),
                            flip::LargestOutFlow{std::as_const(kind_).view(), out_flow()},
                            &signs_.data()->out_flow);
}

template <class Device>
bool FlipSolver<Device>::separate(double least) {
  next_kind_.resize(kind_.size());
  const flip::Difference difference{tiles_.view(), surface(), std::as_const(q_).view(), stuff()};
  const flip::Separate separate{tiles_.view(),
                                open(),
                                std::as_const(q_).view(),
                                out_flow(),
                                difference,
                                static_cast<float>(least),
                                sand_,
                                std::as_const(kind_).view(),
                                next_kind_.view()};
  kind_.swap(next_kind_);
  // Some cell of water nearly always does: to be told so takes a GPU longer than to go on.
  if (!device_.on_host() && !sand_) {
    for_each(device_, "separate", cells(), separate);
    return true;
  }
  return reduce<Sum<std::uint32_t>>(device_, "separate", cells(), separate) > 0;
}

// ---- Sand

template <class Device>
double FlipSolver<Device>::per_pascal() const {
  return kick_ / (setup_.materials.front().density * static_cast<double>(size()));
}

template <class Device>
flip::Rest FlipSolver<Device>::rest() const {
  const double g = length(setup_.gravity), dx = static_cast<double>(size());
  return {static_cast<float>(flip::kPressurePad * kick_ * g),
          g > 0.0 ? static_cast<float>(1.0 / (g * dx)) : 0.0f};
}

template <class Device>
flip::YieldRadius FlipSolver<Device>::yield() const {
  return {static_cast<float>(strength_.friction), static_cast<float>(strength_.cohesion),
          static_cast<float>(per_pascal()), rest(), stuff()};
}

template <class Device>
flip::FrictionGrid FlipSolver<Device>::friction_grid() {
  return {tiles_.view(),
          std::as_const(kind_).view(),
          std::as_const(depth_).view(),
          closed(),
          open(),
          std::as_const(octants_).view(),
          std::as_const(wall_).view(),
          solids_,
          std::as_const(motion_).view(),
          change_.read(),
          rest(),
          Vec3(kick_ * setup_.gravity),
          static_cast<float>(strength_.friction),
          stuff(),
          near_.within(2)};
}

// Pressure and friction together: each is found with the other as it was, in turns, and in the end
// the pressure makes the flow free of divergence once more. In the first steps nothing is known of
// the stresses yet.
template <class Device>
void FlipSolver<Device>::solve_friction(const State& now, const State& next, double dt) {
  constexpr double kTolerance = 3e-3;  // of the change in an iteration, in units of rho g dx
  constexpr int kColdSteps = 2, kColdIterations = 2000;
  if (params_.friction == "paper") return solve_paper_friction(now, next, dt);
  const bool coupled = params_.friction == "coupled";
  const int turns = coupled ? 2 : 1;
  // A first turn makes way for the last one: it may be rougher.
  const auto most = [&](int turn) {
    if (now.step < kColdSteps) return kColdIterations;
    return !coupled ? 20 : (turn + 1 < turns ? 48 : 60);
  };
  const double g_dt = kick_ * length(setup_.gravity);
  const double enough = kTolerance * static_cast<double>(flip::FindPace::kPace) * g_dt;
  flip::YieldRadius yield = this->yield();
  if (g_dt > 0.0) {
    haste_.resize(static_cast<std::size_t>(cells()));
    for_each(device_, "friction", cells(),
             flip::FindHaste{tiles_.view(), change_.read(), yield.rest, haste_.view()});
    yield.haste = std::as_const(haste_).view();
    yield.eases = params_.yield == "slope";
  }
  cell_per_step_ = static_cast<float>(static_cast<double>(size()) / dt);

  friction_.begin(friction_grid(), now, per_pascal());
  friction_.recall_pressure(friction_grid(), now, per_pascal(), q_.view());
  blend_.resize(q_.size());
  device_.copy(blend_.data(), q_.data(), q_.size() * sizeof(float));
  pushed_.resize(static_cast<std::size_t>(cells()));
  const auto copy = [&](const flip::FaceBuffer& from, flip::FaceBuffer& to) {
    for_each(device_, "friction", cells(), flip::CopyFaces{from.read(), to.view()});
  };
  copy(u_, pushed_);
  for (int turn = 0; turn < turns; ++turn) {
    friction_.add(friction_grid(), pushed_.read(), u_.view());
    find_pressure(next, dt, turn > 0, false);
    copy(pushed_, u_);
    subtract_gradient();
    for_each(
        device_, "friction", cells(),
        flip::BlendPressure{std::as_const(kind_).view(), std::as_const(q_).view(), blend_.view()});
    if (contacts_.dynamic() > 0) {  // friction meets bodies as the pressure moves them
      move_on(next, pushes(std::as_const(q_).view()));
      friction_.list_walls(friction_grid());
    }
    friction_.relax(friction_grid(), std::as_const(blend_).view(), yield, u_.read(), enough,
                    most(turn));
  }
  copy(pushed_, u_);
  friction_.add(friction_grid(), pushed_.read(), u_.view());
  find_pressure(next, dt, true, true);
  subtract_gradient();
  measure_divergence();
}

// ---- Solids that the pressure pushes

template <class Device>
double FlipSolver<Device>::cell_mass() const {
  const double dx = static_cast<double>(size());
  return setup_.materials.front().density * dx * dx * dx;
}

template <class Device>
flip::CellContacts FlipSolver<Device>::contacts_of_cells() const {
  return {{tiles_.view(), kind_.view(), side_.view(), open()},
          solids_,
          motion_.view(),
          octants_.view(),
          Vec3(kick_ * setup_.gravity),
          stuff()};
}

// Contacts, and what the liquid between cells and walls does to dynamic bodies before the pressure
// is known.
template <class Device>
void FlipSolver<Device>::list_contacts(const State& next) {
  if (contacts_.dynamic() > 0) motion_.upload(motions_);
  contacts_.list(contacts_of_cells(), cells(), near_.within(1));
  if (contacts_.dynamic() == 0) return;
  move_on(next, pushes({}));
  find_wall_speeds();
}

// Dynamic bodies move as they do with these pushes.
template <class Device>
void FlipSolver<Device>::move_on(const State& next, const std::vector<flip::Push>& pushes) {
  std::vector<flip::SolidMotion> pushed = motions_;
  for (std::size_t b = 0; b < contacts_.dynamic(); ++b) {
    const std::size_t s = contacts_.solid_of(b);
    BodyState body = next.bodies[s];
    body.velocity = Vec3d(motions_[s].velocity);
    body.angular_velocity = Vec3d(motions_[s].angular_velocity);
    const double mass = body_span_ * cell_mass();
    contacts_.kick(b, {mass * pushes[s].linear, mass * pushes[s].angular}, body);
    pushed[s].velocity = Vec3(body.velocity);
    pushed[s].angular_velocity = Vec3(body.angular_velocity);
  }
  motion_.upload(pushed);
}

// What pressure and friction do to each solid, over a full cell's mass; without q what does not
// depend on the pressure.
template <class Device>
std::vector<flip::Push> FlipSolver<Device>::pushes(View<const float> q) {
  std::vector<flip::Push> all = contacts_.push(q);
  if (!sand_) return all;
  const std::vector<flip::Push> more = friction_.push_solids(friction_grid(), all.size());
  for (std::size_t s = 0; s < all.size(); ++s) {
    all[s].linear += more[s].linear;
    all[s].angular += more[s].angular;
  }
  return all;
}

// Pushes on solids that do not move by them are for the record: few are summed up without a list
// of contacts, and nobody waits for them before the step ends.
template <class Device>
bool FlipSolver<Device>::pushes_come_later() const {
  return walls_ && contacts_.dynamic() == 0 && setup_.solids.size() <= flip::StepSigns::kSolids;
}

// A cell's mass times J q: the impulse of p over dt on a solid, about its own origin.
template <class Device>
void FlipSolver<Device>::push_solids(const State& next, BodyImpulses& out) {
  if (!walls_) return;
  if (pushes_come_later()) {
    for (int s = 0; s < static_cast<int>(setup_.solids.size()); ++s) {
      reduce_to<flip::JoinSix>(device_, "push solids", cells(),
                               flip::PushOfCells{contacts_of_cells(), std::as_const(q_).view(), s},
                               signs_.data()->push + s);
      if (sand_) friction_.push_solid(friction_grid(), s, signs_.data()->rub + s);
    }
    return;
  }
  if (contacts_.dynamic() == 0) list_contacts(next);
  const std::vector<flip::Push> pushes = this->pushes(std::as_const(q_).view());
  for (std::size_t s = 0; s < pushes.size(); ++s) {
    const bool dynamic = setup_.solids[s].drive == SolidDrive::dynamic;
    const double mass = (dynamic ? body_span_ : 1.0) * cell_mass();
    out.linear[s] = mass * pushes[s].linear;
    out.angular[s] = mass * pushes[s].angular;
  }
  if (contacts_.dynamic() > 0) move_on(next, pushes);
}

// ---- Back to the particles

// What mend_crowding does, beside the last pressure.
template <class Device>
void FlipSolver<Device>::begin_crowding(double dt) {
  begin_aside(device_);
  shift_faces(dt, poisson_.kAside);
  end_aside(device_);
  crowding_begun_ = true;
}

template <class Device>
void FlipSolver<Device>::mend_crowding(double dt) {
  if (crowding_begun_) {
    join_aside(device_);
  } else {
    shift_faces(dt, poisson_.kWhole);
  }
  crowding_begun_ = false;
}

// A share of the error in each cell's fill goes in each step: all but 1/e in kRelax.
template <class Device>
void FlipSolver<Device>::shift_faces(double dt, typename PoissonSolver<Device>::Part part) {
  constexpr double kRelax = 0.08;  // [s]
  const View<float> b = scratch_.view().of[0];
  const double share = 1.0 - std::exp(-dt / kRelax);
  for_each_of(device_, "crowding", near_.within(2),
              flip::CrowdedRightSide{tiles_.view(), std::as_const(kind_).view(),
                                     std::as_const(fill_).view(), closed(),
                                     static_cast<float>(share), sand_ ? 0.03f : 0.0f, b});
  poisson_.solve_later(b, crowd_.view(), 0.05, 2, 0.0, part);
  const flip::Difference difference{tiles_.view(), surface(), std::as_const(crowd_).view(),
                                    stuff()};
  for_each_of(device_, "crowding", near_.within(2),
              flip::ShiftFaces{difference, open(), shift_.view()});
}

template <class Device>
void FlipSolver<Device>::extend_velocities() {
  const TileView tiles = tiles_.view();
  const int layers = most_ + 1;
  in_one_launch(
      device_, "extend", 3 * cells(),
      flip::ExtendOutward{tiles, near_.within(2), std::as_const(kind_).view(), open(),
                          std::as_const(depth_).view(), distance_.view(), u_.view(), change_.view(),
                          shift_.view(), cell_layers_.room(tiles, layers + 1),
                          face_layers_.room(tiles, layers, 3), layers});
  if (!walls_) return;
  const LayerView near = cell_layers_.within(2);
  for_each_part_of(device_, "extend", near,
                   flip::MeetSolids{tiles, solids_, std::as_const(kind_).view(), open(), u_.read(),
                                    scratch_.view()});
  for_each_of(device_, "extend", near, flip::KeepMet{open(), scratch_.read(), u_.view()});
}

// flip_ratio is given for 1/60 s; over dt, 1 - r is what is left of PIC in that time.
template <class Device>
void FlipSolver<Device>::grid_to_particles(double dt, State& next) {
  const double ratio = transfer_ == "flip" ? std::pow(params_.flip_ratio, 60.0 * dt) : 0.0;
  const View3<const float> from = std::as_const(from_).view();
  const TileView tiles = tiles_.view();
  flip::CarryParticles carry{
      tiles,
      u_.read(),
      change_.read(),
      shift_.read(),
      {static_cast<float>(dt) * tiles.frame.inverse_size, tiles.frame.inverse_size,
       static_cast<float>(ratio), static_cast<float>(most_)},
      from,
      next.rewrite_vectors("velocity"),
      next.write_position(),
      {},
      {},
      {},
      &signs_.data()->cut_off};
  if (affine()) {
    carry.cx = next.rewrite_vectors("affine_x");
    carry.cy = next.rewrite_vectors("affine_y");
    carry.cz = next.rewrite_vectors("affine_z");
  }
  flip::carry(device_, carry);
  const auto spacing = static_cast<float>(setup_.spacing);
  for_each(device_, "spread", static_cast<std::int64_t>(from.size),
           flip::Spread{tiles, from, std::as_const(depth_).view(), spacing,
                        2.0f * flip::spread_strength(dt), 0.25f * spacing, shift_share(),
                        static_cast<int>(next.step % 2), carry.moved_to});

  const flip::Difference difference{tiles, surface(), std::as_const(q_).view()};
  for_each_of(device_, "pressures", near_.within(1),
              flip::PressureSlopes{difference, open(), scratch_.view()});
  const double per_q = setup_.materials.front().density * static_cast<double>(size()) / kick_;
  for_each(device_, "pressures", static_cast<std::int64_t>(from.size),
           flip::ParticlePressures{tiles, std::as_const(kind_).view(), std::as_const(q_).view(),
                                   scratch_.read(), from, static_cast<float>(per_q),
                                   next.write_numbers<float>("pressure")});
}

template <class Device>
void FlipSolver<Device>::keep_out_of_solids(const SolidsView& solids, double dt, State& next) {
  if (!walls_) return;
  const auto d = static_cast<float>(setup_.spacing);
  const Containment containment{solids, 0.1f * d, 0.1f * d, flip::KeepOut::kShare * d};
  for_each_some(
      device_, "keep out", static_cast<std::int64_t>(from_.size()),
      flip::KeepOut{containment, d, flip::spread_strength(dt), std::as_const(from_).view(),
                    next.rewrite_vectors("position"), next.rewrite_vectors("velocity"),
                    tiles_.view(), std::as_const(wall_).view(), solids_way_, shift_share()});
}

template <class Device>
void FlipSolver<Device>::finish_report(double dt, State& next, StepReport& report,
                                       BodyImpulses& out) {
  reduce_to<JoinVitals>(device_, "report", static_cast<std::int64_t>(from_.size()),
                        ReadVitals{next.position(), next.velocity()}, &signs_.data()->vitals);
  const flip::StepSigns signs = signs_.download().front();
  if (signs.cut_off != 0) {
    report.trouble = "particles were to move farther in one step than the grid around them reaches";
  }
  for (std::size_t s = 0; pushes_come_later() && s < setup_.solids.size(); ++s) {
    flip::SixSums all = signs.push[s];
    if (sand_) all = flip::JoinSix::combine(all, signs.rub[s]);
    out.linear[s] = cell_mass() * Vec3d(all.of[0], all.of[1], all.of[2]);
    out.angular[s] = cell_mass() * Vec3d(all.of[3], all.of[4], all.of[5]);
  }
  report.iterations = 0.0;
  for (const PoissonReport* solve : solves_) report.iterations += solve->iterations;
  report.divergence_max = static_cast<double>(signs.out_flow) / static_cast<double>(size());
  const VitalSigns& vitals = signs.vitals;
  report.dt_used = dt;
  report.max_speed = std::sqrt(static_cast<double>(vitals.max_speed_squared));
  report.first_bad = vitals.first_bad == ~0u ? -1 : static_cast<std::int64_t>(vitals.first_bad);
}

// Particles read and written once (position, velocity, id, material), twelve numbers of a cell read
// and written once in the transfers, and ten iterations of a pressure solve that read five.
template <class Device>
double FlipSolver<Device>::floor_bytes(std::size_t particles) const {
  constexpr double kState = 2.0 * 36.0, kGrid = (12.0 * 2.0 + 10.0 * 5.0) * 4.0 / 8.0;
  return static_cast<double>(particles) * (kState + kGrid);
}

}  // namespace barchan
