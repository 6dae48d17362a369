#include "geometry/keyframes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "base/error.h"

namespace barchan {

namespace {

void check(const std::vector<Keyframe>& keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Keyframe& key = keys[i];
    if (!std::isfinite(key.time) || !is_finite(key.position) || !is_finite(key.axis) ||
        !std::isfinite(key.angle)) {
      reject("keyframe {} holds a number that is not finite", i + 1);
    }
    if (key.angle != 0.0 && !(length(key.axis) > 0.0)) {
      reject("keyframe {} turns by {} rad about an axis of length 0", i + 1, key.angle);
    }
    if (i > 0 && !(key.time > keys[i - 1].time)) {
      reject("keyframe {} is at {} s, not after keyframe {} at {} s; put them in order of time",
             i + 1, key.time, i, keys[i - 1].time);
    }
  }
}

// The rotation from one key to the next as axis times angle [rad], which may be many turns.
Vec3d turn_between(const Keyframe& a, const Keyframe& b, const Quatd& qa, const Quatd& qb) {
  // A key without rotation has no axis of its own: it shares the other's.
  const Vec3d u = normalized(a.angle != 0.0 ? a.axis : b.axis);
  const Vec3d v = normalized(b.angle != 0.0 ? b.axis : a.axis);
  if (length(cross(u, v)) < 1e-9) {
    // About -u by an angle is about u by its opposite.
    const double end = dot(u, v) < 0.0 ? -b.angle : b.angle;
    return u * (end - a.angle);
  }
  return rotation_vector(qa, qb);
}

}  // namespace

Motion::Motion(const std::vector<Keyframe>& keys) {
  check(keys);
  for (const Keyframe& key : keys) {
    legs_.push_back({key.time, {key.position, from_axis_angle(key.axis, key.angle)}, {}, {}});
  }
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    Leg& leg = legs_[i];
    const Leg& next = legs_[i + 1];
    const double duration = next.time - leg.time;
    leg.linear = (next.pose.position - leg.pose.position) / duration;
    leg.angular =
        turn_between(keys[i], keys[i + 1], leg.pose.orientation, next.pose.orientation) / duration;
  }
}

bool Motion::is_still() const {
  return std::all_of(legs_.begin(), legs_.end(), [](const Leg& leg) {
    return leg.linear == Vec3d() && leg.angular == Vec3d();
  });
}

const Motion::Leg* Motion::leg_at(double time) const {
  const auto after = std::upper_bound(legs_.begin(), legs_.end(), time,
                                      [](double t, const Leg& leg) { return t < leg.time; });
  return after == legs_.begin() ? nullptr : &*std::prev(after);
}

Pose Motion::at(double time) const {
  if (legs_.empty()) return {};
  const Leg* leg = leg_at(time);
  if (!leg) return legs_.front().pose;
  const double t = time - leg->time;
  // The angular velocity is constant and in world axes, so the turn multiplies from the left.
  return {leg->pose.position + t * leg->linear,
          from_rotation_vector(t * leg->angular) * leg->pose.orientation};
}

void Motion::velocity(double time, Vec3d& linear, Vec3d& angular) const {
  const Leg* leg = leg_at(time);
  linear = leg ? leg->linear : Vec3d();
  angular = leg ? leg->angular : Vec3d();
}

}  // namespace barchan
