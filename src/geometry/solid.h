// Solids while the simulation runs: shapes with surface properties that stand, follow keyframes or
// are moved by others (rigid bodies), as kernels see them during one step.
//
// Precision. Kernels hold positions as floats. Each solid's program is compiled about the middle of
// its shape, its frame's origin is that middle, kept as two floats (high + low part of the double),
// and a point is taken relative to it first: x - high is exact where it matters (x within a factor
// of two of high, Sterbenz), and every later rounding is relative to the solid's size, not to the
// distance from the world's origin. A wall that moves by less than the spacing of floats per step
// still moves, because its travel is carried as a difference taken in double precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/hd.h"
#include "compute/buffer.h"
#include "compute/device.h"
#include "geometry/keyframes.h"
#include "geometry/mass_properties.h"
#include "geometry/pose.h"
#include "geometry/sdf.h"
#include "geometry/shape.h"
#include "math/quat.h"
#include "math/vec3.h"

namespace barchan {

// One solid during the step from t0 to t1. s is the fraction of the step: 0 at t0, 1 at t1.
struct SolidView {
  const SdfNode* begin = nullptr;  // the distance program, about the frame's origin
  const SdfNode* end = nullptr;
  float sign = 1.0f;  // -1: inside out, the material is inside
  float friction = 0.0f;
  float restitution = 0.0f;
  float reach = 0.0f;  // all of the solid is within this of the frame's origin [m]; may be infinite
  bool moves = false;  // start and end differ
  bool turned = false;  // some orientation is not the identity
  bool dynamic = false;
  bool hollow = false;  // inside out, and what is inside is convex

  Vec3 start_position, start_low;  // the frame's origin at s = 0: the sum of both [m]
  Vec3 end_position, end_low;      // and at s = 1 [m]
  Vec3 travel;                     // end - start [m]
  Quat start_orientation;          // local to world
  Quat end_orientation;            // on the start's side of the sphere: dot(start, end) >= 0

  Vec3 velocity;          // of the frame's origin, mean over the step [m/s]
  Vec3 angular_velocity;  // mean over the step [rad/s]
  Vec3 turn;              // angular_velocity times the step [rad]

  // Bounds on the turn while s goes from 0 to 1 with the orientation interpolated as below:
  float turn_rate = 0.0f;          // |omega| [rad]
  float turn_acceleration = 0.0f;  // |omega|^2 + |d omega / ds| [rad^2]
};

struct SolidsView {
  const SolidView* data = nullptr;
  int count = 0;
  bool some_dynamic = false;
};

// ---- for kernels

// The orientation at s: on the straight line between the two, normalised (nlerp).
HD inline Quat orientation_at(const SolidView& solid, float s) {
  return normalized(solid.start_orientation * (1.0f - s) + solid.end_orientation * s);
}

// From the frame's origin at s to the world point, in world axes [m].
HD inline Vec3 arm_at(const SolidView& solid, const Vec3& world, float s) {
  return ((world - solid.start_position) - solid.start_low) - s * solid.travel;
}

// Distance at an arm (see arm_at) turned into the frame by q; the sign is that of the material's
// side: positive where the material may be. The gradient is in world axes.
template <bool kShared = false>
HD inline Distance distance_at_arm(const SolidView& solid, const Vec3& arm, const Quat& q) {
  const Vec3 local = solid.turned ? inverse_rotate(q, arm) : arm;
  const Distance at = kShared ? shared_distance(solid.begin, solid.end, local.x, local.y, local.z)
                              : distance(solid.begin, solid.end, local);
  const Vec3 gradient = solid.turned ? rotate(q, at.gradient) : at.gradient;
  return {solid.sign * at.d, solid.sign * gradient};
}

// No point within `travel` [m] of this arm's end is nearer to the solid than `gap` [m]: a look at
// the size alone, for solids of many parts. A point with d < gap is in the shape's bounding box
// grown by gap, so within sqrt(3) gap of the sphere around that box.
HD inline bool out_of_reach(const SolidView& solid, const Vec3& arm, float gap, float travel) {
  const float range = solid.reach + 1.7321f * gap + travel;
  return length_squared(arm) > range * range;
}

HD inline Distance solid_distance(const SolidView& solid, const Vec3& world, float s) {
  const Quat q = solid.turned ? orientation_at(solid, s) : Quat::identity();
  return distance_at_arm(solid, arm_at(solid, world, s), q);
}
HD inline Distance solid_distance_at_end(const SolidView& solid, const Vec3& world) {
  const Vec3 arm = (world - solid.end_position) - solid.end_low;
  return distance_at_arm(solid, arm, solid.end_orientation);
}

// Of the solid's material at a world point, where the solid is at the end of the step [m/s].
HD inline Vec3 velocity_at(const SolidView& solid, const Vec3& world) {
  const Vec3 arm = (world - solid.end_position) - solid.end_low;
  return solid.velocity + cross(solid.angular_velocity, arm);
}

// ---- for the host

enum class SolidDrive { fixed, keyframes, dynamic };

struct Solid {
  std::string name;
  Shape shape;
  bool inside_out = false;  // a container: the material is inside
  double friction = 0.0;
  double restitution = 0.0;
  SolidDrive drive = SolidDrive::fixed;
  Motion motion;  // keyframes only; poses carry the shape's own frame into the world

