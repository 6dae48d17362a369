// PIC/FLIP: the same bytes on any number of threads and after a resume, and the GPU against the
// CPU.
#include <cmath>

#include "physics/determinism.h"

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
    const std::string scene = with_transfer(transfer);
    const std::uint64_t one = hash_after(scene, 0.25, 1);
    EXPECT_EQ(hash_after(scene, 0.25, 2), one) << transfer;
    EXPECT_EQ(hash_after(scene, 0.25, 4), one) << transfer;
  }
}

// Control: the hash sees a parameter that hardly shows.
TEST(FlipDeterminism, AnotherRatioGivesOtherBytes) {
  const std::string other = std::string(kDam) + "[flip]\nflip_ratio = 0.951\n";
  EXPECT_NE(hash_after(other, 0.05), hash_after(kDam, 0.05));
}

TEST(FlipDeterminism, GoingOnFromASnapshotGivesTheSameBytes) {
  const auto device = make_cpu_device(2);
  for (const char* transfer : {"flip", "apic"}) {
    const std::string scene = with_transfer(transfer);
    Trial whole(scene, *device), half(scene, *device), rest(scene, *device);
    step_to(whole, 0.3);
    step_to(half, 0.12);
    rest.driver.restore(take_snapshot(half.driver.state()));
    step_to(rest, 0.3);
    EXPECT_EQ(hash_of(whole.driver.state()), hash_of(rest.driver.state())) << transfer;
    EXPECT_EQ(whole.driver.state().bodies[2].position, rest.driver.state().bodies[2].position);
  }
}

TEST(FlipDevices, CpuAndGpuAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const Look a = look_at(kDam, 0.4, *cpu), b = look_at(kDam, 0.4, *cuda);
  EXPECT_NEAR(b.front, a.front, 0.02 * a.front);
  EXPECT_NEAR(b.height, a.height, 0.02 * a.height);
  EXPECT_NEAR(b.bodies[2].x, a.bodies[2].x, 0.02) << "the ball";
}

// Control: what is compared above can tell one shot from another.
TEST(FlipDevices, AnotherGravityWouldShow) {
  const auto cpu = make_cpu_device(2);
  const Look a = look_at(kDam, 0.4, *cpu);
  const Look b = look_at(std::string("gravity = [0, -8.8, 0]\n") + kDam, 0.4, *cpu);
  EXPECT_GT(std::abs(b.height - a.height), 0.02 * a.height);
}

}  // namespace
}  // namespace barchan
