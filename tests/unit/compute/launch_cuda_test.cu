#include "compute/grid.cuh"
#include "spatial/sort_then.cuh"
#include "unit/compute/launch_checks.h"
#include "unit/devices.h"

namespace barchan {
namespace {

class LaunchCuda : public testing::Test {
 protected:
  void SetUp() override {
    device = device_or_null("cuda");
    if (!device) GTEST_SKIP() << "no cuda device here";
  }
  std::unique_ptr<Device> device;
};

TEST_F(LaunchCuda, ForEach) {
  EXPECT_EQ(launch_checks::wrong_by_for_each(*device->as_cuda()), 0);
}

TEST_F(LaunchCuda, Reduce) {
  EXPECT_EQ(launch_checks::wrong_by_reduce(*device->as_cuda()), 0);
}

TEST_F(LaunchCuda, Lists) {
  EXPECT_EQ(launch_checks::wrong_by_lists(*device->as_cuda()), 0);
}

TEST_F(LaunchCuda, ForEachSome) {
  EXPECT_EQ(launch_checks::wrong_by_for_each_some(*device->as_cuda()), 0);
}

TEST_F(LaunchCuda, BothAndListed) {
  EXPECT_EQ(launch_checks::wrong_by_listed(*device->as_cuda()), 0);
}

TEST_F(LaunchCuda, SortThen) {
  EXPECT_EQ(launch_checks::wrong_by_sort_then(*device->as_cuda()), 0);
}

TEST_F(LaunchCuda, Aside) {
  EXPECT_EQ(launch_checks::wrong_by_aside(*device->as_cuda()), 0);
}

TEST_F(LaunchCuda, Schedule) {
  EXPECT_EQ(launch_checks::wrong_by_schedule(*device->as_cuda()), 0);
}

TEST_F(LaunchCuda, SumsAreTheSameEveryTime) {
  const std::vector<double> sums = launch_checks::six_sums(*device->as_cuda()),
                            of_some = launch_checks::six_sums_of_some(*device->as_cuda());
  EXPECT_EQ(sums, std::vector(6, sums[0]));
  EXPECT_EQ(of_some, std::vector(6, of_some[0]));
  EXPECT_NEAR(sums[0], launch_checks::harmonic_sum(), 1e-5);
  EXPECT_NEAR(of_some[0], launch_checks::harmonic_sum(), 1e-5);
}

}  // namespace
}  // namespace barchan
