// Transfers between particles and the grid, on each device (transfers_cpu.cpp, transfers_cuda.cu).
#pragma once

#include "solvers/flip/transfer_kernels.h"

namespace barchan {

class Cpu;
class Cuda;

namespace flip {

template <class Device>
void to_faces(Device& device, const ToFaces& kernel);
template <class Device>
void carry(Device& device, const CarryParticles& kernel);

}  // namespace flip

}  // namespace barchan
