// The scalar helpers that kernels need: std::min, max and clamp are constexpr host functions, which
// nvcc does not call from device code without a flag, so these take their place.
#pragma once

#include "base/hd.h"

namespace barchan {

template <class T>
HD constexpr T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
HD constexpr T max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
HD constexpr T clamp(T a, T low, T high) {
  return min(max(a, low), high);
}

}  // namespace barchan
