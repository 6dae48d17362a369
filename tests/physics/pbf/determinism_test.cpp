// Position Based Fluids: the same bytes on any number of threads, and the GPU against the CPU.
#include <cmath>

#include "physics/determinism.h"

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
  const std::uint64_t one = hash_after(kDam, 0.3, 1);
  EXPECT_EQ(hash_after(kDam, 0.3, 2), one);
  EXPECT_EQ(hash_after(kDam, 0.3, 4), one);
}

// Control: the hash sees a parameter that hardly shows.
TEST(PbfDeterminism, AnotherVorticityGivesOtherBytes) {
  const std::string other = replaced(kDam, "vorticity = 5", "vorticity = 5.001");
  EXPECT_NE(hash_after(other, 0.05), hash_after(kDam, 0.05));
}

class PbfSteps : public OnDevice {};
BARCHAN_ON_EACH_DEVICE(PbfSteps);

TEST_P(PbfSteps, DependOnTheStateAlone) {
  EXPECT_EQ(parts_alike(kDam, *device, 0.025, 12), 12);
}

TEST(PbfDevices, CpuAndGpuAgree) {
  const auto cpu = make_cpu_device(2);
  const auto cuda = device_or_null("cuda");
  if (!cuda) GTEST_SKIP() << "no cuda device here";
  const Look a = look_at(kDam, 0.4, *cpu), b = look_at(kDam, 0.4, *cuda);
  EXPECT_NEAR(b.front, a.front, 0.02 * a.front);
  EXPECT_NEAR(b.height, a.height, 0.02 * a.height);
  EXPECT_NEAR(b.density, a.density, 0.02 * a.density);
}

// Control: what is compared above can tell one shot from another.
TEST(PbfDevices, AnotherGravityWouldShow) {
  const auto cpu = make_cpu_device(2);
  const Look a = look_at(kDam, 0.4, *cpu);
  const Look b = look_at(std::string("gravity = [0, -8.8, 0]\n") + kDam, 0.4, *cpu);
  EXPECT_GT(std::abs(b.height - a.height), 0.02 * a.height);
}

}  // namespace
}  // namespace barchan
