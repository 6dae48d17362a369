// What tests of determinism compare: the bytes of a state after some time, and the look of a shot.
// Nothing is asserted here; what must be the same and what must not stands in the tests.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "physics/fluid.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {

// All columns of the state at that time, those that the solver keeps for itself included.
inline std::uint64_t hash_after(const std::string& scene, double time, int threads = 2) {
  const auto device = make_cpu_device(threads);
  Trial run(scene, *device);
  run.until(time);
  return hash_of(run.driver.state());
}

// The scene with another text in the place of one that it holds.
inline std::string replaced(std::string scene, const std::string& text,
                            const std::string& instead) {
  return scene.replace(scene.find(text), text.size(), instead);
}

inline void step_to(Trial& run, double time) {
  while (run.driver.state().time < time) run.driver.step_within_frame();
}

// What a solver guesses from its last step (room for lists, the frame of the cells) must not show.
// Steps whole, and beside it with a solver that begins anew after each part: how many parts end
// with the same bytes.
inline int parts_alike(const std::string& scene, Device& device, double part, int parts) {
  Trial whole(scene, device);
  auto anew = std::make_unique<Trial>(scene, device);
  int alike = 0;
  for (int k = 1; k <= parts; ++k) {
    whole.until(part * k);
    anew->until(part * k);
    alike += hash_of(anew->driver.state()) == hash_of(whole.driver.state());
    const Snapshot now = take_snapshot(anew->driver.state());
    anew = std::make_unique<Trial>(scene, device);
    anew->driver.restore(now);
  }
  return alike;
}

// What two devices, whose sums differ in their last bits, must agree on.
struct Look {
  double front = 0.0;         // 95 % of the particles are behind it, along x [m]
  double height = 0.0;        // of the particles, mean [m]
  double density = 0.0;       // mean; 0 where the solver has none [kg/m^3]
  std::vector<Vec3d> bodies;  // where they are [m]
};

inline double mean_density(const State& state) {
  double sum = 0.0;
  for (const Column& column : state.columns()) {
    if (column.spec().name != "density") continue;
    for (const float rho : numbers_of<float>(state, "density")) sum += static_cast<double>(rho);
  }
  return sum / static_cast<double>(state.size());
}

inline Look look_at(const std::string& scene, double time, Device& device) {
  Trial run(scene, device);
  run.until(time);
  const State& state = run.driver.state();
  Look look;
  std::vector<double> x;
  for (const Vec3d& at : vectors_of(state, "position")) {
    x.push_back(at.x);
    look.height += at.y;
  }
  const auto n = static_cast<double>(x.size());
  std::sort(x.begin(), x.end());
  look.front = x[static_cast<std::size_t>(0.95 * n)];
  look.height /= n;
  look.density = mean_density(state);
  for (const BodyState& body : state.bodies) look.bodies.push_back(body.position);
  return look;
}

}  // namespace barchan
