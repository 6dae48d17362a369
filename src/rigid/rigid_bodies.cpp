#include "rigid/rigid_bodies.h"

#include <algorithm>
#include <cmath>

namespace barchan {

namespace {

constexpr double kLongestMove = 0.4;  // of a body's smallest half axis, in one substep
constexpr int kMostSubsteps = 200;
constexpr int kMostImpacts = 6;  // that steps end at exactly

}  // namespace

RigidBodies::RigidBodies(const SolidSet& solids, const Vec3d& gravity, double cell,
                         const RigidParams& params, bool meet)
    : gravity_(gravity), params_(params) {
  // In the order of their names, so that the order in the scene file does not matter.
  std::vector<int> order;
  for (int s = 0; s < solids.count(); ++s) order.push_back(s);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return solids[a].name < solids[b].name; });
  for (const int s : order) {
    if (solids[s].drive != SolidDrive::dynamic) continue;
    bodies_.emplace_back(solids[s].mass.mass, solids[s].mass.inertia);
    solid_of_.push_back(s);
  }
  if (bodies_.empty() || !meet) return;
  std::vector<ContactBody> all;
  std::size_t dynamic = 0;
  for (const int s : order) {
    const bool moved = solids[s].drive == SolidDrive::dynamic;
    all.push_back({s, moved ? &bodies_[dynamic++] : nullptr});
  }
  contacts_ = std::make_unique<ContactWorld>(solids, all, cell, params);
}

// Short enough that no body moves far compared with its size.
int RigidBodies::substeps(double dt, const std::vector<BodyMotion>& motions) const {
  double steps = dt / params_.dt_max;
  const double fall = length(gravity_) * dt;  // what a body may gain meanwhile [m/s]
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const Vec3d half = bodies_[i].half_axes();
    const double speed =
        length(motions[i].velocity) + fall + length(motions[i].angular_velocity) * half.z;
    steps = std::max(steps, speed * dt / (kLongestMove * std::max(half.x, 1e-9)));
  }
  return static_cast<int>(std::ceil(std::clamp(steps - 1e-9, 1.0, double{kMostSubsteps})));
}

double RigidBodies::fastest(const std::vector<BodyMotion>& motions) const {
  double most = 0.0;
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    const double turning = 1.5 * bodies_[i].half_axes().z * length(motions[i].angular_velocity);
    most = std::max(most, length(motions[i].velocity) + turning);
  }
  return most;
}

// Free flight and free rotation: exact, and of fourth order.
void RigidBodies::fly(double dt, std::vector<BodyMotion>& motions) const {
  for (std::size_t i = 0; i < bodies_.size(); ++i) {
    motions[i].pose.position += dt * motions[i].velocity + (0.5 * dt * dt) * gravity_;
    motions[i].velocity += dt * gravity_;
    bodies_[i].turn(dt, motions[i]);
  }
}

void RigidBodies::advance(const SolidSet& solids, double time, double dt,
                          std::vector<BodyMotion>& motions) {
  if (bodies_.empty() || !(dt > 0.0)) return;
  if (contacts_ == nullptr) {
    fly(dt, motions);
    return;
  }
  const double longest = dt / substeps(dt, motions);
  int impacts = 0;
  for (double done = 0.0; done < dt;) {
    // Steps end at impacts, so that things bounce where they meet; but a swarm of them must not
    // take for ever.
    const double left = dt - done;
    const double wanted = left < 1.5 * longest ? left : longest;
    const double h = contacts_->resolve(solids, time + done, wanted, impacts < kMostImpacts,
                                        gravity_, motions, touching_);
    if (h < wanted) ++impacts;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      // In free flight x + h v + h^2 g/2 with the old velocity v: exact. In contact the new one,
      // which the contact made what it is.
      motions[i].pose.position += h * motions[i].velocity;
      if (!touching_[i]) motions[i].pose.position -= 0.5 * h * h * gravity_;
      bodies_[i].turn(h, motions[i]);
    }
    done = h == left ? dt : done + h;
  }
}

}  // namespace barchan
