// Position Based Fluids in tanks, through the driver and on each device.
#include <cmath>

#include "physics/fluid.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using PbfPool = OnDevice;

constexpr const char* kPool = R"(
solver = "pbf"
resolution = 0.05
duration = 2
fps = 10
[pbf]
iterations = 4
[[fill]]
sampling = "lattice"
shape = { box = [[0, 0, 0], [0.4, 0.6, 0.4]] }
[[solid]]
name = "tank"
inside_out = true
shape = { box = [[0, 0, 0], [0.4, 1, 0.4]] }
[[probe]]
name = "low"
kind = "pressure"
at = [0.2, 0.15, 0.2]
[[probe]]
name = "high"
kind = "pressure"
at = [0.2, 0.4, 0.2]
)";

// What probes measured in the frames of the second half, on average.
class ProbeMeans final : public FrameSink {
 public:
  void frame(Frame frame, const LedgerRow& row) override {
    leaks += row.leaks;
    if (frame.index < 10) return;
    ++count_;
    for (const auto& [name, value] : frame.probes) sums_[name] += value;
  }
  void checkpoint(Snapshot, CheckpointKind) override {}
  double operator()(const std::string& name) const { return sums_.at(name) / count_; }
  std::int64_t leaks = 0;

 private:
  std::map<std::string, double> sums_;
  double count_ = 0.0;
};

ProbeMeans measured(const std::string& scene, Device& device) {
  Trial run(scene, device);
  ProbeMeans means;
  run.driver.run(
      means, [] { return false; }, [](const Progress&) {});
  return means;
}

TEST_P(PbfPool, PressureGrowsByRhoGAndTheDepth) {
  const ProbeMeans water = measured(kPool, *device);
  EXPECT_NEAR((water("low") - water("high")) / 0.25, 9810.0, 981.0);
  EXPECT_NEAR(water("low"), 9810.0 * 0.45, 0.1 * 9810.0 * 0.45 + 9810.0 * 0.05);
  EXPECT_EQ(water.leaks, 0);
  // Control: with 0.8 g it must be missed.
  const ProbeMeans light = measured(std::string("gravity = [0, -7.848, 0]\n") + kPool, *device);
  EXPECT_LT((light("low") - light("high")) / 0.25, 9810.0 - 981.0);
}

// All the weight is on the tank; none of it sideways.
TEST_P(PbfPool, TheTankCarriesTheWeight) {
  Trial run(kPool, *device);
  run.until(1.0);
  const Vec3d before = run.driver.state().bodies[0].impulse;
  run.until(2.0);
  const Vec3d force = run.driver.state().bodies[0].impulse - before;
  const double weight = 9.81 * 1000.0 * 0.4 * 0.4 * 0.6;
  EXPECT_NEAR(force.y, -weight, 0.01 * weight);
  EXPECT_NEAR(force.x, 0.0, 0.01 * weight);
}

// ---- Two materials

std::string layers(double lower, double upper) {
  return fmt::format(R"(
solver = "pbf"
resolution = 0.05
[material.lower]
density = {}
[material.upper]
density = {}
[[fill]]
material = "lower"
shape = {{ union = [ {{ box = [[0, 0, 0], [0.25, 0.2, 0.25]] }}, {{ box = [[0.25, 0, 0], [0.5, 0.4, 0.25]] }} ] }}
[[fill]]
material = "upper"
shape = {{ union = [ {{ box = [[0, 0.2, 0], [0.25, 0.6, 0.25]] }}, {{ box = [[0.25, 0.4, 0], [0.5, 0.6, 0.25]] }} ] }}
[[solid]]
inside_out = true
shape = {{ box = [[0, 0, 0], [0.5, 1, 0.25]] }}
)",
                     lower, upper);
}

TEST_P(PbfPool, LightAboveHeavyStays) {
  Trial run(layers(1000.0, 500.0), *device);
  run.until(2.0);
  const std::vector<double> y = mean_heights(run);
  EXPECT_NEAR(y[0], 0.15, 0.03);
  EXPECT_NEAR(y[1], 0.45, 0.03);
}

TEST_P(PbfPool, HeavyAboveLightTurnsOver) {
  Trial run(layers(500.0, 1000.0), *device);
  run.until(3.0);
  const std::vector<double> y = mean_heights(run);
  EXPECT_GT(y[0], y[1] + 0.1);
}

// ---- Particles that come and go

TEST_P(PbfPool, EmittedLessRemovedIsThere) {
  Trial run(R"(
solver = "pbf"
resolution = 0.04
[[fill]]
shape = { box = [[-0.3, 0, -0.3], [0.3, 0.12, 0.3]] }
[[emitter]]
shape = { cylinder = { from = [0, 0.7, 0], to = [0, 0.65, 0], radius = 0.1 } }
velocity = [0, -2, 0]
rate = 25
[[sink]]
shape = { box = [[0.1, -1, -1], [1, 0.1, 1]] }
[[solid]]
inside_out = true
shape = { box = [[-0.3, 0, -0.3], [0.3, 0.8, 0.3]] }
)",
            *device);
  const std::size_t first = run.driver.state().size();
  run.until(1.5, [&](const State& state) {
    EXPECT_EQ(count_leaks(state, run.driver.solids(), 0.01), 0);
  });
  const State& state = run.driver.state();
  // 25 kg/s of 0.064 kg each, to within one particle.
  EXPECT_NEAR(static_cast<double>(state.next_id - first), 1.5 * 25.0 / 0.064, 1.5);
  EXPECT_LT(state.size(), static_cast<std::size_t>(state.next_id)) << "the sink took some";
  EXPECT_GT(state.size(), first / 2) << "and not all";
}

TEST_P(PbfPool, AKeyframedPaddlePushesTheWater) {
  Trial run(R"(
solver = "pbf"
resolution = 0.05
[[fill]]
shape = { box = [[0, 0, 0], [1, 0.3, 0.3]] }
[[solid]]
name = "tank"
inside_out = true
shape = { box = [[0, 0, 0], [1, 1, 0.3]] }
[[solid]]
name = "paddle"
shape = { box = [[-0.4, -0.2, -0.2], [0, 0.9, 0.5]] }
motion = "keyframes"
keyframes = [ { time = 0.0 }, { time = 0.4, position = [0.4, 0, 0] } ]
)",
            *device);
  run.until(0.2);
  const Momentum pushed = momentum_of(masses_of(run), vectors_of(run.driver.state(), "velocity"));
  EXPECT_GT(pushed.sum.x, 0.2 * pushed.size) << "it goes along";
  EXPECT_LT(run.driver.state().bodies[1].impulse.x, -1.0) << "the paddle feels it";
  double level = 0.0;
  run.until(2.0, [&](const State& state) {
    EXPECT_EQ(count_leaks(state, run.driver.solids(), 0.0125), 0);
  });
  for (const Vec3d& x : vectors_of(run.driver.state(), "position")) {
    EXPECT_GT(x.x, 0.4);
    level += 2.0 * x.y / static_cast<double>(run.driver.state().size());
  }
  EXPECT_NEAR(level, 0.3 / 0.6, 0.05) << "twice the mean height";
}

BARCHAN_ON_EACH_DEVICE(PbfPool);

}  // namespace
}  // namespace barchan
