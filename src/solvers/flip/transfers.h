// Transfers between particles and the grid, on each device (transfers_cpu.cpp, transfers_cuda.cu).
#pragma once

#include "solvers/flip/transfer_kernels.h"
#include "spatial/tile_layers.h"

namespace barchan {

class Cpu;
class Cuda;

namespace flip {

// `near`: the cells that share a corner with one that has particles.
template <class Device>
void to_faces(Device& device, const ToFaces& kernel, const LayerView& near);
template <class Device>
void carry(Device& device, const CarryParticles& kernel);

}  // namespace flip

}  // namespace barchan
