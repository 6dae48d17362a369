// How per-particle lists lie in memory. On a CPU one after the other, because one core reads a
// whole list. On a GPU the 32 threads of a warp read their k-th entries together, so the lists of
// 32 particles are interleaved in rows: four entries of the first, four of the second, and so on. A
// thread then reads four entries at once, and a warp reads a row without a gap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/hd.h"

namespace barchan {

inline constexpr std::uint32_t kWarp = 32;
inline constexpr std::uint32_t kRowEntries = 4;  // of each list in a row

// Whether the caller runs on a GPU, known when it is compiled.
HD constexpr bool on_gpu() {
#if defined(__CUDA_ARCH__)
  return true;
#else
  return false;
#endif
}

// Place of entry k of list i on a GPU, where the rows of i's warp start at row `start`.
HD inline std::size_t interleaved(std::uint32_t start, std::uint32_t i, std::uint32_t k) {
  const std::size_t row = std::size_t{start} + k / kRowEntries;
  return (row * kWarp + i % kWarp) * kRowEntries + k % kRowEntries;
}

}  // namespace barchan
