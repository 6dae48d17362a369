#include "render/solid_models.h"

#include <algorithm>
#include <cmath>

#include "geometry/polygonise.h"
#include "geometry/shape_mesh.h"
#include "geometry/solid_mesh.h"
#include "math/scalar.h"
#include "render/color_map.h"
#include "render/film.h"
#include "render/optics.h"
#include "render/overlay.h"

namespace barchan {

namespace {

constexpr double kCells = 72.0;          // of a body along its longest side
constexpr float kCreaseCosine = 0.766f;  // 40 degrees
constexpr double kRodRadius = 0.0014;    // share of the view's distance
constexpr int kRimParts = 96;            // straight parts of a rim
constexpr double kTiles = 9.0;           // about so many over the view's distance
constexpr double kFade = 2.2;            // the ground fades beyond so many of the view's distances

// Shares of the spacing: the water's surface is laid onto a wall where it is nearer than kTouching,
// and left alone beyond kClear.
constexpr float kTouching = 0.8f, kClear = 1.5f;
constexpr float kIntoSolids = 0.5f, kBeforeGlass = 0.05f;

const Vec3 kGroundColor(0.32f, 0.318f, 0.312f);
const Vec3 kStoneColor = linear_color(0xb9b4ab);
const Vec3 kRodColor = linear_color(0xe4e6e6);
// Wood, brick, ochre, moss, slate, clay: what is moved by the material
constexpr unsigned kBodyColors[] = {0xc98b4e, 0xb5523b, 0xd9a93f, 0x7d9260, 0x5f7d95, 0xc9a386};

TraceMesh about(const Mesh& mesh, const Vec3d& middle) {
  TraceMesh out;
  for (const Vec3d& v : mesh.vertices) out.vertices.emplace_back(v - middle);
  out.triangles = mesh.triangles;
  return out;
}

// Composed shapes keep their edges, which shape_mesh() rounds off.
TraceMesh mesh_of(const Shape& shape, const Vec3d& middle, const SdfProgram& program) {
  if (shape.children.empty()) return about(shape_mesh(shape), middle);
  const Aabb box = bounds(shape);
  const Vec3d extent = box.extent();
  const double cell = std::max({extent.x, extent.y, extent.z}) / kCells;
  const auto field = [&](const Vec3d& p) {
    return static_cast<double>(distance_only(program.begin(), program.end(), Vec3(p - middle)));
  };
  // A little aside: lattice points on a flat face have no side
  return about(polygonise(field, box.grown(0.37 * cell), cell), middle);
}

Vec3 triangle_normal(const TraceMesh& mesh, const Triangle& t) {
  const Vec3 a = mesh.vertices[t[0]];
  return cross(mesh.vertices[t[1]] - a, mesh.vertices[t[2]] - a);  // length: twice the area
}

// The triangles that `wanted` says, by their unit normals.
template <class Wanted>
TraceMesh part_of(const TraceMesh& mesh, const Wanted& wanted) {
  TraceMesh part;
  part.vertices = mesh.vertices;
  for (const Triangle& t : mesh.triangles) {
    if (wanted(normalized(triangle_normal(mesh, t)))) part.triangles.push_back(t);
  }
  return part;
}

void rim(const Vec3d& center, const Vec3d& axis, double radius,
         std::vector<std::pair<Vec3d, Vec3d>>& edges) {
  const Vec3d a = normalized(Vec3d(sdf::across(Vec3(axis)))), b = cross(axis, a);
  const auto point = [&](int k) {
    const double angle = 2.0 * std::acos(-1.0) * k / kRimParts;
    return center + radius * (std::cos(angle) * a + std::sin(angle) * b);
  };
  for (int k = 0; k < kRimParts; ++k) edges.emplace_back(point(k), point(k + 1));
}

// The lines that outline a container, in the shape's own frame; none for shapes without sharp edges
// and for composed ones.
std::vector<std::pair<Vec3d, Vec3d>> outline(const Shape& shape) {
  std::vector<std::pair<Vec3d, Vec3d>> edges;
  const auto corner = [&](int i) {
    return Vec3d((i & 1) ? shape.hi.x : shape.lo.x, (i & 2) ? shape.hi.y : shape.lo.y,
                 (i & 4) ? shape.hi.z : shape.lo.z);
  };
  const Vec3d axis = normalized(shape.to - shape.from, Vec3d(0, 1, 0));
  if (shape.kind == Shape::Kind::box) {
    for (int i = 0; i < 8; ++i) {
      for (int bit = 1; bit < 8; bit *= 2) {
        if (!(i & bit)) edges.emplace_back(corner(i), corner(i | bit));
      }
    }
  } else if (shape.kind == Shape::Kind::cylinder || shape.kind == Shape::Kind::cone) {
    const double end = shape.kind == Shape::Kind::cone ? shape.radius_to : shape.radius;
    rim(shape.from, axis, shape.radius, edges);
    if (end > 0.0) rim(shape.to, axis, end, edges);
  }
  for (auto& [a, b] : edges) {
    a = shape.placement.to_world(a);
    b = shape.placement.to_world(b);
  }
  return edges;
}

// A rod with six sides, without ends.
void add_rod(const Vec3& a, const Vec3& b, float radius, TraceMesh& mesh) {
  const Vec3 axis = normalized(b - a), side = sdf::across(axis), other = cross(axis, side);
  const auto first = static_cast<std::uint32_t>(mesh.vertices.size());
  for (std::uint32_t k = 0; k < 6; ++k) {
    const float angle = static_cast<float>(k) * kPiF / 3.0f;
    const Vec3 out = std::cos(angle) * side + std::sin(angle) * other;
    for (const Vec3& end : {a, b}) {
      mesh.vertices.push_back(end + radius * out);
      mesh.normals.push_back(out);
    }
    const std::uint32_t p = first + 2 * k, q = first + 2 * ((k + 1) % 6);
    mesh.triangles.push_back({p, q, q + 1});
    mesh.triangles.push_back({p, q + 1, p + 1});
  }
}

bool has_flat_ends(const Shape& shape) {
  return shape.kind == Shape::Kind::box || shape.kind == Shape::Kind::cylinder ||
         shape.kind == Shape::Kind::cone;
}

}  // namespace

std::vector<Vec3> corner_normals(const TraceMesh& mesh) {
  std::vector<Vec3> faces;
  std::vector<std::vector<std::uint32_t>> around(mesh.vertices.size());
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    faces.push_back(triangle_normal(mesh, mesh.triangles[t]));
    for (const std::uint32_t v : mesh.triangles[t]) around[v].push_back(t);
  }
  std::vector<Vec3> normals;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Vec3 own = normalized(faces[t]);
    for (const std::uint32_t v : mesh.triangles[t]) {
      Vec3 sum = faces[t];
      for (const std::uint32_t other : around[v]) {
        if (other != t && dot(normalized(faces[other]), own) > kCreaseCosine) sum += faces[other];
      }
      normals.push_back(normalized(sum, own));
    }
  }
  return normals;
}

