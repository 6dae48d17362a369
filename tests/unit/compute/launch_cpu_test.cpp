#include "compute/cpu.h"
#include "unit/compute/launch_checks.h"

namespace barchan {
namespace {

TEST(LaunchCpu, ForEach) {
  Cpu device(2);
  launch_checks::check_for_each(device);
}

TEST(LaunchCpu, Reduce) {
  Cpu device(2);
  launch_checks::check_reduce(device);
}

TEST(LaunchCpu, Some) {
  Cpu device(2);
  launch_checks::check_some(device);
  launch_checks::check_aside(device);
}

TEST(LaunchCpu, Schedule) {
  Cpu device(2);
  launch_checks::check_schedule(device);
}

TEST(LaunchCpu, SumsDoNotDependOnTheNumberOfThreads) {
  Cpu one(1), two(2), four(4);
  const double sum = launch_checks::repeated_sum(one);
  EXPECT_EQ(launch_checks::repeated_sum(two), sum);
  EXPECT_EQ(launch_checks::repeated_sum(four), sum);
}

TEST(LaunchCpu, LabelsFeedTheProfiler) {
  Cpu device(2);
  launch_checks::check_for_each(device);
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
