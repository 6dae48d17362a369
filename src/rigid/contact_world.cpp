#include "rigid/contact_world.h"

#include <LinearMath/btTransformUtil.h>
#include <btBulletDynamicsCommon.h>

#include <algorithm>
#include <cmath>

#include "rigid/contact_shapes.h"

namespace barchan {

namespace {

constexpr double kStill = 1e-4;  // of g dt: rounds end when no contact changes velocities by more
constexpr double kSlop = 2e-4;   // of the smallest body: how deep things rest in each other

btVector3 to_bullet(const Vec3d& v) {
  return {v.x, v.y, v.z};
}
Vec3d from_bullet(const btVector3& v) {
  return {v.x(), v.y(), v.z()};
}
btTransform to_bullet(const Pose& pose) {
  const Quatd& q = pose.orientation;
  return btTransform(btQuaternion(q.x, q.y, q.z, q.w), to_bullet(pose.position));
}
Pose from_bullet(const btTransform& t) {
  const btQuaternion q = t.getRotation();
  return {from_bullet(t.getOrigin()), normalized(Quatd(q.w(), q.x(), q.y(), q.z()))};
}

btTransform after(const btRigidBody& body, double dt) {
  btTransform there;
  btTransformUtil::integrateTransform(body.getWorldTransform(), body.getLinearVelocity(),
                                      body.getAngularVelocity(), dt, there);
  return there;
}

// The velocity at which the two surfaces of a contact approach each other [m/s].
double approach_speed(const btManifoldPoint& point, const btRigidBody& a, const btRigidBody& b) {
  const btVector3 at_a = point.getPositionWorldOnA() - a.getCenterOfMassPosition();
  const btVector3 at_b = point.getPositionWorldOnB() - b.getCenterOfMassPosition();
  const btVector3 apart = a.getVelocityInLocalPoint(at_a) - b.getVelocityInLocalPoint(at_b);
  return -apart.dot(point.m_normalWorldOnB);
}

// A world that finds contacts and solves for velocities, but moves nothing.
class Solve : public btDiscreteDynamicsWorld {
 public:
  using btDiscreteDynamicsWorld::btDiscreteDynamicsWorld;

  // What will touch within dt: contacts are looked for where the bodies are going, then taken back
  // to where they are, which gives their gaps now. Bullet's own look ahead differs from shape to
  // shape.
  void find_contacts(double dt) {
    std::vector<btTransform> here;
    for (int i = 0; i < getNumCollisionObjects(); ++i) {
      btRigidBody& body = *btRigidBody::upcast(getCollisionObjectArray()[i]);
      here.push_back(body.getWorldTransform());
      body.setWorldTransform(after(body, dt));
    }
    performDiscreteCollisionDetection();
    for (int i = 0; i < getNumCollisionObjects(); ++i) {
      getCollisionObjectArray()[i]->setWorldTransform(here[static_cast<std::size_t>(i)]);
    }
    for (int m = 0; m < getDispatcher()->getNumManifolds(); ++m) {
      btPersistentManifold& manifold = *getDispatcher()->getManifoldByIndexInternal(m);
      manifold.setContactBreakingThreshold(1e30);  // none is too far to be taken back
      manifold.refreshContactPoints(manifold.getBody0()->getWorldTransform(),
                                    manifold.getBody1()->getWorldTransform());
    }
  }

  // Seconds until the first impact that bounces, faster than `fast` [m/s]; 0 where one is due.
  double next_impact(double fast, double slop) {
    double soonest = 1e30;
    for_each_point([&](btManifoldPoint& point, double speed) {
      if (speed > fast && point.m_combinedRestitution > 0.0) {
        const double gap = point.getDistance();
        soonest = std::min(soonest, gap > slop ? gap / speed : 0.0);
      }
      return true;
    });
    return soonest;
  }

