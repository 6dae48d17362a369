#include "compute/grid.cuh"
#include "unit/compute/launch_checks.h"
#include "unit/devices.h"

namespace barchan {
namespace {

TEST(LaunchCuda, ForEachAndReduce) {
  const std::unique_ptr<Device> device = device_or_null("cuda");
  if (!device) GTEST_SKIP() << "no cuda device here";
  launch_checks::check_for_each(*device->as_cuda());
  launch_checks::check_reduce(*device->as_cuda());
  launch_checks::check_some(*device->as_cuda());
  launch_checks::check_aside(*device->as_cuda());
  launch_checks::check_schedule(*device->as_cuda());
  launch_checks::repeated_sum(*device->as_cuda());
}

}  // namespace
}  // namespace barchan
