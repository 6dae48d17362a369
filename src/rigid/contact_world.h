// Contact between bodies, and between bodies and other solids, through Bullet.
//
// Bullet is asked one thing: which velocities do these bodies have after this step's contacts? Its
// world is made anew for each question from nothing but the bodies' motions, in their order, so
// that the answer depends on nothing else: no warm start, no sleeping, no contacts remembered.
// Moving and turning the bodies is rigid_body.h's business; it is exact where Bullet's is not.
#pragma once

#include <memory>
#include <vector>

#include "geometry/solid.h"
#include "math/vec3.h"
#include "params/solver_params.h"
#include "rigid/rigid_body.h"

namespace barchan {

// A solid as the contact world sees it; exactly one of the two is given.
struct ContactBody {
  int solid = -1;                   // in the SolidSet
  const RigidBody* body = nullptr;  // dynamic; null for what is static or keyframed
};

class ContactWorld {
 public:
  // `cell` [m]: how finely surfaces that are neither convex nor unions are cut into triangles.
  ContactWorld(const SolidSet& solids, const std::vector<ContactBody>& bodies, double cell,
               const RigidParams& params);
  ~ContactWorld();

  // Gravity [m/s^2] and the contacts at `time` [s] act on the velocities, for a step of at most dt
  // [s]; returns its length. If `until_hit`, it ends where the first impact that bounces is due,
  // and is short where one is, for what bounces does so with the speed it came with. `motions` has
  // one entry for each dynamic body, in order. Bodies that overlap are also moved apart a little.
  // Sets touching[i] where body i is in contact.
  double resolve(const SolidSet& solids, double time, double dt, bool until_hit,
                 const Vec3d& gravity, std::vector<BodyMotion>& motions,
                 std::vector<bool>& touching);

 private:
  struct Parts;
  class Question;
  std::unique_ptr<Parts> parts_;
  RigidParams params_;
};

}  // namespace barchan
