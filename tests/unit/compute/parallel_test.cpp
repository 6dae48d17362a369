#include "compute/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace barchan {
namespace {

// Threads seen at work in a pool while another, smaller pool lives beside it.
std::size_t threads_seen(const ThreadPool& pool) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  pool.parallel_blocks(64, [&](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const std::lock_guard lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  return seen.size();
}

TEST(ThreadPool, HasItsOwnNumberOfThreadsWhateverOthersHave) {
  const ThreadPool one(1), four(4), two(2);
  EXPECT_EQ(threads_seen(one), 1u);
  EXPECT_EQ(threads_seen(four), 4u);
  EXPECT_LE(threads_seen(two), 2u);
}

TEST(ThreadPool, TakesEveryBlockOnce) {
  const ThreadPool pool(4);
  std::vector<std::atomic<int>> taken(10007);
  pool.parallel_blocks(taken.size(), [&](std::size_t b) { ++taken[b]; });
  for (const auto& times : taken) EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace barchan
