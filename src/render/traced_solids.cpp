#include "render/traced_solids.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace barchan {

namespace {

constexpr int kMostSteps = 160;
constexpr int kMostShadowSteps = 48;
constexpr float kShadowSharpness = 14.0f;  // 1 / the tangent of the light's half angle, about
constexpr double kReach = 60.0;            // rays end at this many distances of the target
constexpr int kRimParts = 72;              // straight parts of a cylinder's rim

using Edges = std::vector<std::pair<Vec3d, Vec3d>>;

void box_edges(const Shape& shape, Edges& edges) {
  const auto corner = [&](int i) {
    return Vec3d((i & 1) ? shape.hi.x : shape.lo.x, (i & 2) ? shape.hi.y : shape.lo.y,
                 (i & 4) ? shape.hi.z : shape.lo.z);
  };
  for (int i = 0; i < 8; ++i) {
    for (int bit = 1; bit < 8; bit *= 2) {
      if (!(i & bit)) edges.emplace_back(corner(i), corner(i | bit));
    }
  }
}

void rim(const Vec3d& center, const Vec3d& axis, double radius, Edges& edges) {
  const Vec3 side = sdf::across(Vec3(axis));
  const Vec3d a = normalized(Vec3d(side)), b = cross(axis, a);
  const auto point = [&](int k) {
    const double angle = 2.0 * std::acos(-1.0) * k / kRimParts;
    return center + radius * (std::cos(angle) * a + std::sin(angle) * b);
  };
  for (int k = 0; k < kRimParts; ++k) edges.emplace_back(point(k), point(k + 1));
}

// The lines that outline a container, in the shape's own frame; none for shapes without sharp
// edges and for composed ones.
Edges outline(const Shape& shape) {
  Edges edges;
  const Vec3d axis = normalized(shape.to - shape.from, Vec3d(0, 1, 0));
  if (shape.kind == Shape::Kind::box) box_edges(shape, edges);
  if (shape.kind == Shape::Kind::cylinder) {
    rim(shape.from, axis, shape.radius, edges);
    rim(shape.to, axis, shape.radius, edges);
  }
  if (shape.kind == Shape::Kind::cone) {
    rim(shape.from, axis, shape.radius, edges);
    if (shape.radius_to > 0.0) rim(shape.to, axis, shape.radius_to, edges);
  }
  for (auto& [a, b] : edges) {
    a = shape.placement.to_world(a);
    b = shape.placement.to_world(b);
  }
  return edges;
}

float value(const TracedSolid& solid, const Vec3& local) {
  return distance_only(solid.program.begin(), solid.program.end(), local);
}

TracedSolid place(const Solid& solid, const Pose& pose, const Vec3d& eye, double mesh_voxel) {
  TracedSolid traced;
  const Vec3d middle = natural_origin(solid.shape);
  traced.program = compile(solid.shape, middle, mesh_voxel);
  traced.sign = solid.inside_out ? -1.0f : 1.0f;
  traced.origin = Vec3(pose.to_world(middle) - eye);
  traced.orientation = Quat(pose.orientation);
  const Aabb box = bounds(solid.shape);
  const double slack = 1e-4 * (box.is_bounded() ? length(box.extent()) : 1.0);
  traced.box_lo = Vec3(box.lo - middle - Vec3d(slack, slack, slack));
  traced.box_hi = Vec3(box.hi - middle + Vec3d(slack, slack, slack));
  traced.eye = inverse_rotate(traced.orientation, -traced.origin);

  const bool plane = traced.program.nodes.size() == 1 && traced.program.nodes[0].op == SdfOp::plane;
  if (plane) {
    traced.look = SolidLook::plane;
  } else if (solid.inside_out) {
    traced.look = SolidLook::container;
    for (const auto& [a, b] : outline(solid.shape)) {
      traced.edges.emplace_back(Vec3(pose.to_world(a) - eye), Vec3(pose.to_world(b) - eye));
    }
  }
  if (traced.look != SolidLook::container && traced.sign * value(traced, traced.eye) <= 0.0f) {
    traced.look = SolidLook::unseen;
  }
  return traced;
}

}  // namespace

TracedSolids::TracedSolids(const SolidSet* set, double time, const Projection& view)
    : right_(view.right), up_(view.up), forward_(view.forward) {
  for (int i = 0; set != nullptr && i < set->count(); ++i) {
    solids_.push_back(place((*set)[i], set->pose(i, time), view.eye, set->mesh_voxel()));
  }
  precision_ = static_cast<float>(0.2 / view.focal);
  // Far enough for the ground to fade out and for any bounded solid.
  double farthest = 0.0;
  for (const TracedSolid& solid : solids_) {
    const float size = length(solid.box_hi - solid.box_lo);
    const float away = length(solid.origin) + (std::isfinite(size) ? size : 0.0f);
    farthest = std::max(farthest, static_cast<double>(away));
  }
  reach_ = static_cast<float>(kReach * std::max(farthest, 1e-3));
}

