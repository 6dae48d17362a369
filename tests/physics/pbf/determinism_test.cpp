// Position Based Fluids: the same bytes on any number of threads, and the GPU against the CPU.
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
  expect_same_bytes_for_any_threads(kDam, 0.3);
}
TEST(PbfDeterminism, AnotherVorticityGivesOtherBytes) {
  expect_other_bytes(kDam, "vorticity = 5", "vorticity = 5.001", 0.05);
}

class PbfSteps : public OnDevice {};
BARCHAN_ON_EACH_DEVICE(PbfSteps);

TEST_P(PbfSteps, DependOnTheStateAlone) {
  expect_steps_of_the_state_alone(kDam, *device, 0.025, 12);
}

TEST(PbfDevices, CpuAndGpuAgree) {
  expect_devices_agree(kDam);
}
TEST(PbfDevices, AnotherGravityWouldShow) {
  expect_gravity_shows(kDam, "[0, -8.8, 0]");
}

}  // namespace
}  // namespace barchan
