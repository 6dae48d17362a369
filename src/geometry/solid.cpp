#include "geometry/solid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace barchan {

namespace {

void split(const Vec3d& exact, Vec3& high, Vec3& low) {
  high = Vec3(exact);
  low = Vec3(exact - Vec3d(high));
}

}  // namespace

SolidSet::SolidSet(std::vector<Solid> solids, Device& device, double mesh_voxel)
    : solids_(std::move(solids)),
      mesh_voxel_(mesh_voxel),
      dynamics_(solids_.size()),
      nodes_(device),
      field_views_(device),
      views_(device) {
  for (const Solid& solid : solids_) {
    const std::string fault = describe_fault(solid.shape);
    if (!fault.empty()) reject("solid '{}': {}", solid.name, fault);
    Dynamic& dynamic = dynamics_[static_cast<std::size_t>(&solid - solids_.data())];
    dynamic.from = dynamic.to = solid.start;
    const bool keyed = solid.drive == SolidDrive::keyframes && !solid.motion.is_still();
    if (solid.drive == SolidDrive::dynamic) some_dynamic_ = true;
    if (keyed || some_dynamic_) all_still_ = false;
  }
  compile_all(device);
}

void SolidSet::compile_all(Device& device) {
  std::vector<SdfNode> all;
  std::vector<std::shared_ptr<const MeshField>> fields;
  for (const Solid& solid : solids_) {
    // Dynamic bodies turn about their own origin, which is in their middle; the others may be
    // anywhere, and the middle of the shape serves all.
    origins_.push_back(natural_origin(solid.shape));
    const Aabb box = bounds(solid.shape);
    const bool endless = solid.inside_out || !box.is_bounded();
    const double half_diagonal = 0.5 * length(box.extent());
    // A little more than it is, for single precision.
    reaches_.push_back(static_cast<float>(endless ? Aabb::kEndless : 1.0001 * half_diagonal));
    first_node_.push_back(all.size());
    const SdfProgram program = compile(solid.shape, origins_.back(), mesh_voxel_);
    const SdfOp op = program.begin()->op;
    convex_.push_back(program.nodes.size() == 1 && op != SdfOp::torus && op != SdfOp::mesh);
    all.insert(all.end(), program.begin(), program.end());
    fields.insert(fields.end(), program.fields.begin(), program.fields.end());
  }
  first_node_.push_back(all.size());
  upload_fields(fields, device, all);
  nodes_.upload(all);
}

// Copies the baked meshes to the device, each once, and points the nodes to the copies.
void SolidSet::upload_fields(const std::vector<std::shared_ptr<const MeshField>>& fields,
                             Device& device, std::vector<SdfNode>& nodes) {
  std::vector<MeshFieldView> views;
  std::vector<const MeshFieldView*> known;
  for (const auto& field : fields) {
    if (std::find(known.begin(), known.end(), &field->view()) != known.end()) continue;
    known.push_back(&field->view());
    DeviceField& copy = fields_.emplace_back(device);
    copy.tiles.upload(field->tiles());
    copy.nodes.upload(field->nodes());
    copy.corners.upload(field->corners());
    views.push_back(field->view());
    views.back().tiles = copy.tiles.data();
    views.back().nodes = copy.nodes.data();
    views.back().corners = copy.corners.data();
  }
  field_views_.upload(views);
  for (SdfNode& node : nodes) {
    if (node.op != SdfOp::mesh) continue;
    node.field =
        field_views_.data() + (std::find(known.begin(), known.end(), node.field) - known.begin());
  }
}

int SolidSet::find(const std::string& name) const {
  for (int i = 0; i < count(); ++i) {
    if ((*this)[i].name == name) return i;
  }
  return -1;
}

void SolidSet::set_dynamic(int solid, double t0, const Pose& from, double t1, const Pose& to) {
  if ((*this)[solid].drive != SolidDrive::dynamic) {
    fail("solid '{}' is not dynamic and cannot be moved from outside", (*this)[solid].name);
  }
  dynamics_[static_cast<std::size_t>(solid)] = {t0, t1, from, to};
}