SolidModels::SolidModels(const SolidSet& solids, const StageView& view) : view_(view) {
  for (int i = 0; i < solids.count(); ++i) {
    models_.push_back(make_model(solids[i], i, solids.mesh_voxel()));
  }
}

SolidModels::Model SolidModels::make_model(const Solid& solid, int number,
                                           double mesh_voxel) const {
  Model model;
  model.middle = natural_origin(solid.shape);
  model.program = compile(solid.shape, model.middle, mesh_voxel);
  model.finish.roughness = 0.3f;
  model.finish.color = solid.drive == SolidDrive::dynamic
                           ? linear_color(kBodyColors[number % std::size(kBodyColors)])
                           : kStoneColor;
  if (solid.shape.kind == Shape::Kind::plane && !solid.inside_out) {
    model.kind = Model::Kind::plane;
  } else if (!bounds(solid.shape).is_bounded()) {
    model.kind = Model::Kind::unseen;
  } else if (solid.inside_out) {
    make_container(solid, model);
  } else if (solid.shape.kind == Shape::Kind::sphere) {
    model.kind = Model::Kind::ball;
    model.radius = solid.shape.radius;
  } else {
    model.kind = Model::Kind::mesh;
    model.mesh = mesh_of(solid.shape, model.middle, model.program);
    model.mesh.normals = corner_normals(model.mesh);
  }
  return model;
}

