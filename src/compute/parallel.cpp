#include "compute/parallel.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace barchan {

struct ThreadPool::Arena {
  explicit Arena(int threads) : arena(threads) {}
  tbb::task_arena arena;
};

namespace {

// Lets arenas have more threads than the machine has cores. One for the whole process: of several
// such limits TBB obeys the smallest.
void allow_many_threads() {
  constexpr std::size_t kMost = 1024;
  static const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, kMost);
}

}  // namespace

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  allow_many_threads();
  arena_ = std::make_unique<Arena>(threads);
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::parallel_blocks(std::size_t blocks, BlockTask task) const {
  if (blocks == 0) return;
  if (threads_ == 1) {  // in the arena all the same: so are the libraries that a task calls
    arena_->arena.execute([&] {
      for (std::size_t b = 0; b < blocks; ++b) task(b);
    });
    return;
  }
  if (blocks == 1) return task(0);
  arena_->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, blocks, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t b = range.begin(); b != range.end(); ++b) task(b);
        },
        tbb::auto_partitioner());
  });
}

}  // namespace barchan
