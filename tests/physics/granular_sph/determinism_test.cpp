// Granular SPH: the same bytes on any number of threads and after resume, the GPU against the CPU.
#include <cmath>

#include "physics/determinism.h"

namespace barchan {
namespace {

// Wet sand and water fall around a post, with a body and everything switched on.
constexpr const char* kSlide = R"(
solver = "granular-sph"
resolution = 0.04
duration = 0.5
seed = 3
[material.soil]
density = 1700
friction_angle = 30
cohesion = 100
[material.water]
preset = "water"
[[fill]]
material = "soil"
sampling = "jittered"
jitter = 0.2
shape = { box = [[0, 0, 0], [0.4, 0.56, 0.32]] }
[[emitter]]
material = "water"
shape = { cylinder = { from = [0.9, 0.8, 0.16], to = [0.9, 0.75, 0.16], radius = 0.08 } }
velocity = [0, -2, 0]
rate = 15
[[solid]]
name = "tank"
inside_out = true
shape = { box = [[0, 0, 0], [1.2, 1, 0.32]] }
[[solid]]
name = "post"
shape = { cylinder = { from = [0.7, -0.1, 0.16], to = [0.7, 0.5, 0.16], radius = 0.08 } }
[[solid]]
name = "crate"
motion = "dynamic"
density = 600
shape = { box = [[0.45, 0.02, 0.1], [0.55, 0.12, 0.2]] }
)";

TEST(GsphDeterminism, SameBytesForAnyNumberOfThreads) {
  const std::uint64_t one = hash_after(kSlide, 0.2, 1);
  EXPECT_EQ(hash_after(kSlide, 0.2, 2), one);
  EXPECT_EQ(hash_after(kSlide, 0.2, 4), one);
}

// Control: the hash sees a parameter that hardly shows.
TEST(GsphDeterminism, AnotherCohesionGivesOtherBytes) {
  const std::string other = replaced(kSlide, "cohesion = 100", "cohesion = 100.1");
  EXPECT_NE(hash_after(other, 0.1), hash_after(kSlide, 0.1));
}

class GsphSteps : public OnDevice {};
BARCHAN_ON_EACH_DEVICE(GsphSteps);

TEST_P(GsphSteps, DependOnTheStateAlone) {
  EXPECT_EQ(parts_alike(kSlide, *device, 0.02, 8), 8);
}

TEST(GsphDevices, CpuAndGpuAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const Look a = look_at(kSlide, 0.4, *cpu), b = look_at(kSlide, 0.4, *cuda);
  EXPECT_NEAR(b.front, a.front, 0.02 * a.front);
  EXPECT_NEAR(b.height, a.height, 0.02 * a.height);
  EXPECT_NEAR(b.density, a.density, 0.02 * a.density);
}

// Control: what is compared above can tell one shot from another.
TEST(GsphDevices, AnotherGravityWouldShow) {
  const auto cpu = make_cpu_device(2);
  const Look a = look_at(kSlide, 0.4, *cpu);
  const Look b = look_at(std::string("gravity = [0, -7, 0]\n") + kSlide, 0.4, *cpu);
  EXPECT_GT(std::abs(b.height - a.height), 0.02 * a.height);
}

}  // namespace
}  // namespace barchan
