// Signed distance with its gradient, for both devices. compile() turns a shape into a postfix
// program of nodes; distance() runs it on a small stack. Negative inside.
//
// Primitives are exact, inside and outside. Unions, intersections, differences and offsets are
// minima, maxima and sums of their parts': never farther than the truth, and never changing faster
// than the point moves, which is what sphere tracing (sweep.h) and push_out rest on. Meshes are
// baked: mesh_field.h says how near to the truth they are.
//
// Precision: positions are floats, so every primitive keeps its centre as a pair of floats (their
// sum is the double to about 48 bits) and its sizes relative to that centre. The only rounding left
// is that of the point itself: a shape of millimetres a kilometre from the origin keeps its form.
// compile(shape, origin) also moves the whole program near to 0; solids use that (solid.h).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/hd.h"
#include "geometry/distance.h"
#include "geometry/mesh_field.h"
#include "geometry/shape.h"
#include "math/quat.h"
#include "math/scalar.h"
#include "math/vec3.h"

namespace barchan {

enum class SdfOp : std::int32_t {
  // Leaves push a distance.
  box,         // half = half edges, along the axes
  turned_box,  // the same, turned
  sphere,      // half.x = radius
  plane,       // axis = outward normal
  cylinder,    // axis, half.x = half length, half.y = radius
  capsule,     // as cylinder
  cone,        // axis, half = half length, radius at the axis' start and end; side = side's normal
  torus,       // axis, half.x = ring radius, half.y = tube radius
  mesh,        // field, turned as turned_box
  // These replace the two uppermost distances a, b (b on top) by one; offset replaces the top.
  unite,       // min(a, b)
  intersect,   // max(a, b)
  subtract,    // max(a, -b)
  subtracted,  // max(b, -a)
  offset,      // b - half.x
};

struct alignas(16) SdfNode {
  SdfOp op = SdfOp::sphere;
  Vec3 center, center_low;  // centre = center + center_low [m]
  Quat turn;  // turned_box, mesh: local to program's frame; otherwise its (x, y, z) = axis
  Vec3 half;  // [m]; what it means is with the op
  union {
    float side[2] = {0.0f, 0.0f};  // cone: the side's normal, off and along the axis
    const MeshFieldView* field;    // mesh: in the memory of the device that runs the program
  };

  HD Vec3 axis() const { return turn.vector_part(); }
};
static_assert(sizeof(SdfNode) == 64);  // a cache line

// Nodes, and the meshes that they point to: alive as long as the program or a copy of it is.
struct SdfProgram {
  std::vector<SdfNode> nodes;
  std::vector<std::shared_ptr<const MeshField>> fields;

