// The CPU device and its launches. A kernel is a struct of views and numbers with
//     HD void operator()(int i) const          (for_each)
//     HD T operator()(int i) const             (reduce)
// Work is cut into blocks of fixed size, whatever the number of threads, so that results are the
// same bytes on any number of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "compute/device.h"
#include "compute/parallel.h"

namespace barchan {

// Adds the time until it dies to a label.
class HostTimer {
 public:
  HostTimer(Profiler& profiler, const char* label)
      : profiler_(profiler), label_(label), start_(std::chrono::steady_clock::now()) {}
  ~HostTimer() {
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start_;
    profiler_.add(label_, elapsed.count());
  }
  HostTimer(const HostTimer&) = delete;
  HostTimer& operator=(const HostTimer&) = delete;

 private:
  Profiler& profiler_;
  const char* label_;
  std::chrono::steady_clock::time_point start_;
};

class Cpu final : public Device {
 public:
  explicit Cpu(int threads);

  bool on_host() const override { return true; }
  Cpu* as_cpu() override { return this; }
  std::string name() const override { return "cpu"; }
  std::string description() const override;
  int threads() const override { return pool_.threads(); }

  void* allocate(std::size_t bytes) override;
  void release(void* memory) override;
  void upload(void* to, const void* from_host, std::size_t bytes) override;
  void download(void* to_host, const void* from, std::size_t bytes) override;
  void copy(void* to, const void* from, std::size_t bytes) override;
  void clear(void* memory, std::size_t bytes) override;
  void wait() override {}
  std::shared_ptr<void> host_memory(std::size_t bytes) override;
  void download_later(void* to_host, const void* from, std::size_t bytes) override {
    download(to_host, from, bytes);
  }
  void wait_for_download() override {}

  std::uint32_t exclusive_scan(const char* label, View<const std::uint32_t> in,
                               View<std::uint32_t> out) override;
  void sort_pairs(const char* label, View<std::uint32_t> keys, View<std::uint32_t> values,
                  int bits) override;
  void sort_pairs(const char* label, View<std::uint64_t> keys, View<std::uint32_t> values,
                  int bits) override;
  void gather(const char* label, View<const std::uint32_t> order,
              const std::vector<Gathered>& columns) override;

  const ThreadPool& pool() const { return pool_; }

 private:
  template <class Key>
  void radix_sort(View<Key> keys, View<std::uint32_t> values, int bits);

