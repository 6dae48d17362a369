// Ways to combine two numbers, for reduce().
#pragma once

#include "base/hd.h"

namespace barchan {

template <class T>
struct Sum {
  static HD T identity() { return T{}; }
  static HD T combine(const T& a, const T& b) { return a + b; }
};

// The largest; `lowest` is the answer for no items.
template <class T, T lowest>
struct Largest {
  static HD T identity() { return lowest; }
  static HD T combine(const T& a, const T& b) { return a < b ? b : a; }
};

}  // namespace barchan
