#include "sim/driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "sim/initial_state.h"
#include "sim/measures.h"

namespace barchan {

namespace {

constexpr int kMostRetries = 8;
constexpr double kFastestBody = 1e6;  // ten times what a scene may ask for [m/s]

// Sums over the frame under way. They live in State, so that a run interrupted within a frame goes
// on with them.
constexpr const char* kSteps = "frame.steps";
constexpr const char* kRetries = "frame.retries";
constexpr const char* kIterations = "frame.iterations";
constexpr const char* kErrorMean = "frame.density_error_mean";
constexpr const char* kErrorMax = "frame.density_error_max";
constexpr const char* kDivergence = "frame.divergence_max";

void start_frame(State& state) {
  state.scalars[kSteps] = 0.0;
  state.scalars[kRetries] = 0.0;
  state.scalars[kIterations] = 0.0;
  state.scalars[kErrorMean] = kNotMeasured;
  state.scalars[kErrorMax] = kNotMeasured;
  state.scalars[kDivergence] = kNotMeasured;
  for (BodyState& body : state.bodies) body.impulse = body.angular_impulse = {};
}

// The larger, where NaN means "not measured".
double larger(double a, double b) {
  return std::isnan(a) ? b : (std::isnan(b) ? a : std::max(a, b));
}

BodyMotion motion_of(const BodyState& body) {
  return {{body.position, body.orientation}, body.velocity, body.angular_velocity};
}
void set_motion(const BodyMotion& motion, BodyState& body) {
  body.position = motion.pose.position;
  body.orientation = motion.pose.orientation;
  body.velocity = motion.velocity;
  body.angular_velocity = motion.angular_velocity;
}

// [kg/m^3]
double densest(const SolverSetup& setup) {
  double density = 0.0;
  for (const MaterialParams& material : setup.materials) {
    density = std::max(density, material.density);
  }
  return density;
}

}  // namespace

Driver::Driver(const Scene& scene, Device& device, Solver& solver)
    : scene_(scene),
      solver_(solver),
      setup_(solver_setup(scene)),
      solids_(make_solids(scene, device)),
      bodies_(solids_, scene.general.gravity, scene.general.resolution, scene.rigid,
              !solver.meets_bodies()),
      light_bodies_(bodies_, solver.most_added_mass(), densest(setup_), setup_.spacing),
      emitters_(scene, device),
      sinks_(scene, device),
      probes_(scene, device),
      now_(device, probes_.with_columns(solver.columns())),
      next_(device, probes_.with_columns(solver.columns())) {
  fill_state(scene, solids_, now_);
  solver_.complete(now_);
  for (int s = 0; s < solids_.count(); ++s) {
    const Solid& solid = solids_[s];
    const Pose pose = solids_.pose(s, 0.0);
    BodyState body{solid.name, pose.position, pose.orientation, {}, {}, {}, {}};
    solids_.velocity(s, 0.0, body.velocity, body.angular_velocity);
    if (solid.drive == SolidDrive::dynamic) {
      body.velocity = solid.velocity;
      body.angular_velocity = solid.angular_velocity;
    }
    now_.bodies.push_back(body);
  }
  now_.max_speed = measure_vitals(now_).max_speed;
  probes_.start(now_);
  start_frame(now_);
}

void Driver::restore(const Snapshot& snapshot) {
  barchan::restore(snapshot, now_);
  place_solids();
}

double Driver::frame_time(std::int64_t frame) const {
  return static_cast<double>(frame) / scene_.general.fps;
}

// Dynamic solids stand where the state says.
void Driver::place_solids() {
  for (int b = 0; b < bodies_.count(); ++b) {
    const BodyState& body = now_.bodies[static_cast<std::size_t>(bodies_.solid(b))];
    const Pose pose{body.position, body.orientation};
    solids_.set_dynamic(bodies_.solid(b), now_.time, pose, now_.time, pose);
  }
}

// The bodies of the next state, before the material has pushed them: where the solver will see them
// go is where they are in the end, so that no body ends up inside the material it has pushed away.
void Driver::move_bodies(double dt) {
  const double end = now_.time + dt;
  std::vector<BodyMotion> motions = this->motions();
  light_bodies_.kick_first(first_);
  solver_.push_first(now_, dt, first_);
  for (int b = 0; b < bodies_.count(); ++b) {
    const auto s = static_cast<std::size_t>(bodies_.solid(b));
    bodies_[b].kick(first_.linear[s], first_.angular[s], motions[static_cast<std::size_t>(b)]);
  }
  bodies_.advance(solids_, now_.time, dt, motions);
  for (int b = 0; b < bodies_.count(); ++b) {
    const auto s = static_cast<std::size_t>(bodies_.solid(b));
    const Pose from{now_.bodies[s].position, now_.bodies[s].orientation};
    set_motion(motions[static_cast<std::size_t>(b)], next_.bodies[s]);
    solids_.set_dynamic(bodies_.solid(b), now_.time, from, end,
                        motions[static_cast<std::size_t>(b)].pose);
  }
  for (int s = 0; s < solids_.count(); ++s) {
    if (solids_[s].drive == SolidDrive::dynamic) continue;
    BodyState& body = next_.bodies[static_cast<std::size_t>(s)];
    BodyMotion motion{solids_.pose(s, end), {}, {}};
    solids_.velocity(s, end, motion.velocity, motion.angular_velocity);
    set_motion(motion, body);
  }
}

// How much of the impulse a body takes. Solvers let the material meet a body as if it could not
// give way within the step; where more mass hits it than it has, that would throw it back faster
// than it came. With the impulse J (and its moment), K the inverse of the body's mass (and
// inertia), and W the sum of impulses times approach speeds, J K J is the change of those speeds
// times J, so a share (1 + e) W / (J K J) turns the approach round with restitution e. More than
// that is not taken; it is for whatever holds the material.
double Driver::taken(const RigidBody& body, double restitution, std::size_t solid) const {
  const Vec3d &J = impulses_.linear[solid], &L = impulses_.angular[solid];
  const double W = impulses_.approach[solid];
  const Vec3d turn = body.angular_velocity(now_.bodies[solid].orientation, L);
  const double JKJ = dot(J, J) / body.mass + dot(L, turn);
  return W > 0.0 ? std::min(1.0, (1.0 + restitution) * W / std::max(JKJ, 1e-300)) : 1.0;
}

// What the material did to the bodies during the step.
void Driver::push_bodies() {
  for (int b = 0; b < bodies_.count(); ++b) {
    const auto s = static_cast<std::size_t>(bodies_.solid(b));
    const double share = taken(bodies_[b], solids_[bodies_.solid(b)].restitution, s);
    impulses_.linear[s] *= share;
    impulses_.angular[s] *= share;
    BodyMotion motion = motion_of(now_.bodies[s]);
    bodies_[b].kick(impulses_.linear[s], impulses_.angular[s], motion);
    set_motion(motion, now_.bodies[s]);
  }
  for (std::size_t s = 0; s < now_.bodies.size(); ++s) {
    now_.bodies[s].impulse += first_.linear[s] + impulses_.linear[s];
    now_.bodies[s].angular_impulse += first_.angular[s] + impulses_.angular[s];
  }
}

StepReport Driver::try_step(double dt) {
  const auto bodies = static_cast<std::size_t>(solids_.count());
  light_bodies_.begin(now_, length(scene_.general.gravity), dt);
  StepReport report;
  do {
    for (BodyImpulses* pushes : {&impulses_, &first_}) {
      pushes->linear.assign(bodies, {});
      pushes->angular.assign(bodies, {});
      pushes->approach.assign(bodies, 0.0);
    }
    next_.follow(now_);
    move_bodies(dt);
    report = solver_.step(now_, solids_.moving(now_.time, now_.time + dt), dt, next_, impulses_);
  } while (report.first_bad < 0 && report.trouble.empty() && light_bodies_.improve(impulses_));
  for (std::size_t b = 0; b < bodies && report.trouble.empty(); ++b) {
    if (!is_finite(impulses_.linear[b]) || !is_finite(impulses_.angular[b]) ||
        !is_finite(next_.bodies[b].position) || !is_finite(next_.bodies[b].angular_velocity) ||
        length(next_.bodies[b].velocity) > kFastestBody) {
      report.trouble = "solid '" + now_.bodies[b].name + "' was thrown out of the world";
    }
  }
  return report;
}

void Driver::accept(const StepReport& report, double time) {
  std::swap(now_, next_);
  now_.last_dt = report.dt_used;
  now_.time = time;
  now_.max_speed = report.max_speed;
  ++now_.step;
  push_bodies();
  light_bodies_.remember(first_, impulses_, report.dt_used, now_);
  auto& sums = now_.scalars;
  sums[kSteps] += 1.0;
  sums[kIterations] += report.iterations;  // NaN for solvers without, and stays NaN
  sums[kErrorMean] = larger(sums[kErrorMean], report.density_error_mean);
  sums[kErrorMax] = larger(sums[kErrorMax], report.density_error_max);
  sums[kDivergence] = larger(sums[kDivergence], report.divergence_max);
}

void Driver::give_up(const StepReport& report, double dt, int tries) {
  std::string who = report.trouble;
  if (report.first_bad >= 0) {
    const auto i = static_cast<std::size_t>(report.first_bad);
    const auto number = [&](const State& state, const char* name, int c) {
      return static_cast<double>(
          download(state.device(), state.column(name)).component<float>(c)[i]);
    };
    const HostColumn id = download(next_.device(), next_.column("id"));
    who = fmt::format(
        "particle {} went to position ({:.4g}, {:.4g}, {:.4g}), velocity ({:.4g}, {:.4g}, {:.4g})",
        id.component<std::uint64_t>(0)[i], number(next_, "position", 0),
        number(next_, "position", 1), number(next_, "position", 2), number(next_, "velocity", 0),
        number(next_, "velocity", 1), number(next_, "velocity", 2));
  }
  fail(
      "the step from t = {:.6g} s (step {}, frame {}) blew up {} times, last with dt = {:.3g} s: "
      "{}. "
      "Frames up to {} are whole; try a smaller time step or a finer resolution",
      now_.time, now_.step, now_.frame + 1, tries, dt, who, now_.frame);
}

std::vector<BodyMotion> Driver::motions() const {
  std::vector<BodyMotion> motions;
  for (int b = 0; b < bodies_.count(); ++b) {
    motions.push_back(motion_of(now_.bodies[static_cast<std::size_t>(bodies_.solid(b))]));
  }
  return motions;
}

double Driver::longest_step_of_bodies() const {
  if (bodies_.count() == 0 || now_.size() == 0) return 1e30;
  const double speed = bodies_.fastest(motions());
  return solver_.body_cfl() * setup_.spacing / std::max(speed, 1e-12);
}

StepReport Driver::step(double limit) {
  // Even steps up to the limit, the last one ending on it exactly.
  const double end = now_.time + limit;
  const double suggested = std::max(
      std::min({solver_.suggest_dt(now_), emitters_.longest_step(now_), longest_step_of_bodies()}),
      1e-12);
  const double steps = std::max(1.0, std::ceil(limit / suggested - 1e-9));
  double dt = limit / steps;
  bool last = steps == 1.0;
  for (int tries = 1;; ++tries) {
    StepReport report = try_step(dt);
    if (report.first_bad < 0 && report.trouble.empty()) {
      const bool whole = report.dt_used == dt;
      accept(report, last && whole ? end : now_.time + report.dt_used);
      now_.scalars[kRetries] += tries - 1;
      pass_on(report);
      exchange_particles();
      return report;
    }
    if (tries > kMostRetries) give_up(report, dt, tries);
    warn("step {} at t = {:.6g} s blew up with dt = {:.3g} s; trying half of it", now_.step,
         now_.time, dt);
    dt *= 0.5;
    last = false;
  }
}

// The first remark of a run; the ledger has what came of the others.
void Driver::pass_on(const StepReport& report) {
  if (report.remark.empty() || remarked_) return;
  remarked_ = true;
  warn("step {} at t = {:.6g} s: {}; others like it are not mentioned", now_.step, now_.time,
       report.remark);
}

// What an accepted step is followed by: paths are measured, particles go and come.
void Driver::exchange_particles() {
  probes_.follow_paths(now_);
  sinks_.remove(now_);
  const std::uint64_t born_before = now_.next_id;
  emitters_.emit(now_, solids_);
  if (now_.next_id != born_before) solver_.complete(now_);
}

StepReport Driver::step_within_frame() {
  const double target = frame_time(now_.frame + 1);
  const StepReport report = step(target - now_.time);
  // The sum of many steps may miss the frame by a rounding error; the frame's time is exact.
  if (std::abs(now_.time - target) < 1e-12 * std::max(1.0, target)) {
    now_.time = target;
    ++now_.frame;
  }
  return report;
}

Outcome Driver::run(FrameSink& sink, const std::function<bool()>& stop,
                    const std::function<void(const Progress&)>& progress) {
  using Clock = std::chrono::steady_clock;
  const std::int64_t frames = scene_.frame_count();
  if (now_.frame == 0 && now_.step == 0) finish_frame(sink, kNotMeasured, {});
  double milliseconds = 0.0;
  std::int64_t steps_here = 0;
  while (now_.frame < frames) {
    const auto start = Clock::now();
    const StepReport report = step_within_frame();
    milliseconds += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    ++steps_here;
    const bool frame_done = at_frame();
    const double ms_per_step = milliseconds / static_cast<double>(steps_here);
    if (frame_done) {
      finish_frame(sink, ms_per_step, report);
      milliseconds = 0.0;
      steps_here = 0;
    }
    progress({frame_done ? now_.frame : now_.frame + 1, frames, now_.time, now_.size(), ms_per_step,
              report.iterations, larger(report.density_error_max, report.divergence_max),
              frame_done});
    if (now_.frame < frames && stop()) {
      sink.checkpoint(take_snapshot(now_), CheckpointKind::interrupted);
      return Outcome::interrupted;
    }
  }
  return Outcome::done;
}

void Driver::finish_frame(FrameSink& sink, double milliseconds, const StepReport& last) {
  const bool written = now_.frame % scene_.cache.every == 0;
  if (written) sink.frame(make_frame(), ledger_row(milliseconds, last));
  const bool ends = now_.frame == scene_.frame_count();
  const bool due = now_.frame % scene_.cache.checkpoint_every == 0;
  if (written) start_frame(now_);
  if (written) probes_.start_frame(now_);
  if (now_.frame > 0 && (ends || due))
    sink.checkpoint(take_snapshot(now_), CheckpointKind::regular);
}

LedgerRow Driver::ledger_row(double milliseconds, const StepReport& last) const {
  const auto& sums = now_.scalars;
  const double steps = sums.at(kSteps);
  const Totals totals = measure_totals(now_, setup_.particle_masses(), setup_.gravity);
  const MoreEnergy more = solver_.more_energy(now_);
  LedgerRow row;
  row.frame = now_.frame;
  row.time = now_.time;
  row.steps = static_cast<std::int64_t>(steps);
  row.particles = now_.size();
  row.mass = totals.mass;
  row.volume = measure_volume(now_, setup_.spacing);
  row.momentum = totals.momentum;
  row.kinetic_energy = totals.kinetic_energy + more.kinetic;
  row.potential_energy = totals.potential_energy + more.potential;
  row.max_speed = now_.max_speed;
  row.density_error_mean = sums.at(kErrorMean);
  row.density_error_max = sums.at(kErrorMax);
  row.divergence_max = sums.at(kDivergence);
  row.iterations_mean = steps > 0.0 ? sums.at(kIterations) / steps : kNotMeasured;
  row.density_errors = last.density_error;
  // Deeper than half a radius, the radius being half a spacing.
  row.leaks = count_leaks(now_, solids_, 0.25 * setup_.spacing);
  row.retries = static_cast<std::int64_t>(sums.at(kRetries));
  row.ms_per_step = milliseconds;
  return row;
}

void Driver::disturb(const std::function<void(State&)>& change) {
  const std::uint64_t born_before = now_.next_id;
  change(now_);
  if (now_.next_id != born_before) solver_.complete(now_);
}

Frame Driver::picture() const {
  Frame frame;
  frame.index = now_.frame;
  frame.time = now_.time;
  frame.spacing = setup_.spacing;
  frame.surface_radius = solver_.surface_radius();
  for (const Material& material : scene_.materials) frame.materials.push_back(material.name);
  for (const Column& column : now_.columns()) {
    if (column.spec().in_frames) frame.columns.push_back(download(now_.device(), column));
  }
  solver_.add_to_frame(now_, frame);
  frame.bodies = now_.bodies;
  return frame;
}

Frame Driver::make_frame() {
  Frame frame = picture();
  // Flows are means since the frame written before; the first one has none before it.
  const double seconds = static_cast<double>(scene_.cache.every) / scene_.general.fps;
  frame.probes = probes_.measure(now_, now_.frame > 0 ? seconds : 0.0);
  return frame;
}

}  // namespace barchan