void SolidModels::make_container(const Solid& solid, Model& model) const {
  model.kind = Model::Kind::container;
  model.finish.color = kGroundColor;
  const TraceMesh walls = mesh_of(solid.shape, model.middle, model.program);
  if (has_flat_ends(solid.shape)) {
    // A vessel on a table: open above, and with a bottom that one does not see through
    const Vec3 up(view_.up);
    model.mesh = part_of(walls, [&](const Vec3& n) { return std::fabs(dot(n, up)) < 0.9f; });
    model.bottom = part_of(walls, [&](const Vec3& n) { return dot(n, up) < -0.9f; });
  } else {
    model.mesh = walls;
  }
  model.mesh.normals = corner_normals(model.mesh);
  for (const auto& [a, b] : outline(solid.shape)) {
    add_rod(Vec3(a - model.middle), Vec3(b - model.middle),
            static_cast<float>(kRodRadius * view_.distance), model.edges);
  }
  if (solid.shape.kind != Shape::Kind::box) return;
  const Vec3d half = 0.5 * (solid.shape.hi - solid.shape.lo);
  for (int axis = 0; axis < 3; ++axis) {
    for (const double side : {-1.0, 1.0}) {
      Vec3d inward;
      inward[axis] = -side;
      Ground face;
      face.normal = Vec3(rotate(solid.shape.placement.orientation, inward));
      face.level = static_cast<float>(-half[axis]);
      model.faces.push_back(face);
    }
  }
}

Ground SolidModels::ground_at(const Vec3d& point, const Vec3d& normal) const {
  Ground ground;
  ground.normal = Vec3(normal);
  ground.level = static_cast<float>(dot(point - view_.origin, normal));
  ground.color = kGroundColor;
  // Tiles lie along the scene's axes, in double precision: far from the origin floats lack digits
  const double tile = nice_step(2.5 * view_.distance / kTiles);
  ground.tile = static_cast<float>(tile);
  ground.axis[0] = sdf::across(ground.normal);
  ground.axis[1] = cross(ground.normal, ground.axis[0]);
  for (int k = 0; k < 2; ++k) {
    ground.start[k] =
        static_cast<float>(std::remainder(dot(view_.origin, Vec3d(ground.axis[k])), tile));
  }
  ground.fade = static_cast<float>(kFade * view_.distance);
  return ground;
}

// Planes that face the eye, and a ground if none of them is a floor; returns whether one is.
bool SolidModels::place_grounds(const SolidSet& solids, double time, const Vec3d& eye,
                                TraceScene& scene) const {
  bool has_floor = false;
  for (int i = 0; i < solids.count(); ++i) {
    if (models_[static_cast<std::size_t>(i)].kind != Model::Kind::plane) continue;
    const Shape& shape = solids[i].shape;
    const Pose pose = compose(solids.pose(i, time), shape.placement);
    const Vec3d point = pose.to_world(shape.point);
    const Vec3d normal = rotate(pose.orientation, normalized(shape.normal, view_.up));
    if (dot(eye - point, normal) > 0.0) scene.grounds.push_back(ground_at(point, normal));
    has_floor = has_floor || dot(normal, view_.up) > 0.5;
  }
  if (!has_floor) scene.grounds.push_back(ground_at(view_.floor * view_.up, view_.up));
  return has_floor;
}

