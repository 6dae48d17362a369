// Granular SPH: the same bytes on any number of threads and after resume, the GPU against the CPU.
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
  expect_same_bytes_for_any_threads(kSlide, 0.2);
}
TEST(GsphDeterminism, AnotherCohesionGivesOtherBytes) {
  expect_other_bytes(kSlide, "cohesion = 100", "cohesion = 100.1", 0.1);
}

class GsphSteps : public OnDevice {};
BARCHAN_ON_EACH_DEVICE(GsphSteps);

TEST_P(GsphSteps, DependOnTheStateAlone) {
  expect_steps_of_the_state_alone(kSlide, *device, 0.02, 8);
}

TEST(GsphDevices, CpuAndGpuAgree) {
  expect_devices_agree(kSlide);
}
TEST(GsphDevices, AnotherGravityWouldShow) {
  expect_gravity_shows(kSlide, "[0, -7, 0]");
}

}  // namespace
}  // namespace barchan
