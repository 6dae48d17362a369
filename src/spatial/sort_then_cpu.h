// CellSort::sort_then on a CPU; sort_then.cuh is the same for a GPU.
#pragma once

#include "compute/cpu.h"
#include "spatial/cells.h"
#include "spatial/kernels.h"

namespace barchan {

template <>
template <class Then>
void CellSort<Cpu>::sort_then(View3<const float> x, const CellFrame& frame, const char* label,
                              const Then& then) {
  sort(x, frame);
  for_each(device_, label, static_cast<std::int64_t>(x.size), ThenInOrder<Then>{order(), then});
}

}  // namespace barchan
