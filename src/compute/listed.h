// A kernel for the items of a list that another kernel made, as long as that says.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"

namespace barchan {

// To be launched for kListThreads items, each of which sees to every so manieth of the list: the
// host need not know how long it is. kernel(i) says whether i needs kernel.some(i), too.
inline constexpr int kListThreads = 1 << 15;
template <class Kernel>
struct Listed {
  const std::uint32_t* count;
  View<const std::uint32_t> list;
  Kernel kernel;
  HD void operator()(int first) const {
    if (list.size == 0) return;  // nobody may have set the count
    const std::uint32_t end = *count;
    for (auto at = static_cast<std::uint32_t>(first); at < end; at += kListThreads) {
      const auto i = static_cast<int>(list[at]);
      if (kernel(i)) kernel.some(i);
    }
  }
};

}  // namespace barchan
