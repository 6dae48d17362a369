// Particles push dynamic bodies and are pushed by them, through the driver and on each device.
#include <cmath>

#include "physics/trial.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using TwoWay = OnDevice;

// A slab of particles flies at a ball in empty space, off its middle.
constexpr const char* kShotAtABall = R"(
resolution = 0.04
gravity = [0, 0, 0]
[material.sand]
density = 1600
[[fill]]
material = "sand"
shape = { box = [[-1.2, -0.1, -0.3], [-0.6, 0.5, 0.3]] }
velocity = [5, 0, 0]
[[solid]]
name = "ball"
shape = { sphere = { center = [0, 0, 0], radius = 0.25 } }
motion = "dynamic"
density = 800
friction = 0.5
restitution = 0.4
)";

struct Momenta {
  Vec3d linear, angular;  // about the origin
};
Momenta momenta(const Trial& run) {
  const State& state = run.driver.state();
  const SolverSetup setup{run.scene.general.resolution, {}, 1, {run.scene.materials[0].params}};
  const double m = setup.particle_masses()[0];
  const HostColumn x = download(state.device(), state.column("position"));
  const HostColumn v = download(state.device(), state.column("velocity"));
  Momenta sum;
  for (std::size_t i = 0; i < state.size(); ++i) {
    Vec3d at, p;
    for (int k = 0; k < 3; ++k) {
      at[k] = static_cast<double>(x.component<float>(k)[i]);
      p[k] = m * static_cast<double>(v.component<float>(k)[i]);
    }
    sum.linear += p;
    sum.angular += cross(at, p);
  }
  const RigidBodies& bodies = run.driver.bodies();
  for (int b = 0; b < bodies.count(); ++b) {
    const BodyState& body = state.bodies[static_cast<std::size_t>(bodies.solid(b))];
    const Vec3d p = bodies[b].mass * body.velocity;
    sum.linear += p;
    sum.angular += cross(body.position, p) +
                   bodies[b].angular_momentum(body.orientation, body.angular_velocity);
  }
  return sum;
}

TEST_P(TwoWay, MomentumPassesFromTheMaterialToTheBody) {
  Trial run(kShotAtABall, *device);
  const Momenta before = momenta(run);
  run.until(0.5);
  const Momenta after = momenta(run);
  const BodyState& ball = run.driver.state().bodies[0];
  EXPECT_GT(ball.velocity.x, 1.0);
  EXPECT_LT(ball.velocity.y, -0.05);               // hit above its middle
  EXPECT_GT(length(ball.angular_velocity), 0.05);  // and set spinning by friction
  EXPECT_LT(length(after.linear - before.linear), 1e-5 * length(before.linear));
  EXPECT_LT(length(after.angular - before.angular), 1e-3 * length(before.linear) * 0.25);
  EXPECT_EQ(count_leaks(run.driver.state(), run.driver.solids(), 0.25 * 0.04), 0);
}

// A heavy lid falls on a bed of particles: what it pushes down it must not end up in.
TEST_P(TwoWay, NothingIsInsideABodyThatFallsOnIt) {
  Trial run(R"(
resolution = 0.05
[[fill]]
shape = { box = [[-0.5, 0, -0.5], [0.5, 0.3, 0.5]] }
[[solid]]
name = "room"
shape = { box = [[-0.5, 0, -0.5], [0.5, 3, 0.5]] }
inside_out = true
[[solid]]
name = "lid"
shape = { box = [[-0.3, 0.8, -0.3], [0.3, 1.0, 0.3]], rotate = { axis = [1, 0, 1], angle = 10 } }
motion = "dynamic"
density = 5000
angular_velocity = [0, 4, 0]
)",
            *device);
  run.until(1.0, [&](const State& state) {
    EXPECT_EQ(count_leaks(state, run.driver.solids(), 0.25 * 0.05), 0);
  });
  EXPECT_LT(run.driver.state().bodies[1].position.y, 0.6);
}

TEST_P(TwoWay, GoingOnFromASnapshotGivesTheSameBytes) {
  const auto run_to = [&](Trial& run, double t) {
    while (run.driver.state().time < t) run.driver.step_within_frame();
  };
  Trial whole(kShotAtABall, *device), half(kShotAtABall, *device), rest(kShotAtABall, *device);
  run_to(whole, 0.4);
  run_to(half, 0.2);
  rest.driver.restore(take_snapshot(half.driver.state()));
  run_to(rest, 0.4);
  EXPECT_EQ(hash_of(whole.driver.state()), hash_of(rest.driver.state()));
  EXPECT_EQ(whole.driver.state().bodies[0].position, rest.driver.state().bodies[0].position);
  EXPECT_EQ(whole.driver.state().bodies[0].orientation, rest.driver.state().bodies[0].orientation);
}

// A light body falls on far more mass than its own, which has nowhere to go: it must not be thrown
// back up by all the particles that each think it cannot give way.
TEST_P(TwoWay, NoBodyIsThrownBackFasterThanItCame) {
  Trial run(R"(
resolution = 0.04
[[fill]]
shape = { box = [[-0.4, 0, -0.4], [0.4, 0.8, 0.4]] }
[[solid]]
name = "room"
shape = { box = [[-0.5, 0, -0.5], [0.5, 4, 0.5]] }
inside_out = true
restitution = 0.2
[[solid]]
name = "plate"
shape = { box = [[-0.3, 1.3, -0.3], [0.3, 1.36, 0.3]], rotate = { axis = [1, 0, 0.4], angle = 20 } }
motion = "dynamic"
density = 500
restitution = 0.2
)",
            *device);
  const double start = run.driver.state().bodies[1].position.y;
  run.until(0.5);
  double highest = 0.0;
  run.until(3.0, [&](const State& state) {
    highest = std::max(highest, state.bodies[1].position.y);
    EXPECT_EQ(count_leaks(state, run.driver.solids(), 0.25 * 0.04), 0);
  });
  EXPECT_LT(highest, 0.7 * start);
  EXPECT_LT(length(run.driver.state().bodies[1].velocity), 1.0);
}

// What bodies.csv will say of a body at rest on a floor under a column of particles: it is not
// moved, and the material's weight is on it.
TEST_P(TwoWay, ARestingBodyStaysWhereItIs) {
  Trial run(R"(
resolution = 0.05
[[fill]]
shape = { box = [[-0.1, 0.5, -0.1], [0.1, 0.7, 0.1]] }
[[solid]]
name = "floor"
shape = { plane = { point = [0, 0, 0], normal = [0, 1, 0] } }
[[solid]]
name = "block"
shape = { box = [[-0.3, 0, -0.3], [0.3, 0.4, 0.3]] }
motion = "dynamic"
restitution = 0
)",
            *device);
  run.until(2.0);
  const BodyState& block = run.driver.state().bodies[1];
  EXPECT_LT(length(block.position - Vec3d(0, 0.2, 0)), 1e-3);
  // The push of the last step is still in its velocity: 8 kg on 144 kg for 5 ms.
  EXPECT_NEAR(block.velocity.y, -9.81 * 8.0 / 144.0 * 0.005, 2e-4);
}

BARCHAN_ON_EACH_DEVICE(TwoWay);

}  // namespace
}  // namespace barchan
