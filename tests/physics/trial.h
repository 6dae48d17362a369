// A scene that a test steps through by hand.
#pragma once

#include <memory>
#include <string>

#include "scene/scene.h"
#include "sim/driver.h"
#include "solvers/make_solver.h"

namespace barchan {

struct Trial {
  Trial(const std::string& text, Device& device)
      : scene(read_scene(text, "test.toml")),
        solver(make_solver(scene, device)),
        driver(scene, device, *solver) {}

  // Until time t, calling each(state) after every step.
  template <class F>
  void until(double t, const F& each) {
    while (driver.state().time < t - 1e-12) {
      driver.step(t - driver.state().time);
      each(driver.state());
    }
  }
  void until(double t) {
    until(t, [](const State&) {});
  }
  double position(int axis, std::size_t i = 0) const { return value("position", axis, i); }
  double velocity(int axis, std::size_t i = 0) const { return value("velocity", axis, i); }
  double value(const char* name, int axis, std::size_t i) const {
    const State& state = driver.state();
    return static_cast<double>(
        download(state.device(), state.column(name)).component<float>(axis)[i]);
  }
  Scene scene;
  std::unique_ptr<Solver> solver;
  Driver driver;
};

}  // namespace barchan
