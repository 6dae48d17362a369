// A slice of a brick, 4 x 4 samples of one z, as one vector or two.
#pragma once

#include "compute/lanes.h"
#include "surface/lattice.h"

namespace barchan {

inline constexpr int kSlice = kBrick * kBrick, kSliceParts = kSlice / kLanes;

// Where the samples of a part lie within the slice.
BARCHAN_INLINE Lanes lane_x() {
  return to_float(kLaneNumber & (kBrick - 1));
}
BARCHAN_INLINE Lanes lane_y(int part) {
  return to_float((kLaneNumber + kLanes * part) / kBrick);
}

BARCHAN_INLINE Lanes sqrt_of(const Lanes& a) {
  constexpr float kTiny = 1e-30f;  // 0 comes out as about 1e-15
  return a * inverse_sqrt(max(a, kTiny));
}
BARCHAN_INLINE void store(const Lanes& a, float* to) {
  __builtin_memcpy(to, &a, sizeof(a));
}

// phi[...] = sample(z, part) of all samples of a brick.
template <class Sample>
BARCHAN_INLINE void sample_brick(float* phi, const Sample& sample) {
  for (int z = 0; z < kBrick; ++z) {
    for (int part = 0; part < kSliceParts; ++part) {
      store(sample(z, part), phi + kSlice * z + kLanes * part);
    }
  }
}

}  // namespace barchan
