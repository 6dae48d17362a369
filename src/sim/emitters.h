// [[emitter]]: particles are born inside a shape, at a steady rate, all at one velocity.
//
// The n-th particle of an emitter is due at start + n m / rate, m its mass, whatever the steps are.
// Births happen after an accepted step, for the time that it took: a particle due at tau has flown
// freely from tau to the step's end t1, so it is found at
//     x + (t1 - tau) v + (t1 - tau)^2 / 2 g     with velocity     v + (t1 - tau) g,
// x inside the shape. That makes the stream even: without the second terms all particles of a step
// would share one velocity, and the steps would drift apart as slabs.
//
// No newborn is nearer than kApart spacings to another particle, nor inside a solid. A particle
// that finds no place stays owed and is born later; what an emitter has delivered is in
// State::scalars, so that a resumed run goes on with it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "geometry/solid.h"
#include "math/random.h"
#include "scene/scene.h"
#include "sim/crowd.h"
#include "sim/inlet.h"
#include "sim/selection.h"
#include "sim/solver.h"
#include "sim/state.h"

namespace barchan {

class Emitters {
 public:
  // Of a newborn to any other particle [spacings]; grains, which are hard, must not overlap at all.
  static constexpr double kApart = 0.95;

  // Rejects shapes too thin to hold a particle. The scene is read only here.
  Emitters(const Scene& scene, Device& device);

  // The longest step [s] after which newborns are still near their shape.
  double longest_step(const State& now) const;

  // Adds the particles born in the step before state.time, and warns once where a stream is
  // blocked.
  void emit(State& state, const SolidSet& solids);

  // Particles that all emitters together are to deliver until `time` [s].
  double due(double time) const;
  // Most that emitter e can deliver [kg/s]: density x area across the velocity x speed.
  double capacity(std::size_t e) const;
  // One sentence for each emitter that is asked for more than that.
  std::vector<std::string> overloads() const;

 private:
  struct Source {
    Inlet inlet;
    EmitterParams params;
    std::string place;  // in the scene file
    std::string key;    // of State::scalars: particles born so far
    int material = 0;
    double density = 0.0;               // of a spacing's cube with a particle in it [kg/m^3]
    double mass = 0.0;                  // of a particle [kg]
    double speed = 0.0;                 // [m/s]
    double load = 0.0;                  // rate / capacity
    bool told = false;                  // that it is blocked
    std::vector<char> full;             // lines without a place left in this step
    double due(double time) const;      // particles
    double birth(double number) const;  // when that many are due [s]
  };
  struct Newborn {
    Vec3 position, velocity;  // at the end of the step [m], [m/s]
    Vec3 from;                // where it was born [m]
    int material;
  };
  // The step under way.
  struct Moment {
    double start, end;  // [s]
    const SolidSet& solids;
    std::uint64_t first_id;
  };

  void deliver(double due, double& born, Source& source, const Moment& moment);
  Aabb reach(const Source& source, const Moment& moment) const;
  void gather_crowd(const State& state, const std::vector<Aabb>& places);
  bool place(double number, Source& source, const Moment& moment);
  bool place_on_line(std::size_t line, double age, std::uint64_t id, const Source& source,
                     const Moment& moment);
  bool place_anywhere(double age, std::uint64_t id, const Source& source, const Moment& moment);
  bool squeeze_in(double number, Source& source, const Moment& moment);
  bool put(const Vec3d& from, double age, const Source& source, const Moment& moment);
  void append_newborns(State& state);

  double spacing_;     // [m]
  double look_ahead_;  // steps are no longer than this [s]
  Vec3d gravity_;      // [m/s^2]
  Random random_;
  std::vector<Source> sources_;
  RowSelector selector_;
  double apart_;  // [spacings]
  Crowd crowd_;
  std::vector<Newborn> newborns_;  // of the step under way
};

// Particles that emitters have delivered since the run began.
std::uint64_t emitted_particles(const State& state);

}  // namespace barchan
