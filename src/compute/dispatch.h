// From a Device& to the device it is: where code that knows only the base class enters templates.
#pragma once

#include "base/error.h"
#include "compute/built_with.h"
#include "compute/device.h"

namespace barchan {

// f(Cpu&) or f(Cuda&). The second is not even named in a build without CUDA.
template <class F>
auto on_device(Device& device, const F& f) -> decltype(f(*device.as_cpu())) {
  if (Cpu* cpu = device.as_cpu()) return f(*cpu);
  if constexpr (kBuiltWithCuda) {
    if (Cuda* cuda = device.as_cuda()) return f(*cuda);
  }
  fail("device '{}' is not known to this build", device.name());
}

}  // namespace barchan
