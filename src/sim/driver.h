// Runs a scene: chooses steps, takes them, takes them again where they blow up, and hands out
// frames at their exact times.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "geometry/solid.h"
#include "rigid/rigid_bodies.h"
#include "scene/scene.h"
#include "sim/emitters.h"
#include "sim/frame.h"
#include "sim/light_bodies.h"
#include "sim/probes.h"
#include "sim/sinks.h"
#include "sim/solver.h"
#include "sim/state.h"

namespace barchan {

// After each step, for a progress line.
struct Progress {
  std::int64_t frame = 0;   // being computed
  std::int64_t frames = 0;  // in all
  double time = 0.0;        // [s]
  std::size_t particles = 0;
  double ms_per_step = 0.0;  // mean over the frame
  double iterations = 0.0;   // of the last step; NaN where the solver has none
  double error = 0.0;        // density or divergence error of the last step; NaN likewise
  bool frame_done = false;
};

enum class Outcome { done, interrupted };

class Driver {
 public:
  // Starts at the scene's beginning; restore() goes on from elsewhere.
  Driver(const Scene& scene, Device& device, Solver& solver);

  void restore(const Snapshot& snapshot);

  // Computes frames until the scene ends or stop() says so, which is asked after each step. Frame 0
  // is the start.
  Outcome run(FrameSink& sink, const std::function<bool()>& stop,
              const std::function<void(const Progress&)>& progress);

  // One accepted step of at most `limit` seconds.
  StepReport step(double limit);
  // One accepted step that ends at the next frame's time at the latest; counts the frame there.
  StepReport step_within_frame();

  // A frame of this moment, between frames, too; without what probes measure.
  Frame picture() const;
  // Changes the state between two steps; particles may be added behind the last one.
  void disturb(const std::function<void(State&)>& change);

  const State& state() const { return now_; }
  // The step before ended on a frame's exact time.
  bool at_frame() const { return now_.time == frame_time(now_.frame); }
  const SolidSet& solids() const { return solids_; }
  const RigidBodies& bodies() const { return bodies_; }
  const Emitters& emitters() const { return emitters_; }
  double frame_time(std::int64_t frame) const;

 private:
  StepReport try_step(double dt);
  void accept(const StepReport& report, double time);
  [[noreturn]] void give_up(const StepReport& report, double dt, int tries);
  std::vector<BodyMotion> motions() const;
  double longest_step_of_bodies() const;
  void move_bodies(double dt);
  double taken(const RigidBody& body, double restitution, std::size_t solid) const;
  void push_bodies();
  void place_solids();
  void finish_frame(FrameSink& sink, double milliseconds, const StepReport& last);
  LedgerRow ledger_row(double milliseconds, const StepReport& last) const;
  void pass_on(const StepReport& report);
  void exchange_particles();
  Frame make_frame();

  const Scene& scene_;
  Solver& solver_;
  SolverSetup setup_;
  SolidSet solids_;
  RigidBodies bodies_;
  LightBodies light_bodies_;
  Emitters emitters_;
  Sinks sinks_;
  Probes probes_;
  State now_, next_;
  BodyImpulses impulses_;
  BodyImpulses first_;     // what bodies got before they moved
  bool remarked_ = false;  // a remark was passed on
};

}  // namespace barchan
