// Sand in flip: the same bytes on any number of threads, after a resume and after steps that were
// thrown away, and the GPU against the CPU.
#include <cmath>

#include "physics/determinism.h"

namespace barchan {
namespace {

// A heap that slides down at a slanted wall, and a ball that falls into it.
std::string slide(const std::string& mode) {
  return R"(
solver = "flip"
resolution = 0.025
duration = 0.5
seed = 3
[material.sand]
density = 1600
friction_angle = 30
cohesion = 20
[[fill]]
shape = { box = [[0, 0, 0], [0.3, 0.3, 0.3]] }
[[solid]]
name = "floor"
friction = 0.4
shape = { plane = { point = [0, 0, 0], normal = [0.2, 0.98, 0.05] } }
[[solid]]
name = "ball"
motion = "dynamic"
density = 2500
shape = { sphere = { center = [0.15, 0.42, 0.13], radius = 0.08 } }
[flip]
friction = ")" +
         mode + "\"\n";
}
const char* const kModes[] = {"coupled", "lagged", "paper"};

TEST(FlipSandDeterminism, SameBytesForAnyNumberOfThreads) {
  for (const char* mode : kModes) {
    const std::uint64_t one = hash_after(slide(mode), 0.1, 1);
    EXPECT_EQ(hash_after(slide(mode), 0.1, 2), one) << mode;
    EXPECT_EQ(hash_after(slide(mode), 0.1, 3), one) << mode;
  }
}

// Control: the three are not the same.
TEST(FlipSandDeterminism, EachModeHasItsOwnBytes) {
  const std::uint64_t coupled = hash_after(slide("coupled"), 0.03),
                      lagged = hash_after(slide("lagged"), 0.03),
                      paper = hash_after(slide("paper"), 0.03);
  EXPECT_NE(coupled, lagged);
  EXPECT_NE(coupled, paper);
  EXPECT_NE(lagged, paper);
}

TEST(FlipSandDeterminism, GoingOnFromASnapshotGivesTheSameBytes) {
  const auto device = make_cpu_device(2);
  for (const char* mode : kModes) {
    Trial whole(slide(mode), *device), half(slide(mode), *device), rest(slide(mode), *device);
    step_to(whole, 0.12);
    step_to(half, 0.05);
    Snapshot snapshot = take_snapshot(half.driver.state());
    EXPECT_EQ(snapshot.kept.size(), 5u) << mode;
    rest.driver.restore(snapshot);
    step_to(rest, 0.12);
    EXPECT_EQ(hash_of(whole.driver.state()), hash_of(rest.driver.state())) << mode;
    EXPECT_EQ(whole.driver.state().bodies[1].position, rest.driver.state().bodies[1].position);

    // Control: what is kept matters.
    if (std::string(mode) == "paper") continue;
    Trial forgetful(slide(mode), *device);
    snapshot.kept.clear();
    forgetful.driver.restore(snapshot);
    step_to(forgetful, 0.12);
    EXPECT_NE(hash_of(whole.driver.state()), hash_of(forgetful.driver.state())) << mode;
  }
}

// A solver knows nothing but the state it is given: steps that come to nothing leave no trace.
TEST(FlipSandDeterminism, StepsThatAreThrownAwayLeaveNoTrace) {
  const auto device = make_cpu_device(2);
  for (const char* mode : kModes) {
    Trial straight(slide(mode), *device), astray(slide(mode), *device);
    SolidSet solids(solver_setup(astray.scene).solids, *device);
    for (int k = 0; k < 6; ++k) {
      straight.driver.step(0.005);
      const State& now = astray.driver.state();
      State nowhere(*device, astray.solver->columns());
      nowhere.follow(now);
      BodyImpulses impulses;
      impulses.linear.resize(now.bodies.size());
      impulses.angular.resize(now.bodies.size());
      astray.solver->step(now, solids.moving(now.time, now.time + 0.01), 0.01, nowhere, impulses);
      astray.driver.step(0.005);
      EXPECT_NE(hash_of(nowhere), hash_of(astray.driver.state())) << mode;
    }
    EXPECT_EQ(hash_of(straight.driver.state()), hash_of(astray.driver.state())) << mode;
  }
}

TEST(FlipSandDevices, CpuAndGpuAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  for (const char* mode : kModes) {
    const Look a = look_at(slide(mode), 0.3, *cpu), b = look_at(slide(mode), 0.3, *cuda);
    EXPECT_NEAR(b.front, a.front, 0.02) << mode;
    EXPECT_NEAR(b.height, a.height, 0.005) << mode;
    EXPECT_NEAR(b.bodies[1].y, a.bodies[1].y, 0.02) << mode << ", the ball";
  }
}

// Cell by cell: on a GPU the iteration is one launch, and the thread of a cell sees to its walls.
TEST(FlipSandDevices, StressesAndTractionsAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  for (const char* mode : {"coupled", "lagged"}) {
    Trial a(slide(mode), *cpu), b(slide(mode), *cuda);
    for (int k = 0; k < 3; ++k) a.driver.step(0.004), b.driver.step(0.004);
    for (const char* name : {"grid_stress", "grid_traction"}) {
      const HostColumn here = download(*cpu, *a.driver.state().kept(name)),
                       there = download(*cuda, *b.driver.state().kept(name));
      ASSERT_EQ(here.size, there.size) << mode;
      double apart = 0.0, all = 0.0;
      for (int c = 0; c < here.spec.components; ++c) {
        const float *p = here.component<float>(c), *q = there.component<float>(c);
        for (std::size_t i = 0; i < here.size; ++i) {
          apart += std::abs(static_cast<double>(q[i] - p[i]));
          all += std::abs(static_cast<double>(p[i]));
        }
      }
      EXPECT_GT(all, 0.0) << mode << " " << name;
      EXPECT_LT(apart, 0.02 * all) << mode << " " << name;
    }
  }
}

}  // namespace
}  // namespace barchan
