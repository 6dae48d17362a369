#include "barchan/simulation.h"

#include "scene/scene.h"
#include "sim/driver.h"
#include "solvers/make_solver.h"

namespace barchan {

struct Simulation::Parts {
  Parts(const std::string& name, const Options& options)
      : scene(load_scene(name, options.settings)),
        device(make_device(options.device, options.threads)),
        solver(make_solver(scene, *device)),
        driver(scene, *device, *solver) {}

  std::vector<float> vectors(const char* name) const {
    const HostColumn column = download(*device, driver.state().column(name));
    std::vector<float> out(3 * column.size);
    for (int axis = 0; axis < 3; ++axis) {
      const float* from = column.component<float>(axis);
      for (std::size_t i = 0; i < column.size; ++i)
        out[3 * i + static_cast<std::size_t>(axis)] = from[i];
    }
    return out;
  }

  Scene scene;
  std::unique_ptr<Device> device;
  std::unique_ptr<Solver> solver;
  Driver driver;
};

Simulation::Simulation(const std::string& scene) : Simulation(scene, Options()) {}
Simulation::Simulation(const std::string& scene, const Options& options)
    : parts_(std::make_unique<Parts>(scene, options)) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::step() {
  parts_->driver.step_within_frame();
}

void Simulation::advance_frame() {
  const std::int64_t next = frame() + 1;
  while (frame() < next) step();
}

double Simulation::time() const {
  return parts_->driver.state().time;
}
std::int64_t Simulation::frame() const {
  return parts_->driver.state().frame;
}
std::size_t Simulation::size() const {
  return parts_->driver.state().size();
}
std::vector<float> Simulation::positions() const {
  return parts_->vectors("position");
}
std::vector<float> Simulation::velocities() const {
  return parts_->vectors("velocity");
}

std::vector<std::uint64_t> Simulation::ids() const {
  const HostColumn column = download(*parts_->device, parts_->driver.state().column("id"));
  const auto* from = column.component<std::uint64_t>(0);
  return {from, from + column.size};
}

}  // namespace barchan
