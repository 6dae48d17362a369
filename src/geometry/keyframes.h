// Motion given by the scene: poses at times, and everything between them.
#pragma once

#include <vector>

#include "geometry/pose.h"
#include "math/vec3.h"

namespace barchan {

struct Keyframe {
  double time = 0.0;    // [s]
  Vec3d position;       // [m]
  Vec3d axis{0, 1, 0};  // of the rotation, any length
  double angle = 0.0;   // [rad], any number of turns
};

// Before the first key and after the last all is still. Between two keys both velocities are
// constant: positions go straight; if the two axes are parallel (or one angle is 0) the angle goes
// from one to the other, so that 0 -> 720 degrees is two turns; else the rotation takes the
// shortest way at a steady rate (slerp).
class Motion {
 public:
  Motion() = default;  // stays where it is
  // Rejects keys that are not in order of time, not finite, or turned about an axis of length 0.
  explicit Motion(const std::vector<Keyframe>& keys);

  bool is_still() const;  // at all times

  Pose at(double time) const;
  // Of the pose's origin [m/s] and about it [rad/s, world axes]; at a key, that of what follows.
  void velocity(double time, Vec3d& linear, Vec3d& angular) const;

 private:
  // A key and the steady velocities from it to the next one; none after the last.
  struct Leg {
    double time;
    Pose pose;
    Vec3d linear, angular;
  };
  const Leg* leg_at(double time) const;  // null before the first key

  std::vector<Leg> legs_;
};

}  // namespace barchan
