// Fluid and dynamic bodies push each other: what one gets, the other loses.
#include <fmt/core.h>

#include "physics/fluid.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using PbfBodies = OnDevice;

// A ball flies into a blob in empty space, off its middle.
constexpr const char* kShot = R"(
solver = "pbf"
resolution = 0.04
gravity = [0, 0, 0]
[[fill]]
shape = { sphere = { center = [0, 0, 0], radius = 0.25 } }
[[solid]]
name = "ball"
shape = { sphere = { center = [-0.45, 0.1, 0], radius = 0.12 } }
motion = "dynamic"
density = 2500
velocity = [4, 0, 0]
)";

Momentum of_both(const Trial& run, Vec3d& angular) {
  const State& state = run.driver.state();
  const std::vector<double> m = masses_of(run);
  const std::vector<Vec3d> x = vectors_of(state, "position"), v = vectors_of(state, "velocity");
  Momentum total = momentum_of(m, v);
  angular = {};
  for (std::size_t i = 0; i < x.size(); ++i) angular += m[i] * cross(x[i], v[i]);
  const RigidBody& ball = run.driver.bodies()[0];
  const BodyState& at = state.bodies[0];
  total.sum += ball.mass * at.velocity;
  total.size += ball.mass * length(at.velocity);
  angular += ball.mass * cross(at.position, at.velocity) +
             ball.angular_momentum(at.orientation, at.angular_velocity);
  return total;
}

TEST_P(PbfBodies, ABallThatFliesIntoABlobKeepsTheMomentum) {
  Trial run(kShot, *device);
  Vec3d turn_before, turn_after;
  const Momentum before = of_both(run, turn_before);
  run.until(0.25, [&](const State& state) {
    EXPECT_EQ(count_leaks(state, run.driver.solids(), 0.01), 0);
  });
  const Momentum after = of_both(run, turn_after);
  const BodyState& ball = run.driver.state().bodies[0];
  EXPECT_LT(ball.velocity.x, 3.5) << "the blob brakes it";
  EXPECT_GT(ball.velocity.y, 0.02) << "and it glances off, above the middle";
  EXPECT_LT(length(after.sum - before.sum), 1e-4 * before.size);
  EXPECT_LT(length(turn_after - turn_before), 1e-3 * before.size * 0.25);
  // Control: the fluid alone has gained what the ball lost, which is not little.
  const Momentum fluid = momentum_of(masses_of(run), vectors_of(run.driver.state(), "velocity"));
  EXPECT_GT(fluid.sum.x, 0.1 * before.size);
}

// Far lighter than the blob that it sets in motion: the step is taken again until both agree.
std::string light_shot() {
  std::string scene = kShot;
  scene.replace(scene.find("2500"), 4, "100");
  return scene;
}

TEST_P(PbfBodies, ALightBallKeepsTheMomentumTooAndIsNotThrownBack) {
  Trial run(light_shot(), *device);
  Vec3d turn;
  const Momentum before = of_both(run, turn);
  double back = 0.0;
  run.until(0.25, [&](const State& state) { back = std::min(back, state.bodies[0].velocity.x); });
  const Momentum after = of_both(run, turn);
  EXPECT_GT(back, -0.05);
  EXPECT_LT(run.driver.state().bodies[0].velocity.x, 0.5) << "the blob all but stops it";
  EXPECT_LT(length(after.sum - before.sum), 1e-4 * before.size);
}

// What floats high: let fall from a third of a spacing, it stays down.
void expect_to_float_calmly(Device& device, const char* body, double density) {
  SCOPED_TRACE(fmt::format("{} of {} kg/m^3", body, density));
  Trial run(fmt::format(R"(
solver = "pbf"
resolution = 0.04
[[fill]]
shape = {{ box = [[-0.4, 0, -0.4], [0.4, 0.4, 0.4]] }}
[[solid]]
name = "tank"
inside_out = true
shape = {{ box = [[-0.4, 0, -0.4], [0.4, 2, 0.4]] }}
[[solid]]
name = "body"
motion = "dynamic"
shape = {{ box = {} }}
density = {}
)",
                        body, density),
            device);
  const auto at = [](const State& state) { return state.bodies[1]; };
  const double start = at(run.driver.state()).position.y;
  double highest = 0.0, fastest = 0.0;
  run.until(1.0, [&](const State& state) {
    highest = std::max(highest, at(state).position.y);
    if (state.time > 0.5) fastest = std::max(fastest, length(at(state).velocity));
  });
  EXPECT_LT(highest, start + 1e-3);
  EXPECT_LT(fastest, 0.3);
  EXPECT_GT(at(run.driver.state()).position.y, start - 0.05);
}

TEST_P(PbfBodies, BodiesMuchLighterThanWaterFloatCalmly) {
  expect_to_float_calmly(*device, "[[-0.1, 0.412, -0.1], [0.1, 0.612, 0.1]]", 15.0);
  expect_to_float_calmly(*device, "[[-0.2, 0.412, -0.2], [0.2, 0.452, 0.2]]", 60.0);
}

void expect_the_same_bytes(const std::string& scene, Device& device) {
  const auto run_to = [&](Trial& run, double t) {
    while (run.driver.state().time < t) run.driver.step_within_frame();
  };
  Trial whole(scene, device), half(scene, device), rest(scene, device);
  run_to(whole, 0.2);
  run_to(half, 0.1);
  rest.driver.restore(take_snapshot(half.driver.state()));
  run_to(rest, 0.2);
  EXPECT_EQ(hash_of(whole.driver.state()), hash_of(rest.driver.state()));
  EXPECT_EQ(whole.driver.state().bodies[0].position, rest.driver.state().bodies[0].position);
}

TEST_P(PbfBodies, GoingOnFromASnapshotGivesTheSameBytes) {
  expect_the_same_bytes(kShot, *device);
  expect_the_same_bytes(light_shot(), *device);
}

BARCHAN_ON_EACH_DEVICE(PbfBodies);

}  // namespace
}  // namespace barchan
