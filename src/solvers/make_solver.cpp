#include "solvers/make_solver.h"

#include "compute/dispatch.h"
#include "sim/initial_state.h"
#include "solvers/ballistic/ballistic_solver.h"
#include "solvers/flip/flip_solver.h"
#include "solvers/pbf/pbf_solver.h"

namespace barchan {

namespace {

template <template <class> class S, class Params>
std::unique_ptr<Solver> make(Device& device, const Scene& scene, const Params& params) {
  return on_device(device, [&]<class D>(D& on) -> std::unique_ptr<Solver> {
    return std::make_unique<S<D>>(on, solver_setup(scene), params);
  });
}

}  // namespace

std::unique_ptr<Solver> make_solver(const Scene& scene, Device& device) {
  const std::string& name = scene.general.solver;
  if (name == "ballistic") return make<BallisticSolver>(device, scene, scene.ballistic);
  if (name == "flip") return make<FlipSolver>(device, scene, scene.flip);
  if (name == "pbf") return make<PbfSolver>(device, scene, scene.pbf);
  reject("solver = \"{}\" is not available yet", name);
}

}  // namespace barchan
