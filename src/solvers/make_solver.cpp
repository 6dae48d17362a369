#include "solvers/make_solver.h"

#include "base/log.h"
#include "compute/dispatch.h"
#include "sim/initial_state.h"
#include "solvers/ballistic/ballistic_solver.h"
#include "solvers/dem/dem_solver.h"
#include "solvers/flip/flip_solver.h"
#include "solvers/granular_sph/gsph_solver.h"
#include "solvers/pbf/lattice.h"
#include "solvers/pbf/pbf_solver.h"

namespace barchan {

namespace {

template <template <class> class S, class Params>
std::unique_ptr<Solver> make(Device& device, const Scene& scene, const Params& params) {
  return on_device(device, [&]<class D>(D& on) -> std::unique_ptr<Solver> {
    return std::make_unique<S<D>>(on, solver_setup(scene), params);
  });
}

// What these solvers would take for something else.
void refuse_viscous(const Scene& scene) {
  for (const Material& material : scene.materials) {
    const MaterialParams& m = material.params;
    constexpr double kThin = 0.01;  // ten times that of water, which shows nowhere [Pa s]
    if (m.viscosity > kThin) {
      reject(
          "material '{}' is viscous, which is not available yet with solver = \"{}\"; make it "
          "thinner than 0.01 Pa s, or use solver = \"pbf\"",
          material.name, scene.general.solver);
    }
  }
}

// Grains that would overlap at the start would fly apart.
void check_for_dem(const Scene& scene, const SolverSetup& setup) {
  constexpr double kHair = 1.0 + 1e-6;
  for (std::size_t m = 0; m < setup.materials.size(); ++m) {
    const double radius = setup.grain_radii(m).second;
    if (2.0 * radius > kHair * setup.spacing) {
      reject(
          "material '{}' has grains of radius {} m, which overlap at resolution = {} m; make it at "
          "least {} m",
          scene.materials[m].name, radius, setup.spacing, 2.0 * radius);
    }
  }
  for (const Fill& fill : scene.fills) {
    const double radius = setup.grain_radii(static_cast<std::size_t>(fill.material)).second;
    const double room = 1.0 - 2.0 * radius / setup.spacing;
    if (fill.params.sampling == "jittered" && fill.params.jitter > room + 1e-6) {
      reject(
          "{}: grains of this fill would overlap: jitter = {} of a spacing, but grains of radius "
          "{} m leave {:.3g} of it free; lower jitter, or raise the resolution above 2 radii",
          fill.place, fill.params.jitter, radius, std::max(room, 0.0));
    }
  }
}

void check_for_pbf(const PbfParams& params) {
  const double safe = pbf::safe_s_corr(params.s_corr_distance);
  if (params.s_corr <= safe) return;
  warn(
      "pbf.s_corr = {:.3g} at s_corr_distance = {:.3g} may push particles farther than iterations "
      "can take back, so that splashes gain energy; up to {:.2g} none did",
      params.s_corr, params.s_corr_distance, safe);
}

}  // namespace

std::unique_ptr<Solver> make_solver(const Scene& scene, Device& device) {
  const std::string& name = scene.general.solver;
  if (name == "ballistic") return make<BallisticSolver>(device, scene, scene.ballistic);
  if (name == "flip") {
    refuse_viscous(scene);
    return make<FlipSolver>(device, scene, scene.flip);
  }
  if (name == "granular-sph") {
    refuse_viscous(scene);
    return make<GsphSolver>(device, scene, scene.granular_sph);
  }
  if (name == "dem") {
    check_for_dem(scene, solver_setup(scene));
    return make<DemSolver>(device, scene, scene.dem);
  }
  if (name == "pbf") {
    check_for_pbf(scene.pbf);
    return make<PbfSolver>(device, scene, scene.pbf);
  }
  reject("solver = \"{}\" is not available yet", name);
}

}  // namespace barchan
