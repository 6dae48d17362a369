#include "geometry/sdf.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "base/error.h"
#include "geometry/solid_mesh.h"

namespace barchan {

namespace {

// A part of the program and how many distances are alive at its worst moment.
struct Part {
  std::vector<SdfNode> nodes;
  int stack = 1;
};

void append(std::vector<SdfNode>& to, const std::vector<SdfNode>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

SdfNode operation(SdfOp op, double number = 0.0) {
  SdfNode node;
  node.op = op;
  node.half.x = static_cast<float>(number);
  return node;
}

void set_center(SdfNode& node, const Vec3d& center) {
  node.center = Vec3(center);
  node.center_low = Vec3(center - Vec3d(node.center));
}

void set_axis(SdfNode& node, const Vec3d& direction) {
  const Vec3 u(normalized(direction));
  node.turn = Quat(0.0f, u);
}

bool is_identity(const Quatd& q) {
  return std::abs(q.x) + std::abs(q.y) + std::abs(q.z) < 1e-14;
}

SdfNode round_node(const Shape& s, const Pose& frame, SdfOp op) {
  SdfNode node = operation(op);
  const Vec3d along = s.to - s.from;
  const double end = 0.5 * length(along);
  set_center(node, frame.to_world(0.5 * (s.from + s.to)));
  set_axis(node, rotate(frame.orientation, along));
  node.half = Vec3(Vec3d(end, s.radius, s.radius_to));
  const double slant = std::hypot(2.0 * end, s.radius - s.radius_to);
  node.side[0] = static_cast<float>(2.0 * end / slant);
  node.side[1] = static_cast<float>((s.radius - s.radius_to) / slant);
  return node;
}

SdfNode leaf_node(const Shape& s, const Pose& frame) {
  using Kind = Shape::Kind;
  SdfNode node = operation(SdfOp::sphere, s.radius);
  switch (s.kind) {
    case Kind::cylinder:
      return round_node(s, frame, SdfOp::cylinder);
    case Kind::capsule:
      return round_node(s, frame, SdfOp::capsule);
    case Kind::cone:
      return round_node(s, frame, SdfOp::cone);
    case Kind::box:
      node.op = is_identity(frame.orientation) ? SdfOp::box : SdfOp::turned_box;
      node.turn = Quat(frame.orientation);
      node.half = Vec3(0.5 * (s.hi - s.lo));
      set_center(node, frame.to_world(0.5 * (s.lo + s.hi)));
      return node;
    case Kind::torus:
      node.op = SdfOp::torus;
      node.half.y = static_cast<float>(s.minor_radius);
      set_axis(node, rotate(frame.orientation, s.axis));
      break;
    case Kind::plane:
      node.op = SdfOp::plane;
      set_axis(node, rotate(frame.orientation, s.normal));
      set_center(node, frame.to_world(s.point));
      return node;
    default:
      break;
  }
  set_center(node, frame.to_world(s.center));
  return node;
}

// a op b op c ... as "a b op c op": the stack holds the result so far while the next part runs.
// Parts that need the deepest stack go first, so that they find it empty; equal parts add one level
// in all, however many they are (Sethi & Ullman 1970, for registers).
Part fold(std::vector<Part> parts, SdfOp op) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.stack > b.stack; });
  Part all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    append(all.nodes, parts[i].nodes);
    all.nodes.push_back(operation(op));
    all.stack = std::max(all.stack, parts[i].stack + 1);
  }
  return all;
}

Part subtract(Part a, Part b) {
  const bool a_first = a.stack >= b.stack;
  Part all = a_first ? std::move(a) : std::move(b);
  const Part& second = a_first ? b : a;
  append(all.nodes, second.nodes);
  all.nodes.push_back(operation(a_first ? SdfOp::subtract : SdfOp::subtracted));
  all.stack = std::max(all.stack, second.stack + 1);
  return all;
}

// Turns a tree of shapes into nodes.
class Translator {
 public:
  Translator(double mesh_voxel, SdfProgram& program) : mesh_voxel_(mesh_voxel), program_(program) {}

  // Placements go down to the primitives: distances do not change when a whole tree is moved.
  // `offset` is how far the surfaces around are moved, in all [m].
  Part translate(const Shape& s, const Pose& outer, double offset = 0.0) {
    using Kind = Shape::Kind;
    const Pose frame = compose(outer, s.placement);
    if (s.kind == Kind::mesh) return {{mesh_node(*s.mesh, frame, offset)}, 1};
    if (s.kind < Kind::shape_union) return {{leaf_node(s, frame)}, 1};

    std::vector<Part> parts;
    const double below = s.kind == Kind::offset ? offset + std::abs(s.by) : offset;
    for (const Shape& part : s.children) parts.push_back(translate(part, frame, below));
    switch (s.kind) {
      case Kind::shape_union:
        return fold(std::move(parts), SdfOp::unite);
      case Kind::intersection:
        return fold(std::move(parts), SdfOp::intersect);
      case Kind::offset:
        parts.front().nodes.push_back(operation(SdfOp::offset, s.by));
        return std::move(parts.front());
      default:
        break;
    }
    Part first = std::move(parts.front());
    parts.erase(parts.begin());
    return subtract(std::move(first), fold(std::move(parts), SdfOp::unite));
  }

 private:
  SdfNode mesh_node(const SolidMesh& mesh, const Pose& frame, double offset) {
    const Vec3d size = mesh.box().extent();
    const double voxel =
        mesh_voxel_ > 0.0 ? mesh_voxel_ : 0.01 * std::max({size.x, size.y, size.z});
    // An offset's surface must be within the band, and so must be what is near to it.
    const double band = offset + kBandVoxels * voxel;
    const std::shared_ptr<const MeshField> field = mesh.field(voxel, band);
    program_.fields.push_back(field);
    SdfNode node = operation(SdfOp::mesh);
    node.field = &field->view();
    node.turn = Quat(frame.orientation);
    set_center(node, frame.to_world(field->origin()));
    return node;
  }

  double mesh_voxel_;  // [m]
  SdfProgram& program_;
};

}  // namespace

SdfProgram compile(const Shape& shape, const Vec3d& origin, double mesh_voxel) {
  const std::string fault = describe_fault(shape);
  if (!fault.empty()) reject("{}", fault);
  SdfProgram program;
  Part all = Translator(mesh_voxel, program).translate(shape, Pose{-origin, Quatd::identity()});
  if (all.stack > kSdfStack) {
    reject(
        "the shape is nested too deeply: it needs {} distances at once and there is room for {}; "
        "write unions of unions as one union",
        all.stack, kSdfStack);
  }
  program.nodes = std::move(all.nodes);
  return program;
}

Vec3d natural_origin(const Shape& shape) {
  if (shape.kind == Shape::Kind::plane) return shape.placement.to_world(shape.point);
  const Aabb box = bounds(shape);
  return box.is_bounded() && !box.is_empty() ? box.center() : Vec3d();
}

}  // namespace barchan
