// Launches of kernels that gather from their neighbours. On the CPU they are the plain ones; a GPU
// copies what is gathered to shared memory first (tiles.cuh says what a kernel needs for that).
#pragma once

#include "compute/cpu.h"

namespace barchan {

template <class Kernel>
void for_each_tiled(Cpu& device, const char* label, std::int64_t n, const Kernel& kernel) {
  for_each(device, label, n, kernel);
}

template <class Op, class T, class Kernel>
void reduce_to_tiled(Cpu& device, const char* label, std::int64_t n, const Kernel& kernel,
                     T* result) {
  reduce_to<Op>(device, label, n, kernel, result);
}

}  // namespace barchan