  ThreadPool pool_;
  std::vector<std::uint64_t> sort_scratch_;  // keys and values of the pass under way
};

inline constexpr std::int64_t kForEachBlock = 1024;
inline constexpr std::int64_t kReduceBlock = 1024;

// Runs kernel.range(begin, end) over consecutive blocks. For kernels that share work between
// neighbouring items; everything else uses for_each.
template <class Kernel>
void for_each_range(Cpu& device, const char* label, std::int64_t n, std::int64_t block,
                    const Kernel& kernel) {
  const HostTimer timer(device.profiler(), label);
  const auto blocks = static_cast<std::size_t>((n + block - 1) / block);
  device.pool().parallel_blocks(blocks, [&](std::size_t b) {
    const std::int64_t begin = static_cast<std::int64_t>(b) * block;
    const std::int64_t end = begin + block < n ? begin + block : n;
    kernel.range(static_cast<int>(begin), static_cast<int>(end));
  });
}

// Calls kernel(i) for i in [0, n), in any order.
template <class Kernel>
void for_each(Cpu& device, const char* label, std::int64_t n, const Kernel& kernel) {
  const HostTimer timer(device.profiler(), label);
  const auto blocks = static_cast<std::size_t>((n + kForEachBlock - 1) / kForEachBlock);
  device.pool().parallel_blocks(blocks, [&, kernel](std::size_t b) {
    const std::int64_t begin = static_cast<std::int64_t>(b) * kForEachBlock;
    const std::int64_t end = begin + kForEachBlock < n ? begin + kForEachBlock : n;
    for (auto i = static_cast<int>(begin); i < static_cast<int>(end); ++i) kernel(i);
  });
}

// Two kernels that do not need each other: a GPU runs them in one launch.
template <class First, class Second>
void for_both(Cpu& device, const char* label, std::int64_t n, const First& first, std::int64_t m,
              const Second& second) {
  for_each(device, label, n, first);
  for_each(device, label, m, second);
}

// A schedule says for_each and the like one after the other, as a template over the device:
//     HD_SCHEDULE
//     template <class Device>
//     HD void operator()(Device& device) const
// A GPU makes one launch of it (compute/grid.cuh); `items` of its largest stage.
template <class Schedule>
void in_one_launch(Cpu& device, const char*, std::int64_t, const Schedule& schedule) {
  schedule(device);
}
// Each count becomes the sum of those before it.
inline void scan_in_place(Cpu& device, View<std::uint32_t> counts) {
  device.exclusive_scan("scan", counts, counts);
}
// Stages that do not need each other stand between these two.
inline void begin_together(Cpu&) {}
inline void end_together(Cpu&) {}
// What stands between begin_aside and end_aside, and what follows them up to join_aside, do not
// need each other; nor what stands between fork_aside and begin_aside, if there is such: a GPU runs
// them beside each other.
inline void fork_aside(Cpu&) {}
inline void begin_aside(Cpu&) {}
inline void end_aside(Cpu&) {}
inline void join_aside(Cpu&) {}

// The same for long work that few items need: kernel(i) says whether i does, and then
// kernel.some(i) does it. A GPU gathers those items first, so that its warps are full of them.
template <class Kernel>
struct ThenSome {
  Kernel kernel;
  void operator()(int i) const {
    if (kernel(i)) kernel.some(i);
  }
};
template <class Kernel>
void for_each_some(Cpu& device, const char* label, std::int64_t n, const Kernel& kernel) {
  for_each(device, label, n, ThenSome<Kernel>{kernel});
}

// Op::identity() combined with kernel(0) ... kernel(n - 1) by Op::combine, in a fixed order.
template <class Op, class Kernel>
auto reduce(Cpu& device, const char* label, std::int64_t n, const Kernel& kernel) {
  using T = decltype(Op::identity());
  const HostTimer timer(device.profiler(), label);
  const auto blocks = static_cast<std::size_t>((n + kReduceBlock - 1) / kReduceBlock);
  std::vector<T> partial(blocks, Op::identity());
  device.pool().parallel_blocks(blocks, [&](std::size_t b) {
    const std::int64_t begin = static_cast<std::int64_t>(b) * kReduceBlock;
    const std::int64_t end = begin + kReduceBlock < n ? begin + kReduceBlock : n;
    T sum = Op::identity();
    for (auto i = static_cast<int>(begin); i < static_cast<int>(end); ++i) {
      sum = Op::combine(sum, kernel(i));
    }
    partial[b] = sum;
  });
  T all = Op::identity();
  for (const T& part : partial) all = Op::combine(all, part);
  return all;
}

// The same, left in the device's memory: a GPU does not stop for the host to read it.
template <class Op, class T, class Kernel>
void reduce_to(Cpu& device, const char* label, std::int64_t n, const Kernel& kernel, T* result) {
  *result = reduce<Op>(device, label, n, kernel);
}

// Of those items alone for which kernel.counts(i) holds; few, as in for_each_some.
template <class Op, class Kernel>
struct OnlySome {
  Kernel kernel;
  auto operator()(int i) const { return kernel.counts(i) ? kernel(i) : Op::identity(); }
};
template <class Op, class T, class Kernel>
void reduce_some_to(Cpu& device, const char* label, std::int64_t n, const Kernel& kernel,
                    T* result) {
  reduce_to<Op>(device, label, n, OnlySome<Op, Kernel>{kernel}, result);
}

}  // namespace barchan
