// Granular SPH: the same bytes on any number of threads and after resume, the GPU against the CPU.
#include <algorithm>

#include "physics/fluid.h"
#include "sim/measures.h"
#include "unit/devices.h"

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
  const auto hash = [](int threads) {
    const auto device = make_cpu_device(threads);
    Trial run(kSlide, *device);
    run.until(0.2);
    return hash_of(run.driver.state());
  };
  const std::uint64_t one = hash(1);
  EXPECT_EQ(hash(2), one);
  EXPECT_EQ(hash(4), one);
}

// Control: the hash sees a parameter that hardly shows.
TEST(GsphDeterminism, AnotherCohesionGivesOtherBytes) {
  const auto device = make_cpu_device(2);
  std::string other = kSlide;
  other.replace(other.find("cohesion = 100"), 14, "cohesion = 100.1");
  Trial a(kSlide, *device), b(other, *device);
  a.until(0.1);
  b.until(0.1);
  EXPECT_NE(hash_of(a.driver.state()), hash_of(b.driver.state()));
}

class GsphSteps : public OnDevice {};
BARCHAN_ON_EACH_DEVICE(GsphSteps);

TEST_P(GsphSteps, DependOnTheStateAlone) {
  Trial whole(kSlide, *device);
  auto part = std::make_unique<Trial>(kSlide, *device);
  for (int k = 1; k <= 8; ++k) {
    whole.until(0.02 * k);
    part->until(0.02 * k);
    ASSERT_EQ(hash_of(part->driver.state()), hash_of(whole.driver.state())) << k;
    const Snapshot now = take_snapshot(part->driver.state());
    part = std::make_unique<Trial>(kSlide, *device);
    part->driver.restore(now);
  }
}

struct Look {
  double front = 0.0, height = 0.0, density = 0.0;
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

TEST(GsphDevices, CpuAndGpuAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const Look a = look_at(kSlide, *cpu), b = look_at(kSlide, *cuda);
  EXPECT_NEAR(b.front, a.front, 0.02 * a.front);
  EXPECT_NEAR(b.height, a.height, 0.02 * a.height);
  EXPECT_NEAR(b.density, a.density, 0.02 * a.density);
}

// Control: what is compared above can tell one shot from another.
TEST(GsphDevices, AnotherGravityWouldShow) {
  const auto cpu = make_cpu_device(2);
  const Look a = look_at(kSlide, *cpu);
  const Look b = look_at(std::string("gravity = [0, -7, 0]\n") + kSlide, *cpu);
  EXPECT_GT(std::abs(b.height - a.height), 0.02 * a.height);
}

}  // namespace
}  // namespace barchan
