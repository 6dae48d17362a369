#include "compute/cpu.h"
#include "solvers/flip/transfers.h"
#include "solvers/flip/window_cpu.h"

namespace barchan::flip {

template <>
void to_faces(Cpu& device, const ToFaces& kernel, const LayerView& near) {
  for_each_of(device, "to grid", near, kernel);
}

template <>
void carry(Cpu& device, const CarryParticles& kernel) {
  const int margin = static_cast<int>(kernel.carry.most) + 2;
  for_each_range(device, "to particles", static_cast<std::int64_t>(kernel.tiles.number.size), 1,
                 CarryTiles{kernel, margin});
}

}  // namespace barchan::flip
