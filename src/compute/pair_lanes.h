// As many neighbours as a CPU works on at once in pair_sums.h: sixteen with AVX-512, otherwise
// eight. g++ lowers vectors wider than the machine's through memory, at ten times the cost.
#pragma once

#include "compute/eight.h"
#include "compute/lanes.h"

#if !defined(__CUDACC__)

namespace barchan {

#if defined(__AVX512F__)

inline constexpr int kPairLanes = kLanes;
using PairLanes = Lanes;
using PairPoints = PointLanes;

BARCHAN_INLINE PairPoints gather_pairs(const Float4* points, const std::uint32_t* index) {
  return gather(points, index);
}

#else

inline constexpr int kPairLanes = kEight;
using PairLanes = Eight;
using PairPoints = EightPoints;

BARCHAN_INLINE PairPoints gather_pairs(const Float4* points, const std::uint32_t* index) {
  return gather_eight(points, 1, index);
}

#endif

}  // namespace barchan

#endif  // !__CUDACC__
