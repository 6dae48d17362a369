// Fluid and dynamic bodies push each other: what one gets, the other loses.
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

TEST_P(PbfBodies, GoingOnFromASnapshotGivesTheSameBytes) {
  const auto run_to = [&](Trial& run, double t) {
    while (run.driver.state().time < t) run.driver.step_within_frame();
  };
  Trial whole(kShot, *device), half(kShot, *device), rest(kShot, *device);
  run_to(whole, 0.2);
  run_to(half, 0.1);
  rest.driver.restore(take_snapshot(half.driver.state()));
  run_to(rest, 0.2);
  EXPECT_EQ(hash_of(whole.driver.state()), hash_of(rest.driver.state()));
  EXPECT_EQ(whole.driver.state().bodies[0].position, rest.driver.state().bodies[0].position);
}

BARCHAN_ON_EACH_DEVICE(PbfBodies);

}  // namespace
}  // namespace barchan