Pose SolidSet::pose(int solid, double time) const {
  const Solid& s = (*this)[solid];
  if (s.drive == SolidDrive::keyframes) return s.motion.at(time);
  if (s.drive == SolidDrive::fixed) return {};
  const Dynamic& d = dynamics_[static_cast<std::size_t>(solid)];
  if (time <= d.t0) return d.from;
  if (time >= d.t1) return d.to;
  const double share = (time - d.t0) / (d.t1 - d.t0);
  return {d.from.position + share * (d.to.position - d.from.position),
          slerp(d.from.orientation, d.to.orientation, share)};
}

void SolidSet::velocity(int solid, double time, Vec3d& linear, Vec3d& angular) const {
  const Solid& s = (*this)[solid];
  linear = angular = Vec3d();
  if (s.drive == SolidDrive::keyframes) s.motion.velocity(time, linear, angular);
  const Dynamic& d = dynamics_[static_cast<std::size_t>(solid)];
  if (s.drive == SolidDrive::dynamic && d.t1 > d.t0) {
    linear = (d.to.position - d.from.position) / (d.t1 - d.t0);
    angular = barchan::angular_velocity(d.from.orientation, d.to.orientation, d.t1 - d.t0);
  }
}

SolidView SolidSet::view_of(int index, double t0, double t1) const {
  const auto i = static_cast<std::size_t>(index);
  const Solid& solid = solids_[i];
  SolidView view;
  view.begin = nodes_.data() + first_node_[i];
  view.end = nodes_.data() + first_node_[i + 1];
  view.sign = solid.inside_out ? -1.0f : 1.0f;
  view.friction = static_cast<float>(solid.friction);
  view.restitution = static_cast<float>(solid.restitution);
  view.reach = reaches_[i];
  view.dynamic = solid.drive == SolidDrive::dynamic;
  view.hollow = solid.inside_out && convex_[i];

  // Where the frame is when the step starts and ends; its origin is the middle of the shape.
  const Pose start = pose(index, t0);
  Pose end = pose(index, t1);
  if (dot(start.orientation, end.orientation) < 0.0) end.orientation = -end.orientation;
  const Vec3d from = start.to_world(origins_[i]), to = end.to_world(origins_[i]);
  const Vec3d turn = rotation_vector(start.orientation, end.orientation);
  split(from, view.start_position, view.start_low);
  split(to, view.end_position, view.end_low);
  view.travel = Vec3(to - from);
  view.start_orientation = Quat(start.orientation);
  view.end_orientation = Quat(end.orientation);
  view.moves = !(start == end);
  view.turned = !(start.orientation == Quatd::identity() && end.orientation == Quatd::identity());

  // Velocities: means over the step, or those of the moment where the step has no length.
  const double dt = t1 - t0;
  Vec3d linear, angular;
  velocity(index, t0, linear, angular);
  linear += cross(angular, from - start.position);
  view.velocity = Vec3(dt > 0.0 ? (to - from) / dt : linear);
  view.angular_velocity = Vec3(dt > 0.0 ? turn / dt : angular);
  view.turn = Vec3(turn);

  // Between unit quaternions an angle a apart (half the turn), normalising the straight line gives
  // the angle atan((2s - 1) T) from the middle, T = tan(a/2). The turn is twice that:
  //   omega = 4T / (1 + (2s-1)^2 T^2) <= 4T,   |d omega/ds| <= 16 T^3.
  const double tangent = std::tan(0.25 * length(turn));
  view.turn_rate = static_cast<float>(4.0 * tangent);
  view.turn_acceleration =
      static_cast<float>(16.0 * tangent * tangent + 16.0 * tangent * tangent * tangent);
  return view;
}

SolidsView SolidSet::moving(double t0, double t1) {
  if (!uploaded_ || !all_still_) {
    std::vector<SolidView> views;
    for (int i = 0; i < count(); ++i) views.push_back(view_of(i, t0, t1));
    views_.upload(views);
    uploaded_ = true;
  }
  return {views_.data(), count(), some_dynamic_};
}

bool SolidSet::buried(int solid, const Vec3d& world, double time, double margin) const {
  const Solid& s = (*this)[solid];
  const Vec3d local = pose(solid, time).to_local(world);
  return s.inside_out ? farther_than(s.shape, local, margin) : deeper_than(s.shape, local, margin);
}

}  // namespace barchan