  void run(double dt, double slow, double slop) {
    getSolverInfo().m_timeStep = dt;
    getSolverInfo().m_restitutionVelocityThreshold = slow;
    getSolverInfo().m_leastSquaresResidualThreshold = 0.25 * kStill * kStill * slow * slow;
    keep_what_touches(dt, slow, slop);
    calculateSimulationIslands();
    solveConstraints(getSolverInfo());
  }

 private:
  // visit(point, approach speed [m/s]) says whether the point stays.
  template <class Visit>
  void for_each_point(Visit visit) {
    for (int m = 0; m < getDispatcher()->getNumManifolds(); ++m) {
      btPersistentManifold& manifold = *getDispatcher()->getManifoldByIndexInternal(m);
      const auto& a = *btRigidBody::upcast(manifold.getBody0());
      const auto& b = *btRigidBody::upcast(manifold.getBody1());
      for (int k = manifold.getNumContacts() - 1; k >= 0; --k) {
        btManifoldPoint& point = manifold.getContactPoint(k);
        if (!visit(point, approach_speed(point, a, b))) manifold.removeContactPoint(k);
      }
    }
  }

  // Bullet also reports points that are merely near, and slows what approaches them so that it just
  // arrives. Where nothing arrives within the step they go. An impact that should bounce is not
  // slowed down, or it would not bounce as high as it should: it is due now, or not in this step.
  void keep_what_touches(double dt, double slow, double slop) {
    for_each_point([&](btManifoldPoint& point, double speed) {
      const double gap = point.getDistance();
      const bool bounces = speed > slow && point.m_combinedRestitution > 0.0;
      const bool due = gap <= (bounces ? slop : 0.0);
      if (!due && speed * dt <= (bounces ? 1.05 : 1.0) * gap) return false;
      if (bounces && gap > -slop) point.setDistance(-slop);  // Bullet counts from there
      // Both bodies are pushed at one point, or angular momentum would come from nowhere.
      const btVector3 middle = 0.5 * (point.m_positionWorldOnA + point.m_positionWorldOnB);
      point.m_positionWorldOnA = point.m_positionWorldOnB = middle;
      return true;
    });
  }
};

btContactSolverInfo solver_info(const RigidParams& params, double slop) {
  btContactSolverInfo info;
  info.m_numIterations = params.iterations;
  info.m_solverMode = SOLVER_USE_2_FRICTION_DIRECTIONS;  // no warm start, no random order
  info.m_splitImpulse = true;                            // moving apart gives no velocity, ever
  info.m_splitImpulsePenetrationThreshold = 0.0;
  info.m_linearSlop = slop;
  return info;
}

}  // namespace

struct ContactWorld::Parts {
  struct Body {
    int solid;
    const RigidBody* body;  // null: static or keyframed
    bool moves = false;     // keyframed
    Pose axes;              // Bullet's frame in the solid's own frame: principal axes
    std::shared_ptr<btCollisionShape> shape;
    Vec3d moments;       // about those axes; of dynamic ones [kg m^2]
    bool rolls = false;  // has round parts: only they need friction against it, which costs
  };
  static Body dynamic_part(const ContactBody& from, const Solid& solid);
  std::vector<Body> bodies;
  double slop = 0.0;  // [m]
};

namespace {

bool has_round_parts(const Shape& shape) {
  if (shape.kind == Shape::Kind::shape_union) {
    return std::any_of(shape.children.begin(), shape.children.end(), has_round_parts);
  }
  return shape.kind != Shape::Kind::box;
}

}  // namespace

// Bullet wants principal axes for its frame. Those of a single primitive are its own, and then it
// needs not be wrapped into a compound, which costs Bullet a lot.
ContactWorld::Parts::Body ContactWorld::Parts::dynamic_part(const ContactBody& from,
                                                            const Solid& solid) {
  const std::vector<ContactPart> parts = body_parts(solid.shape);
  if (parts.size() == 1) {
    const Pose& axes = parts[0].pose;
    const Mat3d turn = to_matrix(axes.orientation);
    const Sym3d inertia = symmetric_part(transpose(turn) * to_matrix(solid.mass.inertia) * turn);
    const double skew = std::abs(inertia.xy) + std::abs(inertia.xz) + std::abs(inertia.yz);
    if (skew < 1e-6 * trace(inertia) && length(axes.position) < 1e-6 * from.body->half_axes().x) {
      return {from.solid,
              from.body,
              true,
              {{}, axes.orientation},
              parts[0].shape,
              {inertia.xx, inertia.yy, inertia.zz},
              has_round_parts(solid.shape)};
    }
  }
  const Pose axes{{}, from.body->axes};
  return {from.solid,
          from.body,
          true,
          axes,
          joined(parts, axes),
          from.body->moments,
          has_round_parts(solid.shape)};
}

ContactWorld::ContactWorld(const SolidSet& solids, const std::vector<ContactBody>& bodies,
                           double cell, const RigidParams& params)
    : parts_(std::make_unique<Parts>()), params_(params) {
  double smallest = 1e30;
  for (const ContactBody& from : bodies) {
    const Solid& solid = solids[from.solid];
    if (from.body != nullptr) {
      parts_->bodies.push_back(Parts::dynamic_part(from, solid));
      smallest = std::min(smallest, from.body->half_axes().x);
      continue;
    }
    // Each piece of an obstacle is a body of its own: half spaces cannot be joined to others.
    for (ContactPart& part : obstacle_parts(solid.shape, solid.inside_out, cell)) {
      parts_->bodies.push_back({from.solid,
                                nullptr,
                                solid.drive == SolidDrive::keyframes,
                                part.pose,
                                std::move(part.shape),
                                {}});
    }
  }
  parts_->slop = kSlop * smallest;
}

ContactWorld::~ContactWorld() = default;

namespace {

// Bullet multiplies the coefficients of the two that touch; given their roots, it takes the
// geometric mean.
void set_surface(const Solid& solid, btRigidBody& body) {
  body.setFriction(std::sqrt(solid.friction));
  body.setRestitution(std::sqrt(solid.restitution));
}

btDefaultCollisionConstructionInfo small_pools() {
  btDefaultCollisionConstructionInfo pools;
  pools.m_defaultMaxPersistentManifoldPoolSize = 256;
  pools.m_defaultMaxCollisionAlgorithmPoolSize = 256;
  return pools;
}

}  // namespace

// One question to Bullet: everything it is made of lives and dies with it.
class ContactWorld::Question {
 public:
  Question(const Parts& parts, const RigidParams& params)
      : parts_(parts),
        rolling_(params.rolling_friction),
        configuration_(small_pools()),
        dispatcher_(&configuration_),
        world_(&dispatcher_, &broadphase_, &solver_, &configuration_) {
    world_.setGravity(btVector3(0, 0, 0));
    // Round things find one point at a time; turned a little, they find the others they rest on.
    configuration_.setConvexConvexMultipointIterations(4, 4);
    world_.getSolverInfo() = solver_info(params, parts.slop);
  }
  ~Question() {
    for (const auto& body : bodies_) world_.removeRigidBody(body.get());
  }

