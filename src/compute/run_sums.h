// Sums over runs of particles that follow each other in memory.
//
// What is summed is a struct
//     static constexpr int kSums = 6;
//     template <class T> HD void operator()(const Particles<T>& at, T* sums) const;
// whose arithmetic runs on one particle (a GPU's thread) or on as many as a vector holds (CPU):
// at(array) gives their numbers, at.there is 1, or 0 for lanes without a particle, to be multiplied
// in.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/lanes.h"
#include "compute/pair_sums.h"

namespace barchan {

#if defined(__CUDACC__)
inline namespace for_cuda {
using RunNumber = float;
#else
inline namespace for_cpu {
using RunNumber = Lanes;
#endif

template <class T>
struct Particles {
  std::uint32_t first;
  int count;
  T there;
  HD T operator()(const float* numbers) const {
#if defined(__CUDACC__)
    return numbers[first];
#else
    return load_first(numbers + first, count);
#endif
  }
};

// kThreads neighbouring threads of a GPU may share the work: a power of two, of the same warp, all
// of which call for the same runs and get the same totals. A CPU's thread has it for itself.
template <class Sum, int kThreads = 1>
class RunSums {
 public:
  HD explicit RunSums(const Sum& sum) : sum_(sum) {}

  HD void add(std::uint32_t begin, std::uint32_t end) {
#if defined(__CUDA_ARCH__)
    for (std::uint32_t i = begin + threadIdx.x % kThreads; i < end; i += kThreads) {
      sum_(Particles<float>{i, 1, 1.0f}, sums_);
    }
#elif defined(__CUDACC__)
    for (std::uint32_t i = begin; i < end; ++i) sum_(Particles<float>{i, 1, 1.0f}, sums_);
#else
    for (std::uint32_t i = begin; i < end; i += kLanes) {
      const auto count = static_cast<int>(end - i);
      sum_(Particles<Lanes>{i, count, keep_first(Lanes{} + 1.0f, count, 0.0f)}, sums_);
    }
#endif
  }
  HD Sums<Sum::kSums> totals() const {
    Sums<Sum::kSums> result;
    for (int k = 0; k < Sum::kSums; ++k) {
#if defined(__CUDACC__)
      result.value[k] = over_threads(sums_[k]);
#else
      result.value[k] = sum_of(sums_[k]);
#endif
    }
    return result;
  }

 private:
#if defined(__CUDACC__)
  HD static float over_threads(float sum) {
#if defined(__CUDA_ARCH__)
    constexpr unsigned kThese = static_cast<unsigned>((std::uint64_t{1} << kThreads) - 1);
    const unsigned these = kThese << (threadIdx.x % 32 / kThreads * kThreads);
    for (int step = 1; step < kThreads; step *= 2) sum += __shfl_xor_sync(these, sum, step);
#endif
    return sum;
  }
#endif

  const Sum& sum_;
  RunNumber sums_[Sum::kSums] = {};
};

}  // inline namespace

}  // namespace barchan