void SolidModels::place(const SolidSet& solids, double time, const Vec3d& eye,
                        TraceScene& scene) const {
  const bool has_floor = place_grounds(solids, time, eye, scene);
  const double floor = view_.floor - dot(view_.origin, view_.up);
  for (int i = 0; i < solids.count(); ++i) {
    const Model& model = models_[static_cast<std::size_t>(i)];
    const Pose pose = solids.pose(i, time);
    const Vec3 at(pose.to_world(model.middle) - view_.origin);
    const Quat turn(pose.orientation);
    const auto placed = [&](TraceMesh mesh) {
      for (Vec3& v : mesh.vertices) v = at + rotate(turn, v);
      for (Vec3& n : mesh.normals) n = rotate(turn, n);
      return mesh;
    };
    if (model.kind == Model::Kind::ball) {
      const Ball ball{at, static_cast<float>(model.radius)};
      scene.add_solid(scene.solid.add_balls({&ball, 1}), model.finish);
    } else if (model.kind == Model::Kind::mesh) {
      scene.add_solid(scene.solid.add_mesh(placed(model.mesh)), model.finish);
    }
    if (model.kind != Model::Kind::container) continue;
    if (!model.mesh.triangles.empty()) scene.panes.add_mesh(placed(model.mesh));
    if (!model.edges.triangles.empty()) {
      Finish finish;
      finish.color = kRodColor;
      scene.add_solid(scene.solid.add_mesh(placed(model.edges)), finish);
    }
    if (model.bottom.triangles.empty()) continue;
    // A bottom that stands on the ground laid for it is that ground
    const TraceMesh bottom = placed(model.bottom);
    const Vec3d corner(bottom.vertices[bottom.triangles[0][0]]);
    const bool on_ground = dot(corner, view_.up) < floor + 1e-3 * view_.distance;
    if (!on_ground || has_floor) scene.add_solid(scene.solid.add_mesh(bottom), model.finish);
  }
}

void SolidModels::wet(const SolidSet& solids, double time, double spacing, const ThreadPool& pool,
                      TraceMesh& water) const {
  const auto h = static_cast<float>(spacing);
  const Vec3 up(view_.up);
  // Moves a vertex along the wall's normal g, being d [m] before it and facing `out`
  const auto lay = [&](Vec3& vertex, Vec3& normal, const Vec3& out, const Vec3& g, float d,
                       bool glass) {
    const float facing = clamp((-dot(out, g) + 0.1f) / 0.6f, 0.0f, 1.0f);
    if (facing <= 0.0f || d > kClear * h || d < -2.0f * h) return;
    const float goal = (glass && dot(g, up) < 0.5f ? kBeforeGlass : -kIntoSolids) * h;
    const float loose = clamp((d - kTouching * h) / ((kClear - kTouching) * h), 0.0f, 1.0f);
    const float share = facing * (1.0f - loose);
    vertex += share * (goal - d) * g;
    normal = normalized(normal + share * (-g - normal), -g);
  };
  for (int i = 0; i < solids.count(); ++i) {
    const Model& model = models_[static_cast<std::size_t>(i)];
    const Pose pose = solids.pose(i, time);
    const Vec3 at(pose.to_world(model.middle) - view_.origin);
    const Quat turn(pose.orientation);
    const bool glass = model.kind == Model::Kind::container;
    const float sign = solids[i].inside_out ? -1.0f : 1.0f;
    for_rows(pool, static_cast<int>((water.vertices.size() + 1023) / 1024), [&](int block) {
      const std::size_t begin = static_cast<std::size_t>(block) * 1024;
      const std::size_t end = std::min(begin + 1024, water.vertices.size());
      for (std::size_t v = begin; v < end; ++v) {
        const Vec3 local = inverse_rotate(turn, water.vertices[v] - at), out = water.normals[v];
        if (model.faces.empty()) {
          const Distance d = distance(model.program.begin(), model.program.end(), local);
          lay(water.vertices[v], water.normals[v], out, rotate(turn, sign * d.gradient), sign * d.d,
              glass);
        }
        for (const Ground& face : model.faces) {  // each by itself, so that corners are filled
          lay(water.vertices[v], water.normals[v], out, rotate(turn, face.normal),
              dot(face.normal, local) - face.level, glass);
        }
      }
    });
  }
}

}  // namespace barchan