  // The bodies as they are at `time`, in the order of parts.
  void add_bodies(const SolidSet& solids, double time, const std::vector<BodyMotion>& motions) {
    int next_dynamic = 0;
    for (const Parts::Body& part : parts_.bodies) {
      const bool dynamic = part.body != nullptr;
      BodyMotion motion{solids.pose(part.solid, time), {}, {}};
      if (dynamic) {
        motion = motions[static_cast<std::size_t>(next_dynamic)];
      } else if (part.moves) {
        solids.velocity(part.solid, time, motion.velocity, motion.angular_velocity);
        motion.velocity +=
            cross(motion.angular_velocity, rotate(motion.pose.orientation, part.axes.position));
      }
      dynamic_of_.push_back(dynamic ? next_dynamic++ : -1);
      add_body(part, solids[part.solid], motion);
    }
  }

  double solve(double dt, bool until_hit, const Vec3d& gravity) {
    // What rests falls by g dt onto its support every step: impacts like that do not bounce.
    const double slow = 2.0 * length(gravity) * dt;
    add_velocity(dt * gravity);
    world_.find_contacts(dt);
    if (until_hit) {
      const double fast = 10.0 * slow;  // where a step's fall, give or take, is nothing
      const double until = std::clamp(world_.next_impact(fast, parts_.slop), 1e-3 * dt, dt);
      add_velocity((until - dt) * gravity);
      dt = until;
    }
    world_.run(dt, slow, parts_.slop);
    return dt;
  }

