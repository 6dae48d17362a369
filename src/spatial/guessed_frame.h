// The frame that a step's cells are laid out by. On a GPU it is the last step's, so that nobody
// waits for the particles' extent; where that turns out to want another one, the step is begun
// again, so that its bytes depend on the state alone.
#pragma once

#include "compute/view.h"
#include "spatial/cells.h"
#include "spatial/kernels.h"

namespace barchan {

template <class Device>
class GuessedFrame {
 public:
  explicit GuessedFrame(Device& device) : device_(device) {}

  // This step's frame, if it is known before its points are; nullptr otherwise.
  const CellFrame* known() const { return known_ ? &frame_ : nullptr; }

  CellFrame choose(View3<const float> x, float radius) {
    if (device_.on_host() || !known_) {
      frame_ = steady_frame(extent_of(device_, x, radius), radius, reach());
      known_ = false;
    }
    return frame_;
  }
  // `bounds`, on the device, gets the extent of x where the frame is a guess.
  void measure(View3<const float> x, Bounds* bounds) {
    if (!known_) return;
    reduce_to<JoinBounds>(device_, "cells: extent", static_cast<std::int64_t>(x.size),
                          PointBounds{x}, bounds);
  }

  // Whether this step's frame was what its particles want; from now on there is one to go by.
  bool held(const Bounds& bounds, float radius) {
    const bool guessed = known_;
    known_ = !device_.on_host();
    if (!guessed) return true;
    const Vec3d middle = 0.5 * (Vec3d(bounds.lo) + Vec3d(bounds.hi));
    if (steady_frame({bounds, middle}, radius, reach()) == frame_) return true;
    known_ = false;  // it may need more than the bounds: ask
    return false;
  }

 private:
  // A CPU works on the particles of a cell together: the more of them, the better.
  int reach() const { return device_.on_host() ? 1 : 2; }

  Device& device_;
  CellFrame frame_{};
  bool known_ = false;  // it is the last step's
};

}  // namespace barchan
