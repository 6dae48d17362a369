// Position Based Fluids: the same bytes on any number of threads, and the GPU against the CPU.
#include <algorithm>

#include "physics/fluid.h"
#include "sim/measures.h"
#include "unit/devices.h"

namespace barchan {
namespace {

// A dam break around a post, with everything switched on.
constexpr const char* kDam = R"(
solver = "pbf"
resolution = 0.04
duration = 0.5
seed = 3
[pbf]
vorticity = 5
[[fill]]
sampling = "lattice"
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
)";

TEST(PbfDeterminism, SameBytesForAnyNumberOfThreads) {
  const auto hash = [](int threads) {
    const auto device = make_cpu_device(threads);
    Trial run(kDam, *device);
    run.until(0.3);
    return hash_of(run.driver.state());
  };
  const std::uint64_t one = hash(1);
  EXPECT_EQ(hash(2), one);
  EXPECT_EQ(hash(4), one);
}

// Control: the hash sees a parameter that hardly shows.
TEST(PbfDeterminism, AnotherVorticityGivesOtherBytes) {
  const auto device = make_cpu_device(2);
  std::string other = kDam;
  other.replace(other.find("vorticity = 5"), 13, "vorticity = 5.001");
  Trial a(kDam, *device), b(other, *device);
  a.until(0.05);
  b.until(0.05);
  EXPECT_NE(hash_of(a.driver.state()), hash_of(b.driver.state()));
}

// What a solver guesses from its last step (room for lists, the frame of the cells) must not show:
// one that begins anew every few steps gives the same bytes.
class PbfSteps : public OnDevice {};
BARCHAN_ON_EACH_DEVICE(PbfSteps);

TEST_P(PbfSteps, DependOnTheStateAlone) {
  Trial whole(kDam, *device);
  auto part = std::make_unique<Trial>(kDam, *device);
  for (int k = 1; k <= 12; ++k) {
    whole.until(0.025 * k);
    part->until(0.025 * k);
    ASSERT_EQ(hash_of(part->driver.state()), hash_of(whole.driver.state())) << k;
    const Snapshot now = take_snapshot(part->driver.state());
    part = std::make_unique<Trial>(kDam, *device);
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

TEST(PbfDevices, CpuAndGpuAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const Look a = look_at(kDam, *cpu), b = look_at(kDam, *cuda);
  EXPECT_NEAR(b.front, a.front, 0.02 * a.front);
  EXPECT_NEAR(b.height, a.height, 0.02 * a.height);
  EXPECT_NEAR(b.density, a.density, 0.02 * a.density);
}

// Control: what is compared above can tell one shot from another.
TEST(PbfDevices, AnotherGravityWouldShow) {
  const auto cpu = make_cpu_device(2);
  const Look a = look_at(kDam, *cpu);
  const Look b = look_at(std::string("gravity = [0, -8.8, 0]\n") + kDam, *cpu);
  EXPECT_GT(std::abs(b.height - a.height), 0.02 * a.height);
}

}  // namespace
}  // namespace barchan
