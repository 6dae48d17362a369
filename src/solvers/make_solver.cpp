#include "solvers/make_solver.h"

#include "compute/dispatch.h"
#include "sim/initial_state.h"
#include "solvers/ballistic/ballistic_solver.h"
#include "solvers/flip/flip_solver.h"
#include "solvers/granular_sph/gsph_solver.h"
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
  if (name == "pbf") return make<PbfSolver>(device, scene, scene.pbf);
  reject("solver = \"{}\" is not available yet", name);
}

}  // namespace barchan
