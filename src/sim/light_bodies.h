// Bodies that are light beside the liquid they set in motion.
#pragma once

#include <cstddef>
#include <vector>

#include "rigid/rigid_bodies.h"
#include "sim/solver.h"
#include "sim/state.h"

namespace barchan {

// A solver lets the material meet a body as if it could not give way within the step, and the body
// gets the impulse afterwards. Where the liquid that goes along has many times the body's mass, as
// with beach balls and rafts, that throws the body back faster than it came, however short the
// step.
//
// So such a body gets a guess G of its impulse J before it moves, and the step is taken again until
// the two agree within what is given after the step without harm: J - G, so that momentum is kept.
// Water that goes along with r times the body's mass answers a change of G by -r times as much; the
// next guess is G + omega (J - G), omega = 1 / (1 + r) at first, then by Aitken's rule from the
// last two. Guesses begin with the force of the step before, so that a body that floats costs
// nothing. Where the two do not agree in time, omega (J - G) is given and the rest is lost.
class LightBodies {
 public:
  // Those that set more than `most` times their own mass in motion in a liquid of this density
  // [kg/m^3].
  LightBodies(const RigidBodies& bodies, double most, double density, double spacing);

  // Before a step: of dt [s] from `now`, under the gravity g [m/s^2].
  void begin(const State& now, double g, double dt);
  // What they get before they move.
  void kick_first(BodyImpulses& first) const;
  // After it: whether it should be taken again, with better guesses. If not, `out` becomes what is
  // still to be given.
  bool improve(BodyImpulses& out);
  // After a step that stands: what the next one begins with.
  void remember(const BodyImpulses& first, const BodyImpulses& out, double dt, State& now) const;

 private:
  struct Light {
    std::size_t solid = 0;
    double mass = 0.0, size = 0.0;  // [kg], [m]
    double least = 0.0;             // 1 / (1 + r)
    double omega = 0.0;
    Vec3d linear, angular;            // the guess [N s], [N m s]
    Vec3d rest_linear, rest_angular;  // what it missed
  };
  std::vector<Light> lights_;
  double spacing_;          // [m]
  double tolerance_ = 0.0;  // [m/s]
  int tries_ = 0;
};

}  // namespace barchan
