#include "sim/emitters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "sim/initial_state.h"
#include "sim/path_start.h"

namespace barchan {

namespace {

constexpr const char* kEmitted = "emitters.emitted";
constexpr std::uint32_t kPlaceStream = 0x656d6974, kDepthStream = 0x656d6464;  // "emit", "emdd"

// Up to this share of what a mouth can carry, particles are thrown in at random; random throwing
// ends at about 0.85 of a lattice's density (random sequential addition of spheres), and long
// before that most throws miss. Above it births go round the lines of the inlet.
constexpr double kThrownLoad = 0.45;
constexpr int kThrows = 64;
constexpr double kSideways = 0.02;   // of lines: neighbours stay kApart apart [spacings]
constexpr double kLongestWay = 4.0;  // of a newborn in its first step [spacings]
constexpr double kMostLines = 1e7;   // of an inlet

std::string advice(const EmitterParams& params, double capacity) {
  if (params.rate <= capacity) {
    return "clear the way in front of it, raise its velocity, enlarge its shape, or lower its rate";
  }
  return fmt::format(
      "raise its velocity above {:.3g} m/s, enlarge its shape across the velocity, or lower its "
      "rate "
      "below {:.3g} kg/s",
      length(params.velocity) * params.rate / capacity, capacity);
}

Inlet make_inlet(const Emitter& emitter, std::size_t number, double spacing, const Random& random) {
  const Vec3d direction = normalized(emitter.params.velocity);
  const double most = Inlet::most_lines(emitter.shape.shape, direction, spacing);
  if (most > kMostLines) {
    reject(
        "{}: emitter {} is about {:.2g} particles wide at a spacing of {} m, more than {:.0e}; use "
        "a "
        "coarser resolution or a smaller shape",
        emitter.place, number, most, spacing, kMostLines);
  }
  Inlet inlet(emitter.shape.shape, direction, spacing, random);
  if (inlet.lines().empty()) {
    reject(
        "{}: emitter {} has no room for a particle: its shape is thinner than the spacing of {} m; "
        "use a smaller resolution or a larger shape",
        emitter.place, number, spacing);
  }
  return inlet;
}

}  // namespace

double Emitters::Source::due(double time) const {
  const double until = is_set(params.end) ? std::min(time, params.end) : time;
  return params.rate * std::max(until - params.start, 0.0) / mass;
}

double Emitters::Source::birth(double number) const {
  return params.start + number * mass / params.rate;
}

Emitters::Emitters(const Scene& scene, Device& device)
    : spacing_(scene.general.resolution),
      look_ahead_(1.0 / scene.general.fps),
      gravity_(scene.general.gravity),
      random_{scene.general.seed},
      selector_(device),
      apart_(scene.general.solver == "dem" ? 0.999 : kApart),
      crowd_(apart_ * spacing_) {
  const SolverSetup setup = solver_setup(scene);
  const std::vector<double> masses = setup.particle_masses();
  for (const Emitter& emitter : scene.emitters) {
    const std::size_t number = sources_.size() + 1;
    const auto material = static_cast<std::size_t>(emitter.material);
    const double mass = masses[material];
    const double density = setup.grains.empty() ? setup.materials[material].density
                                                : mass / (spacing_ * spacing_ * spacing_);
    Source source{make_inlet(emitter, number, spacing_, random_),
                  emitter.params,
                  fmt::format("{}: emitter {}", emitter.place, number),
                  fmt::format("emitter {} born", number),
                  emitter.material,
                  density,
                  mass,
                  length(emitter.params.velocity),
                  0.0,
                  false,
                  {}};
    sources_.push_back(std::move(source));
    sources_.back().load = emitter.params.rate / capacity(number - 1);
  }
}

double Emitters::capacity(std::size_t e) const {
  const Source& source = sources_[e];
  const double area = static_cast<double>(source.inlet.lines().size()) * spacing_ * spacing_;
  return source.density * area * source.speed;
}

double Emitters::due(double time) const {
  double sum = 0.0;
  for (const Source& source : sources_) sum += std::floor(source.due(time));
  return sum;
}

std::vector<std::string> Emitters::overloads() const {
  std::vector<std::string> sentences;
  for (std::size_t e = 0; e < sources_.size(); ++e) {
    const Source& source = sources_[e];
    if (source.load <= 1.0) continue;
    sentences.push_back(fmt::format(
        "{} is to deliver {:.4g} kg/s, but its shape can carry {:.4g} kg/s at {:.4g} m/s; {}",
        source.place, source.params.rate, capacity(e), source.speed,
        advice(source.params, capacity(e))));
  }
  return sentences;
}

double Emitters::longest_step(const State& now) const {
  double longest = look_ahead_;
  for (const Source& source : sources_) {
    const bool to_come = source.params.rate > 0.0 && now.time + look_ahead_ >= source.params.start;
    const auto born = now.scalars.find(source.key);
    const double delivered = born == now.scalars.end() ? 0.0 : born->second;
    const double end = is_set(source.params.end) ? source.params.end : now.time + look_ahead_;
    if (!to_come || source.due(end) - delivered < 1.0) continue;
    longest = std::min(longest, kLongestWay * spacing_ / source.speed);
  }
  return longest;
}

void Emitters::emit(State& state, const SolidSet& solids) {
  const Moment moment{state.time - state.last_dt, state.time, solids, state.next_id};
  std::vector<Aabb> places;
  for (const Source& source : sources_) {
    if (std::floor(source.due(moment.end)) > state.scalars[source.key]) {
      places.push_back(reach(source, moment));
    }
  }
  if (places.empty()) return;
  gather_crowd(state, places);
  newborns_.clear();
  for (Source& source : sources_) {
    deliver(std::floor(source.due(moment.end)), state.scalars[source.key], source, moment);
  }
  if (!newborns_.empty()) append_newborns(state);
}

void Emitters::deliver(double due, double& born, Source& source, const Moment& moment) {
  source.full.clear();
  while (born < due && place(born + 1.0, source, moment)) born += 1.0;

  // Less than a layer behind may be a matter of the moment.
  const double owed = due - born;
  if (owed > static_cast<double>(source.inlet.lines().size()) && !source.told) {
    source.told = true;
    warn(
        "{} is blocked: at t = {:.4g} s it owes {} particles, which come as soon as there is "
        "room; {}",
        source.place, moment.end, human_count(static_cast<std::uint64_t>(owed)),
        advice(source.params, source.params.rate / source.load));
  }
}

// Everyone who is near a place where this source may put a particle is in this box. Jitter takes a
// particle up to 1.2 spacings into the shape.
Aabb Emitters::reach(const Source& source, const Moment& moment) const {
  const double dt = moment.end - moment.start;
  const Vec3d way = dt * source.params.velocity + (0.5 * dt * dt) * gravity_;
  const Aabb& box = source.inlet.bounds();
  return join(box, {box.lo + way, box.hi + way}).grown((1.2 + apart_ + 0.1) * spacing_);
}

void Emitters::gather_crowd(const State& state, const std::vector<Aabb>& places) {
  crowd_.clear();
  const HostColumn near = download_rows(state, "position", selector_.in_boxes(state, places));
  const float *x = near.component<float>(0), *y = near.component<float>(1),
              *z = near.component<float>(2);
  for (std::size_t i = 0; i < near.size; ++i) crowd_.add({x[i], y[i], z[i]});
}

bool Emitters::place(double number, Source& source, const Moment& moment) {
  const double birth = source.birth(number);
  const double age = std::clamp(moment.end - birth, 0.0, moment.end - moment.start);
  const std::uint64_t id = moment.first_id + newborns_.size();
  const bool in_time = birth >= moment.start - 1e-9 * (moment.end - moment.start);
  if (in_time && source.load <= kThrownLoad && place_anywhere(age, id, source, moment)) return true;
  if (in_time && source.load > kThrownLoad) {
    const auto line = static_cast<std::size_t>(
        std::fmod(number, static_cast<double>(source.inlet.lines().size())));
    if (place_on_line(line, age, id, source, moment)) return true;
  }
  return squeeze_in(number, source, moment);
}

// Births on one line are lines x m / rate apart in time, which is spacing / load of way. What that
// leaves beyond kApart is free for jitter: a start up to that much further inside.
bool Emitters::place_on_line(std::size_t line, double age, std::uint64_t id, const Source& source,
                             const Moment& moment) {
  const InletLine& at = source.inlet.lines()[line];
  const Vec3d u(random_.uniform3(id, kPlaceStream));
  const double room = 0.9 * spacing_ * std::max(1.0 / source.load - apart_, 0.0);
  const double sideways = 2.0 * kSideways * spacing_;
  const Vec3d on_line =
      at.entry + (u.x * std::min(room, at.depth) / source.speed) * source.params.velocity;
  const Vec3d beside =
      source.inlet.shifted(on_line, sideways * (u.y - 0.5), sideways * (u.z - 0.5));
  return put(source.inlet.contains(beside) ? beside : on_line, age, source, moment);
}

// Each throw: a line, a place in the square around it, and a depth of up to a spacing.
bool Emitters::place_anywhere(double age, std::uint64_t id, const Source& source,
                              const Moment& moment) {
  const std::size_t count = source.inlet.lines().size();
  for (std::uint32_t t = 0; t < kThrows; ++t) {
    const Vec3d u(random_.uniform3(id, kPlaceStream, t));
    const double deep = static_cast<double>(random_.uniform(id, kDepthStream, t));
    const auto line =
        std::min(static_cast<std::size_t>(u.x * static_cast<double>(count)), count - 1);
    const std::optional<InletLine> at =
        source.inlet.beside(line, spacing_ * (u.y - 0.5), spacing_ * (u.z - 0.5));
    if (!at) continue;
    const double depth = deep * std::min(spacing_, at->depth);
    if (put(at->entry + (depth / source.speed) * source.params.velocity, age, source, moment)) {
      return true;
    }
  }
  return false;
}

// For what is late, or finds its own place taken: the first line with room, as close behind the
// particle before as may be. A line that has none left has none for the rest of the step.
bool Emitters::squeeze_in(double number, Source& source, const Moment& moment) {
  constexpr double kFinest = 1.0 / 16.0;  // spacings
  const std::vector<InletLine>& lines = source.inlet.lines();
  const double dt = moment.end - moment.start;
  const auto ages = static_cast<int>(std::ceil(source.speed * dt / (kFinest * spacing_)));
  source.full.resize(lines.size(), 0);
  const auto first = static_cast<std::size_t>(std::fmod(number, static_cast<double>(lines.size())));
  for (std::size_t k = 0; k < lines.size(); ++k) {
    const std::size_t line = (first + k) % lines.size();
    if (source.full[line]) continue;
    for (int a = ages; a >= 0; --a) {
      const double age = ages > 0 ? dt * a / ages : 0.0;
      if (put(lines[line].entry, age, source, moment)) return true;
    }
    source.full[line] = 1;
  }
  return false;
}

// Born at `from`, `age` seconds before the end of the step, if there is room where it is by then
// and no solid on its way.
bool Emitters::put(const Vec3d& from, double age, const Source& source, const Moment& moment) {
  const Vec3 position(from + age * source.params.velocity + (0.5 * age * age) * gravity_);
  const Vec3d to(position);
  if (!crowd_.has_room_at(to)) return false;
  const int looks = 1 + static_cast<int>(length(to - from) / (0.5 * spacing_));
  for (int s = 0; s < moment.solids.count(); ++s) {
    for (int k = 0; k <= looks; ++k) {
      const Vec3d on_way = from + (static_cast<double>(k) / looks) * (to - from);
      if (moment.solids.buried(s, on_way, moment.end, 0.0)) return false;
    }
  }
  crowd_.add(to);
  newborns_.push_back(
      {position, Vec3(source.params.velocity + age * gravity_), Vec3(from), source.material});
  return true;
}

void Emitters::append_newborns(State& state) {
  const std::size_t n = newborns_.size();
  std::vector<HostColumn> columns;
  for (const char* name : {"position", "velocity", "id", "material", kPathStart}) {
    if (state.has(name)) columns.push_back(make_host_column(state.column(name).spec(), n));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Newborn& born = newborns_[i];
    for (int axis = 0; axis < 3; ++axis) {
      columns[0].component<float>(axis)[i] = born.position[axis];
      columns[1].component<float>(axis)[i] = born.velocity[axis];
      if (columns.size() > 4) columns[4].component<float>(axis)[i] = born.from[axis];
    }
    columns[2].component<std::uint64_t>(0)[i] = state.next_id + i;
    columns[3].component<std::uint8_t>(0)[i] = static_cast<std::uint8_t>(born.material);
    state.max_speed = std::max(state.max_speed, static_cast<double>(length(born.velocity)));
  }
  state.append(n, columns);
  state.next_id += n;
  state.scalars[kEmitted] += static_cast<double>(n);
}

std::uint64_t emitted_particles(const State& state) {
  const auto found = state.scalars.find(kEmitted);
  return found == state.scalars.end() ? 0 : static_cast<std::uint64_t>(found->second);
}

}  // namespace barchan
