// Bit tricks that host and device spell differently, and what else is better done differently.
#pragma once

#include <cstdint>

#include "base/hd.h"

namespace barchan {

// Place of the lowest set bit of a number that is not 0.
HD inline std::uint32_t lowest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
#else
  return static_cast<std::uint32_t>(__builtin_ctz(bits));
#endif
}

HD inline int lowest_bit(std::uint64_t bits) {
#if defined(__CUDA_ARCH__)
  return __ffsll(static_cast<long long>(bits)) - 1;
#else
  return __builtin_ctzll(bits);
#endif
}

// Whether it pays to ask first, and leave out what is not needed. On a GPU all loads behind the
// question would wait for it.
HD inline bool asking_pays() {
#if defined(__CUDA_ARCH__)
  return false;
#else
  return true;
#endif
}

// Adds one, whoever else does so at the same time, and returns what was there before.
HD inline std::uint32_t count_up(std::uint32_t* count) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(count, 1u);
#else
  return __atomic_fetch_add(count, 1u, __ATOMIC_RELAXED);
#endif
}

// Sets bits, whoever else does so at the same time.
HD inline void set_bits(std::uint32_t* word, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  if ((*static_cast<volatile std::uint32_t*>(word) & bits) != bits) atomicOr(word, bits);
#else
  if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != bits) {
    __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
  }
#endif
}

HD inline int bit_count(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __popc(bits);
#else
  return __builtin_popcount(bits);
#endif
}

}  // namespace barchan
