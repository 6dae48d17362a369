// Numbers at the low faces of the cells, in a device's memory.
#pragma once

#include "compute/buffer.h"
#include "solvers/flip/solid_kernels.h"

namespace barchan::flip {

struct FaceBuffer {
  Buffer<float> of[3];
  explicit FaceBuffer(Device& device)
      : of{Buffer<float>(device), Buffer<float>(device), Buffer<float>(device)} {}
  void resize(std::size_t cells) {
    for (Buffer<float>& a : of) a.resize(cells);
  }
  void clear_to_zero() {
    for (Buffer<float>& a : of) a.clear_to_zero();
  }
  void swap(FaceBuffer& other) {
    for (int a = 0; a < 3; ++a) of[a].swap(other.of[a]);
  }
  FaceView view() { return {{of[0].view(), of[1].view(), of[2].view()}}; }
  ConstFaceView read() const { return {{of[0].view(), of[1].view(), of[2].view()}}; }
};

}  // namespace barchan::flip
