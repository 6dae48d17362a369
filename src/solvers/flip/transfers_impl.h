// Bodies of transfers.h.
#pragma once

#include "solvers/flip/transfers.h"

namespace barchan::flip {

template <class Device>
void to_faces(Device& device, const ToFaces& kernel) {
  for_each(device, "to grid", static_cast<std::int64_t>(kernel.tiles.cells()), kernel);
}

template <class Device>
void from_faces(Device& device, const FromFaces& kernel) {
  for_each(device, "to particles", static_cast<std::int64_t>(kernel.x.size), kernel);
}

}  // namespace barchan::flip
