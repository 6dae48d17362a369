#include <gtest/gtest.h>

#include "compute/cpu.h"
#include "spatial/sort_then_cpu.h"
#include "unit/compute/launch_checks.h"

namespace barchan {
namespace {

TEST(LaunchCpu, ForEach) {
  Cpu device(2);
  EXPECT_EQ(launch_checks::wrong_by_for_each(device), 0);
}

TEST(LaunchCpu, Reduce) {
  Cpu device(2);
  EXPECT_EQ(launch_checks::wrong_by_reduce(device), 0);
}

TEST(LaunchCpu, Lists) {
  Cpu device(2);
  EXPECT_EQ(launch_checks::wrong_by_lists(device), 0);
}

TEST(LaunchCpu, ForEachSome) {
  Cpu device(2);
  EXPECT_EQ(launch_checks::wrong_by_for_each_some(device), 0);
}

TEST(LaunchCpu, BothAndListed) {
  Cpu device(2);
  EXPECT_EQ(launch_checks::wrong_by_listed(device), 0);
}

TEST(LaunchCpu, SortThen) {
  Cpu device(2);
  EXPECT_EQ(launch_checks::wrong_by_sort_then(device), 0);
}

TEST(LaunchCpu, Aside) {
  Cpu device(2);
  EXPECT_EQ(launch_checks::wrong_by_aside(device), 0);
}

TEST(LaunchCpu, Schedule) {
  Cpu device(2);
  EXPECT_EQ(launch_checks::wrong_by_schedule(device), 0);
}

// A device that adds up in another order has other bits in the end.
TEST(LaunchCpu, SumsDoNotDependOnTheNumberOfThreads) {
  for (const int threads : {1, 2, 4}) {
    Cpu one(1), some(threads);
    EXPECT_EQ(launch_checks::six_sums(some), std::vector(6, launch_checks::six_sums(one)[0]));
    EXPECT_EQ(launch_checks::six_sums_of_some(some),
              std::vector(6, launch_checks::six_sums_of_some(one)[0]));
    EXPECT_NEAR(launch_checks::six_sums(some)[0], launch_checks::harmonic_sum(), 1e-5);
    EXPECT_NEAR(launch_checks::six_sums_of_some(some)[0], launch_checks::harmonic_sum(), 1e-5);
  }
}

TEST(LaunchCpu, LabelsFeedTheProfiler) {
  Cpu device(2);
  launch_checks::wrong_by_for_each(device);
  ASSERT_FALSE(device.profiler().stages().empty());
  EXPECT_EQ(device.profiler().stages()[0].label, "scale");
  EXPECT_EQ(device.profiler().stages()[0].calls, 6);
  EXPECT_GT(device.profiler().stages()[0].milliseconds, 0.0);
}

#if !defined(NDEBUG)
TEST(ViewDeathTest, BoundsAreCheckedInDebugBuilds) {
  Cpu device(1);
  Buffer<float> numbers(device, 10);
  const View<float> view = numbers.view();
  EXPECT_DEATH(view[10] = 1.0f, "i < size");
}
#endif

}  // namespace
}  // namespace barchan
