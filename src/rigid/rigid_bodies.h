// All dynamic bodies of a scene: they fall, turn, and bump into each other and into other solids.
#pragma once

#include <memory>
#include <vector>

#include "geometry/solid.h"
#include "math/vec3.h"
#include "params/solver_params.h"
#include "rigid/contact_world.h"
#include "rigid/rigid_body.h"

namespace barchan {

class RigidBodies {
 public:
  // `cell` [m]: see ContactWorld. `meet`: bodies bump into each other and into solids here; they
  // fly freely where somebody else sees to that.
  RigidBodies(const SolidSet& solids, const Vec3d& gravity, double cell, const RigidParams& params,
              bool meet = true);

  int count() const { return static_cast<int>(bodies_.size()); }
  const RigidBody& operator[](int i) const { return bodies_[static_cast<std::size_t>(i)]; }
  int solid(int i) const { return solid_of_[static_cast<std::size_t>(i)]; }  // in the SolidSet

  // The speed of a point on any body's surface is at most about this [m/s].
  double fastest(const std::vector<BodyMotion>& motions) const;

  // The motions at `time`, one for each body, become those at time + dt [s].
  void advance(const SolidSet& solids, double time, double dt, std::vector<BodyMotion>& motions);

 private:
  void fly(double dt, std::vector<BodyMotion>& motions) const;
  int substeps(double dt, const std::vector<BodyMotion>& motions) const;

  Vec3d gravity_;  // [m/s^2]
  RigidParams params_;
  std::vector<RigidBody> bodies_;  // by name
  std::vector<int> solid_of_;
  std::unique_ptr<ContactWorld> contacts_;  // none without bodies that meet
  std::vector<bool> touching_;
};

}  // namespace barchan