// The part [t0, t1] of from + t way in the solid's box; false if it passes by.
bool TracedSolids::enter(const TracedSolid& solid, const Vec3& from, const Vec3& way, float& t0,
                         float& t1) const {
  for (int axis = 0; axis < 3; ++axis) {
    const float lo = solid.box_lo[axis] - from[axis], hi = solid.box_hi[axis] - from[axis];
    if (way[axis] == 0.0f) {
      if (lo > 0.0f || hi < 0.0f) return false;
      continue;
    }
    const float a = lo / way[axis], b = hi / way[axis];
    t0 = std::max(t0, std::min(a, b));
    t1 = std::min(t1, std::max(a, b));
  }
  return t0 <= t1;
}

// Sphere tracing (Hart 1996) of the shape's outside: where from + t way first meets the surface
// going from t0 to t1, in either direction; not-a-number if it does not, or begins inside.
float TracedSolids::march(const TracedSolid& solid, const Vec3& from, const Vec3& way, float t0,
                          float t1) const {
  const float pace = (t1 < t0 ? -1.0f : 1.0f) / length(way), none = std::nanf("");
  float t = t0;
  for (int step = 0; step < kMostSteps; ++step) {
    const float d = value(solid, from + t * way);
    const float close = precision_ * std::max(std::fabs(t), 1e-6f);
    // Beginning well inside, there is no outside to come from.
    if (step == 0 && d < -10.0f * close) return none;
    if (d < close) return t;
    t += pace * d;
    if ((t - t1) * pace > 0.0f) return none;
  }
  return none;
}

SolidHit TracedSolids::trace_front(float u, float v, float limit) const {
  SolidHit hit;
  const Vec3 way = forward_ + u * right_ + v * up_;
  float nearest = std::min(limit, reach_);
  for (std::size_t i = 0; i < solids_.size(); ++i) {
    const TracedSolid& solid = solids_[i];
    if (solid.look != SolidLook::body && solid.look != SolidLook::plane) continue;
    const Vec3 local = inverse_rotate(solid.orientation, way);
    float t0 = 0.0f, t1 = nearest;
    if (solid.look == SolidLook::plane) {
      // d falls steadily along the ray: one division instead of many ever smaller steps.
      const float slope = dot(solid.program.nodes[0].axis(), local);
      t0 = slope != 0.0f ? -value(solid, solid.eye) / slope : -1.0f;
      if (!(t0 > 0.0f && t0 < nearest)) continue;
    } else {
      if (!enter(solid, solid.eye, local, t0, t1)) continue;
      t0 = march(solid, solid.eye, local, t0, t1);
      if (!(t0 < nearest)) continue;
    }
    nearest = t0;
    hit = {static_cast<int>(i), t0};
  }
  return hit;
}

SolidHit TracedSolids::trace_back(float u, float v) const {
  SolidHit hit;
  const Vec3 way = forward_ + u * right_ + v * up_;
  for (std::size_t i = 0; i < solids_.size(); ++i) {
    const TracedSolid& solid = solids_[i];
    if (solid.look != SolidLook::container) continue;
    const Vec3 local = inverse_rotate(solid.orientation, way);
    float t0 = 0.0f, t1 = reach_;
    if (!enter(solid, solid.eye, local, t0, t1)) continue;
    // From behind: the first surface met is the last one that the view leaves.
    const float t = march(solid, solid.eye, local, t1, t0);
    if (t > hit.depth) hit = {static_cast<int>(i), t};
  }
  return hit;
}

Vec3 TracedSolids::normal(int index, const Vec3& arm) const {
  const TracedSolid& solid = solids_[static_cast<std::size_t>(index)];
  const Vec3 local = inverse_rotate(solid.orientation, arm - solid.origin);
  const Distance at = distance(solid.program.begin(), solid.program.end(), local);
  return solid.sign * rotate(solid.orientation, at.gradient);
}

float TracedSolids::lit(const Vec3& arm, const Vec3& to_light, float bias) const {
  float lit = 1.0f;
  for (const TracedSolid& solid : solids_) {
    if (solid.look != SolidLook::body) continue;
    const Vec3 from = inverse_rotate(solid.orientation, arm - solid.origin);
    const Vec3 way = inverse_rotate(solid.orientation, to_light);
    float t0 = bias, t1 = reach_;
    if (!enter(solid, from, way, t0, t1)) continue;
    // The narrowest gap, as an angle seen from the point, tells how much of the light is covered.
    float t = t0;
    for (int step = 0; step < kMostShadowSteps && t <= t1; ++step) {
      const float d = value(solid, from + t * way);
      lit = std::min(lit, kShadowSharpness * d / t);
      if (lit <= 0.0f) return 0.0f;
      t += std::max(d, bias);
    }
  }
  return lit;
}

}  // namespace barchan