  const SdfNode* begin() const { return nodes.data(); }
  const SdfNode* end() const { return nodes.data() + nodes.size(); }
};

// The most distances alive at once. Deeper programs are rejected by compile().
inline constexpr int kSdfStack = 16;

// The program for points given relative to `origin` [m]. Rejects what describe_fault() names and
// trees that need a deeper stack. Meshes are baked with voxels of `mesh_voxel` [m]; 0: a hundredth
// of their longest side. A mesh within offsets has a band that reaches as far as they do.
SdfProgram compile(const Shape& shape, const Vec3d& origin = {}, double mesh_voxel = 0.0);

// A good origin for compile(): the middle of the shape, a plane's point.
Vec3d natural_origin(const Shape& shape);

namespace sdf {

HD inline float sign_of(float a) {
  return a < 0.0f ? -1.0f : 1.0f;
}

// Some unit vector across the unit vector u: u crossed with the coordinate axis least along it.
HD inline Vec3 across(const Vec3& u) {
  const float x = std::fabs(u.x), y = std::fabs(u.y), z = std::fabs(u.z);
  if (x <= y && x <= z) return normalized(Vec3(0.0f, u.z, -u.y));
  if (y <= z) return normalized(Vec3(-u.z, 0.0f, u.x));
  return normalized(Vec3(u.y, -u.x, 0.0f));
}

HD inline Distance sphere(const Vec3& q, float radius) {
  const float r = length(q);
  return {r - radius, r > 0.0f ? q / r : Vec3(0.0f, 1.0f, 0.0f)};
}

HD inline Distance box(const Vec3& q, const Vec3& half) {
  const Vec3 out(std::fabs(q.x) - half.x, std::fabs(q.y) - half.y, std::fabs(q.z) - half.z);
  const Vec3 sign(sign_of(q.x), sign_of(q.y), sign_of(q.z));

  // Outside an edge or corner: the nearest point is on it. A face is the same with one term.
  const Vec3 beyond(max(out.x, 0.0f), max(out.y, 0.0f), max(out.z, 0.0f));
  const float d2 = length_squared(beyond);
  if (d2 > 0.0f) {
    const float d = std::sqrt(d2);
    return {d, multiply(sign, beyond) / d};
  }
  // Inside: the nearest face.
  if (out.x >= out.y && out.x >= out.z) return {out.x, {sign.x, 0.0f, 0.0f}};
  if (out.y >= out.z) return {out.y, {0.0f, sign.y, 0.0f}};
  return {out.z, {0.0f, 0.0f, sign.z}};
}

HD inline Distance turned_box(const Vec3& q, const SdfNode& node) {
  const Distance local = box(inverse_rotate(node.turn, q), node.half);
  return {local.d, rotate(node.turn, local.gradient)};
}

// Shapes of revolution are flat shapes in (r, h): off and along the axis.
struct Flat {
  float d, r, h;  // distance, and the gradient's two components
};

HD inline Flat flat_cylinder(float r, float h, float half_length, float radius) {
  const float out_r = r - radius, out_h = std::fabs(h) - half_length, up = sign_of(h);
  if (out_r > 0.0f && out_h > 0.0f) {
    const float d = std::sqrt(out_r * out_r + out_h * out_h);
    if (d > 0.0f) return {d, out_r / d, up * out_h / d};
  }
  if (out_r >= out_h) return {out_r, 1.0f, 0.0f};
  return {out_h, 0.0f, up};
}

// A trapezium: base at h = -half_length, top at +half_length, the side between them.
HD inline Flat flat_cone(float r, float h, const SdfNode& node) {
  const float end = node.half.x, r_from = node.half.y, r_to = node.half.z;
  const float n_r = node.side[0], n_h = node.side[1];
  const float side = (r - r_to) * n_r + (h - end) * n_h;
  const float above = h - end, under = -h - end;

  // Inside a convex shape the nearest of its planes is the nearest surface.
  if (side <= 0.0f && above <= 0.0f && under <= 0.0f) {
    if (side >= above && side >= under) return {side, n_r, n_h};
    return above >= under ? Flat{above, 0.0f, 1.0f} : Flat{under, 0.0f, -1.0f};
  }
  // Outside, straight off the side: the side runs along (-n_h, n_r) from base to top.
  const float past_top = -(r - r_to) * n_h + (h - end) * n_r;
  const float past_base = -(r - r_from) * n_h + (h + end) * n_r;
  if (side > 0.0f && past_top <= 0.0f && past_base >= 0.0f) return {side, n_r, n_h};

  // Else the nearest point is on the top or on the base, rims included.
  const float top_r = max(r - r_to, 0.0f), base_r = max(r - r_from, 0.0f);
  const float top2 = top_r * top_r + above * above, base2 = base_r * base_r + under * under;
  const bool at_top = top2 <= base2;
  const float d = std::sqrt(at_top ? top2 : base2);
  if (!(d > 0.0f)) return {0.0f, 0.0f, at_top ? 1.0f : -1.0f};
  return {d, (at_top ? top_r : base_r) / d, (at_top ? above : -under) / d};
}

HD inline Flat flat_capsule(float r, float h, float half_length, float radius) {
  const float beyond = h - clamp(h, -half_length, half_length);
  const float d = std::sqrt(r * r + beyond * beyond);
  return d > 0.0f ? Flat{d - radius, r / d, beyond / d} : Flat{-radius, 1.0f, 0.0f};
}

HD inline Flat flat_torus(float r, float h, float ring, float tube) {
  const float off = r - ring, d = std::sqrt(off * off + h * h);
  return d > 0.0f ? Flat{d - tube, off / d, h / d} : Flat{-tube, 0.0f, 1.0f};
}

HD inline Distance revolved(const Vec3& q, const SdfNode& node) {
  const Vec3 axis = node.axis(), half = node.half;
  const float h = dot(q, axis);
  const Vec3 off = q - h * axis;
  const float r = length(off);
  Flat flat;
  switch (node.op) {
    case SdfOp::cylinder:
      flat = flat_cylinder(r, h, half.x, half.y);
      break;
    case SdfOp::capsule:
      flat = flat_capsule(r, h, half.x, half.y);
      break;
    case SdfOp::cone:
      flat = flat_cone(r, h, node);
      break;
    default:
      flat = flat_torus(r, h, half.x, half.y);
  }
  // Next to the axis `off` is all rounding and may lean along it: straighten, then it is a unit.
  const Vec3 away = r > 0.0f ? off / r : across(axis);
  const Vec3 level = away - dot(away, axis) * axis;
  const float tilt2 = length_squared(level);
  const Vec3 outward = tilt2 > 0.25f ? level / std::sqrt(tilt2) : across(axis);
  return {flat.d, flat.r * outward + flat.h * axis};
}

HD inline Distance mesh(const Vec3& q, const SdfNode& node) {
  const Distance local = sample(*node.field, inverse_rotate(node.turn, q));
  return {local.d, rotate(node.turn, local.gradient)};
}

HD inline Distance leaf(const SdfNode& node, const Vec3& p) {
  const Vec3 q = (p - node.center) - node.center_low;
  switch (node.op) {
    case SdfOp::box:
      return box(q, node.half);
    case SdfOp::plane:
      return {dot(q, node.axis()), node.axis()};
    case SdfOp::sphere:
      return sphere(q, node.half.x);
    case SdfOp::turned_box:
      return turned_box(q, node);
    case SdfOp::mesh:
      return mesh(q, node);
    default:
      return revolved(q, node);
  }
}

// What the stack holds: a Distance, or the number alone where nobody asks for the gradient.
template <class Value>
HD Value leaf_as(const SdfNode& node, const Vec3& p);
template <>
HD inline Distance leaf_as<Distance>(const SdfNode& node, const Vec3& p) {
  return leaf(node, p);
}
template <>
HD inline float leaf_as<float>(const SdfNode& node, const Vec3& p) {
  if (node.op == SdfOp::mesh) {
    const Vec3 q = (p - node.center) - node.center_low;
    return sample_number(*node.field, inverse_rotate(node.turn, q));
  }
  return leaf(node, p).d;
}

HD inline float lesser(float a, float b) {
  return b < a ? b : a;
}
HD inline float greater(float a, float b) {
  return b > a ? b : a;
}
HD inline float negated(float a) {
  return -a;
}
HD inline float lowered(float a, float by) {
  return a - by;
}
HD inline Distance lesser(const Distance& a, const Distance& b) {
  return b.d < a.d ? b : a;
}
HD inline Distance greater(const Distance& a, const Distance& b) {
  return b.d > a.d ? b : a;
}
HD inline Distance negated(const Distance& a) {
  return {-a.d, -a.gradient};
}
HD inline Distance lowered(const Distance& a, float by) {
  return {a.d - by, a.gradient};
}

// What is under the top. Bare numbers, for Vec3 sets itself to 0 and that would be most of the work
// of a program that is one leaf.
template <class Value>
struct Stack;
template <>
struct Stack<float> {
  float n[kSdfStack - 1];
  HD void set(int i, float a) { n[i] = a; }
  HD float get(int i) const { return n[i]; }
};
template <>
struct Stack<Distance> {
  float n[kSdfStack - 1][4];
  HD void set(int i, const Distance& a) {
    n[i][0] = a.d, n[i][1] = a.gradient.x, n[i][2] = a.gradient.y, n[i][3] = a.gradient.z;
  }
  HD Distance get(int i) const { return {n[i][0], {n[i][1], n[i][2], n[i][3]}}; }
};

template <class Value>
HD Value evaluate(const SdfNode* begin, const SdfNode* end, const Vec3& p) {
  // Most programs are one leaf: the loop runs once and the stack stays untouched. There is one
  // call of leaf_as, so that inlining it (which the GPU wants) stays affordable.
  Value top{};
  Stack<Value> under;
  int height = 0;
  for (const SdfNode* node = begin; node != end; ++node) {
    switch (node->op) {
      case SdfOp::unite:
        top = lesser(under.get(--height), top);
        break;
      case SdfOp::intersect:
        top = greater(under.get(--height), top);
        break;
      case SdfOp::subtract:
        top = greater(under.get(--height), negated(top));
        break;
      case SdfOp::subtracted:
        top = greater(top, negated(under.get(--height)));
        break;
      case SdfOp::offset:
        top = lowered(top, node->half.x);
        break;
      default:
        if (node != begin) under.set(height++, top);
        top = leaf_as<Value>(*node, p);
    }
  }
  return top;
}

}  // namespace sdf

// The program must not be empty (compile() makes none that is).
HD inline Distance distance(const SdfNode* begin, const SdfNode* end, const Vec3& p) {
  return sdf::evaluate<Distance>(begin, end, p);
}
// The same for code that asks in several places. Numbers go to a function in registers.
static HD_SHARED Distance shared_distance(const SdfNode* begin, const SdfNode* end, float x,
                                          float y, float z) {
  return sdf::evaluate<Distance>(begin, end, {x, y, z});
}
// Cheaper where the direction does not matter; the same number but for the last bit.
HD inline float distance_only(const SdfNode* begin, const SdfNode* end, const Vec3& p) {
  return sdf::evaluate<float>(begin, end, p);
}

}  // namespace barchan
