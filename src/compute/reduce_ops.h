// Ways to combine two numbers, for reduce().
#pragma once

#include "base/hd.h"

namespace barchan {

template <class T>
struct Sum {
  static HD T identity() { return T{}; }
  static HD T combine(const T& a, const T& b) { return a + b; }
};

// The largest of numbers that are not negative; 0 for none.
template <class T>
struct Largest {
  static HD T identity() { return T{}; }
  static HD T combine(const T& a, const T& b) { return a < b ? b : a; }
};

}  // namespace barchan