  void read(std::vector<BodyMotion>& motions, std::vector<bool>& touching) {
    touching.assign(motions.size(), false);
    for (int m = 0; m < dispatcher_.getNumManifolds(); ++m) {
      const btPersistentManifold& manifold = *dispatcher_.getManifoldByIndexInternal(m);
      if (manifold.getNumContacts() == 0) continue;
      for (const btCollisionObject* object : {manifold.getBody0(), manifold.getBody1()}) {
        const int k = dynamic_of_[static_cast<std::size_t>(object->getWorldArrayIndex())];
        if (k >= 0) touching[static_cast<std::size_t>(k)] = true;
      }
    }
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      if (dynamic_of_[i] < 0) continue;
      const auto k = static_cast<std::size_t>(dynamic_of_[i]);
      motions[k].velocity = from_bullet(bodies_[i]->getLinearVelocity());
      if (!touching[k]) continue;  // its pose and turning stay as they are, to the last bit
      const Pose pose = from_bullet(bodies_[i]->getWorldTransform());
      motions[k].pose = compose(pose, inverse(parts_.bodies[i].axes));
      motions[k].angular_velocity = from_bullet(bodies_[i]->getAngularVelocity());
    }
  }

 private:
  void add_velocity(const Vec3d& more) {
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      if (dynamic_of_[i] < 0) continue;
      bodies_[i]->setLinearVelocity(bodies_[i]->getLinearVelocity() + to_bullet(more));
    }
  }
  void add_body(const Parts::Body& part, const Solid& solid, const BodyMotion& motion) {
    const bool dynamic = part.body != nullptr;
    btRigidBody::btRigidBodyConstructionInfo info(dynamic ? part.body->mass : 0.0, nullptr,
                                                  part.shape.get(), to_bullet(part.moments));
    auto body = std::make_unique<btRigidBody>(info);
    body->setFlags(0);
    body->setActivationState(DISABLE_DEACTIVATION);
    if (!dynamic && part.moves) {
      body->setCollisionFlags(body->getCollisionFlags() | btCollisionObject::CF_KINEMATIC_OBJECT);
    }
    set_surface(solid, *body);
    body->setWorldTransform(to_bullet(compose(motion.pose, part.axes)));
    body->setLinearVelocity(to_bullet(motion.velocity));
    body->setAngularVelocity(to_bullet(motion.angular_velocity));
    body->updateInertiaTensor();
    if (dynamic && part.rolls) {
      body->setRollingFriction(rolling_ * part.body->half_axes().x);
      body->setSpinningFriction(rolling_ * part.body->half_axes().x);
    }
    world_.addRigidBody(body.get());
    bodies_.push_back(std::move(body));
  }

  const Parts& parts_;
  double rolling_;  // friction against rolling, over a body's size
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_;
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  Solve world_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  std::vector<int> dynamic_of_;  // index into motions, or -1
};

double ContactWorld::resolve(const SolidSet& solids, double time, double dt, bool until_hit,
                             const Vec3d& gravity, std::vector<BodyMotion>& motions,
                             std::vector<bool>& touching) {
  Question question(*parts_, params_);
  question.add_bodies(solids, time, motions);
  const double taken = question.solve(dt, until_hit, gravity);
  question.read(motions, touching);
  return taken;
}

}  // namespace barchan
