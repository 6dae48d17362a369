// What is asked of every particle solver: the same bytes on any number of threads and from any
// state on, and the same shot on the GPU as on the CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "physics/fluid.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {

inline void expect_same_bytes_for_any_threads(const std::string& scene, double time) {
  const auto hash = [&](int threads) {
    const auto device = make_cpu_device(threads);
    Trial run(scene, *device);
    run.until(time);
    return hash_of(run.driver.state());
  };
  const std::uint64_t one = hash(1);
  EXPECT_EQ(hash(2), one);
  EXPECT_EQ(hash(4), one);
}

// Control: the hash sees a parameter that hardly shows.
inline void expect_other_bytes(const std::string& scene, const std::string& text,
                               const std::string& instead, double time) {
  const auto device = make_cpu_device(2);
  std::string other = scene;
  other.replace(other.find(text), text.size(), instead);
  Trial a(scene, *device), b(other, *device);
  a.until(time);
  b.until(time);
  EXPECT_NE(hash_of(a.driver.state()), hash_of(b.driver.state()));
}

// What a solver guesses from its last step (room for lists, the frame of the cells) must not show:
// one that begins anew every few steps gives the same bytes.
inline void expect_steps_of_the_state_alone(const std::string& scene, Device& device, double part,
                                            int parts) {
  Trial whole(scene, device);
  auto anew = std::make_unique<Trial>(scene, device);
  for (int k = 1; k <= parts; ++k) {
    whole.until(part * k);
    anew->until(part * k);
    ASSERT_EQ(hash_of(anew->driver.state()), hash_of(whole.driver.state())) << k;
    const Snapshot now = take_snapshot(anew->driver.state());
    anew = std::make_unique<Trial>(scene, device);
    anew->driver.restore(now);
  }
}

struct Look {
  double front = 0.0, height = 0.0, density = 0.0;
};
inline Look look_at(const std::string& scene, Device& device) {
  Trial run(scene, device);
  run.until(0.4);
  std::vector<double> x;
  Look look;
  for (const Vec3d& at : vectors_of(run.driver.state(), "position")) {
    x.push_back(at.x);
    look.height += at.y;
  }
  for (const float rho : numbers_of<float>(run.driver.state(), "density")) {
    look.density += static_cast<double>(rho);
  }
  const auto n = static_cast<double>(x.size());
  std::sort(x.begin(), x.end());
  look.front = x[static_cast<std::size_t>(0.95 * n)];
  look.height /= n;
  look.density /= n;
  return look;
}

inline void expect_devices_agree(const std::string& scene) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const Look a = look_at(scene, *cpu), b = look_at(scene, *cuda);
  EXPECT_NEAR(b.front, a.front, 0.02 * a.front);
  EXPECT_NEAR(b.height, a.height, 0.02 * a.height);
  EXPECT_NEAR(b.density, a.density, 0.02 * a.density);
}

// Control: what is compared above can tell one shot from another.
inline void expect_gravity_shows(const std::string& scene, const std::string& gravity) {
  const auto cpu = make_cpu_device(2);
  const Look a = look_at(scene, *cpu), b = look_at("gravity = " + gravity + "\n" + scene, *cpu);
  EXPECT_GT(std::abs(b.height - a.height), 0.02 * a.height);
}

}  // namespace barchan
