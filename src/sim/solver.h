// What a solver is to the driver: a State in, a State out, and a report.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "geometry/grain.h"
#include "geometry/solid.h"
#include "params/scene_params.h"
#include "sim/frame.h"
#include "sim/state.h"

namespace barchan {

// What every solver is told about the scene; its own parameters come beside it.
struct SolverSetup {
  double spacing = 0.0;  // [m]
  Vec3d gravity;         // [m/s^2]
  std::uint64_t seed = 0;
  std::vector<MaterialParams> materials;  // by index, as in column `material`
  std::vector<Solid> solids = {};
  Aabb stage = {};                      // what the scene's bounded parts take up [m]
  std::vector<GrainShape> grains = {};  // by material, where particles are grains

  // Smallest and largest radius of a material's grains [m]; half a spacing where it does not say.
  std::pair<double, double> grain_radii(std::size_t material) const {
    const std::vector<double>& radius = materials[material].radius;
    if (radius.empty()) return {0.5 * spacing, 0.5 * spacing};
    return {radius.front(), radius.back()};
  }
  // Mass of a particle of each material [kg]: it stands for a cube of one spacing. Of a grain it is
  // the mean: radii are spread evenly, and the mean of r^3 from a to b is (a^2 + b^2)(a + b) / 4.
  std::vector<double> particle_masses() const {
    std::vector<double> masses;
    for (std::size_t m = 0; m < materials.size(); ++m) {
      double mass = materials[m].density * spacing * spacing * spacing;
      if (!grains.empty()) {
        const auto [a, b] = grain_radii(m);
        mass = materials[m].density * grains[m].volume * (a * a + b * b) * (a + b) / 4.0;
      }
      masses.push_back(mass);
    }
    return masses;
  }
};

// What a step did. It prints nothing; the driver decides what becomes of it.
struct StepReport {
  double dt_used = 0.0;         // [s] differs from the dt asked for with adaptive integrators
  double max_speed = 0.0;       // of the new state [m/s]
  std::int64_t first_bad = -1;  // a particle whose new position or velocity is not finite
  double iterations = kNotMeasured;
  std::vector<double> density_error;  // largest, after each iteration, relative
  double density_error_mean = kNotMeasured;
  double density_error_max = kNotMeasured;
  double divergence_max = kNotMeasured;  // [1/s]
  std::uint64_t pairs = 0;               // neighbour pairs visited, for bench
  std::uint64_t boundary_particles = 0;
  std::string trouble;  // "" or why the step should be taken again with a smaller dt
  std::string remark;   // "" or what the user should know; the step stands
};

// What the material put on each solid during a step, about the solid's own origin where it is at
// the step's end: momentum and angular momentum are then exactly what the material lost.
struct BodyImpulses {
  std::vector<Vec3d> linear;   // [N s]
  std::vector<Vec3d> angular;  // [N m s]
  // Sum of impulses times the speeds at which material and solid approached each other [J]; 0 where
  // the solver does not say. See Driver::push_bodies.
  std::vector<double> approach;
};

// Energies beside those of the particles' centres of mass [J].
struct MoreEnergy {
  double kinetic = 0.0;    // of spin
  double potential = 0.0;  // stored in contacts
};

class Solver {
 public:
  virtual ~Solver() = default;

  // Columns beside position, velocity, id and material that must live from step to step.
  virtual std::vector<ColumnSpec> columns() const { return {}; }

  // The longest step that is safe from here [s].
  virtual double suggest_dt(const State& now) const = 0;

  // How many spacings a dynamic body's surface may move in a step.
  virtual double body_cfl() const { return 1.0; }

  // How many times its own mass a dynamic body may set in motion around it and still get its
  // impulse after the step. See LightBodies.
  virtual double most_added_mass() const { return std::numeric_limits<double>::infinity(); }

  // Fills in the solver's columns of particles that are new, which have 0 there; asked after the
  // first fill and after births.
  virtual void complete(State& /*state*/) {}

  // Dynamic bodies meet each other and other solids in the solver: the rigid world only moves them.
  virtual bool meets_bodies() const { return false; }

  // What bodies get at the beginning of a step, before they move. Solvers whose forces act at both
  // ends of a step (velocity Verlet) say so here; `out` of step() then has the other half.
  virtual void push_first(const State& /*now*/, double /*dt*/, BodyImpulses& /*out*/) const {}

  // Adds to a frame what is not a column: arrays of other lengths, as "group/name".
  virtual void add_to_frame(const State& /*now*/, Frame& /*frame*/) const {}

  // For the ledger, after a step: of the state that it led to.
  virtual MoreEnergy more_energy(const State& /*now*/) { return {}; }

  // Takes one step. `next` already follows `now` (State::follow); `solids` has the poses at its
  // beginning and end. `now` must stay as it is: the driver may ask again with a smaller dt.
  virtual StepReport step(const State& now, const SolidsView& solids, double dt, State& next,
                          BodyImpulses& out) = 0;

  // A particle's distance to the surface that it should give [m].
  virtual double surface_radius() const = 0;

  // Bytes that one step must at least move through memory, for the floor printed by bench; 0: not
  // known.
  virtual double floor_bytes(std::size_t /*particles*/) const { return 0.0; }
};

}  // namespace barchan