  // Dynamic only. The origin of the shape's own frame is the centre of mass.
  MassProperties mass;     // about that origin
  Pose start;              // at time 0
  Vec3d velocity;          // at time 0 [m/s]
  Vec3d angular_velocity;  // at time 0 [rad/s]
};

class SolidSet {
 public:
  // Rejects degenerate shapes by the solid's name. The device must outlive the set. Meshes are
  // baked with voxels of `mesh_voxel` [m]; compile() says what 0 means.
  SolidSet(std::vector<Solid> solids, Device& device, double mesh_voxel = 0.0);

  int count() const { return static_cast<int>(solids_.size()); }
  double mesh_voxel() const { return mesh_voxel_; }  // [m]
  const Solid& operator[](int solid) const { return solids_[static_cast<std::size_t>(solid)]; }
  int find(const std::string& name) const;  // -1 if there is none

  // Where a dynamic solid is from t0 to t1 [s]: between the two poses in between, at either of them
  // before and after.
  void set_dynamic(int solid, double t0, const Pose& from, double t1, const Pose& to);

  // The pose of the shape's own frame.
  Pose pose(int solid, double time) const;
  // Velocity of the frame's origin [m/s] and angular velocity [rad/s] at that moment.
  void velocity(int solid, double time, Vec3d& linear, Vec3d& angular) const;

  // The solids from t0 to t1 [s], on the device. Valid until the next call. Uploads only if
  // something moved. No solid should turn by half a turn or more in one step: of two ways round,
  // the shorter one is taken.
  SolidsView moving(double t0, double t1);

  // The world point is in the solid's material (outside of a container) by more than margin [m].
  // Double precision, without the distance programs: it checks them.
  bool buried(int solid, const Vec3d& world, double time, double margin) const;

 private:
  struct Dynamic {
    double t0 = 0.0, t1 = 0.0;  // [s]
    Pose from, to;
  };
  // A baked mesh on the device.
  struct DeviceField {
    explicit DeviceField(Device& device) : tiles(device), nodes(device), corners(device) {}
    Buffer<std::int32_t> tiles;
    Buffer<float> nodes, corners;
  };
  void compile_all(Device& device);
  void upload_fields(const std::vector<std::shared_ptr<const MeshField>>& fields, Device& device,
                     std::vector<SdfNode>& nodes);
  SolidView view_of(int solid, double t0, double t1) const;

  std::vector<Solid> solids_;
  double mesh_voxel_ = 0.0;              // [m]
  std::vector<Dynamic> dynamics_;        // one a solid; used by the dynamic ones
  std::vector<float> reaches_;           // see SolidView::reach [m]
  std::vector<bool> convex_;             // the shape is, certainly
  std::vector<Vec3d> origins_;           // of the frames, in the shapes' own frames [m]
  std::vector<std::size_t> first_node_;  // where each program begins; one more entry: the end
  bool all_still_ = true;
  bool some_dynamic_ = false;
  bool uploaded_ = false;
  Buffer<SdfNode> nodes_;
  std::vector<DeviceField> fields_;
  Buffer<MeshFieldView> field_views_;  // of fields_
  Buffer<SolidView> views_;
};

}  // namespace barchan
