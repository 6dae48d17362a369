// PIC/FLIP: the same bytes on any number of threads and after a resume, and the GPU against the
// CPU.
#include <algorithm>

#include "physics/fluid.h"
#include "unit/devices.h"

namespace barchan {
namespace {

// A dam break around a post, with a jet and a ball that floats.
constexpr const char* kDam = R"(
solver = "flip"
resolution = 0.025
duration = 0.5
seed = 3
[[fill]]
shape = { box = [[0, 0, 0], [0.4, 0.64, 0.4]] }
[[emitter]]
shape = { cylinder = { from = [0.9, 0.8, 0.2], to = [0.9, 0.75, 0.2], radius = 0.08 } }
velocity = [0, -2, 0]
rate = 15
[[solid]]
name = "tank"
inside_out = true
shape = { box = [[0, 0, 0], [1.2, 1, 0.4]] }
[[solid]]
name = "post"
shape = { cylinder = { from = [0.7, -0.1, 0.2], to = [0.7, 0.5, 0.2], radius = 0.08 } }
[[solid]]
name = "ball"
motion = "dynamic"
density = 400
shape = { sphere = { center = [0.5, 0.1, 0.12], radius = 0.08 } }
)";

std::string with_transfer(const std::string& transfer) {
  return std::string(kDam) + "[flip]\ntransfer = \"" + transfer + "\"\n";
}

TEST(FlipDeterminism, SameBytesForAnyNumberOfThreads) {
  for (const char* transfer : {"flip", "apic"}) {
    const auto hash = [&](int threads) {
      const auto device = make_cpu_device(threads);
      Trial run(with_transfer(transfer), *device);
      run.until(0.25);
      return hash_of(run.driver.state());
    };
    const std::uint64_t one = hash(1);
    EXPECT_EQ(hash(2), one) << transfer;
    EXPECT_EQ(hash(4), one) << transfer;
  }
}

// Control: the hash sees a parameter that hardly shows.
TEST(FlipDeterminism, AnotherRatioGivesOtherBytes) {
  const auto device = make_cpu_device(2);
  Trial a(kDam, *device), b(std::string(kDam) + "[flip]\nflip_ratio = 0.951\n", *device);
  a.until(0.05);
  b.until(0.05);
  EXPECT_NE(hash_of(a.driver.state()), hash_of(b.driver.state()));
}

TEST(FlipDeterminism, GoingOnFromASnapshotGivesTheSameBytes) {
  const auto device = make_cpu_device(2);
  for (const char* transfer : {"flip", "apic"}) {
    const auto run_to = [](Trial& run, double t) {
      while (run.driver.state().time < t) run.driver.step_within_frame();
    };
    const std::string scene = with_transfer(transfer);
    Trial whole(scene, *device), half(scene, *device), rest(scene, *device);
    run_to(whole, 0.3);
    run_to(half, 0.12);
    rest.driver.restore(take_snapshot(half.driver.state()));
    run_to(rest, 0.3);
    EXPECT_EQ(hash_of(whole.driver.state()), hash_of(rest.driver.state())) << transfer;
    EXPECT_EQ(whole.driver.state().bodies[2].position, rest.driver.state().bodies[2].position);
  }
}

struct Look {
  double front = 0.0, height = 0.0, ball = 0.0;
};
Look look_at(const std::string& scene, Device& device) {
  Trial run(scene, device);
  run.until(0.4);
  std::vector<double> x;
  Look look;
  for (const Vec3d& at : vectors_of(run.driver.state(), "position")) {
    x.push_back(at.x);
    look.height += at.y;
  }
  const auto n = static_cast<double>(x.size());
  std::sort(x.begin(), x.end());
  look.front = x[static_cast<std::size_t>(0.95 * n)];
  look.height /= n;
  look.ball = run.driver.state().bodies[2].position.x;
  return look;
}

TEST(FlipDevices, CpuAndGpuAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const Look a = look_at(kDam, *cpu), b = look_at(kDam, *cuda);
  EXPECT_NEAR(b.front, a.front, 0.02 * a.front);
  EXPECT_NEAR(b.height, a.height, 0.02 * a.height);
  EXPECT_NEAR(b.ball, a.ball, 0.02);
}

// Control: what is compared above can tell one shot from another.
TEST(FlipDevices, AnotherGravityWouldShow) {
  const auto cpu = make_cpu_device(2);
  const Look a = look_at(kDam, *cpu);
  const Look b = look_at(std::string("gravity = [0, -8.8, 0]\n") + kDam, *cpu);
  EXPECT_GT(std::abs(b.height - a.height), 0.02 * a.height);
}

}  // namespace
}  // namespace barchan
