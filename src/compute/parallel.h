// The one door to the thread pool.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace barchan {

// A reference to a callable taking a block number; costs one indirect call per block.
class BlockTask {
 public:
  template <class F>
  BlockTask(const F& f)  // NOLINT: implicit by design, like std::function
      : object_(&f), call_([](const void* object, std::size_t block) {
          (*static_cast<const F*>(object))(block);
        }) {}
  void operator()(std::size_t block) const { call_(object_, block); }

 private:
  const void* object_;
  void (*call_)(const void*, std::size_t);
};

class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ~ThreadPool();
  int threads() const { return threads_; }

  // Calls task(0) ... task(blocks - 1), each once, on up to threads() threads. Which thread takes
  // which block is not defined: results must not depend on it.
  void parallel_blocks(std::size_t blocks, BlockTask task) const;

 private:
  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace barchan
