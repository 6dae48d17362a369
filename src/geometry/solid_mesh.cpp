#include "geometry/solid_mesh.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/error.h"
#include "geometry/mesh_field.h"

namespace barchan {

namespace {

constexpr std::uint32_t kLeaf = 4;  // triangles that are not split further
constexpr int kDeepest = 64;        // boxes on the way down; halving 2^32 triangles takes 32
constexpr double kLargest = 1e12;   // [m]; shape.cpp says why

void check_corners(const Mesh& mesh) {
  if (mesh.triangles.empty()) reject("the mesh has no triangles");
  if (mesh.triangles.size() >= (std::size_t{1} << 31))
    reject("the mesh has 2^31 triangles or more");
  for (const Vec3d& v : mesh.vertices) {
    if (!(std::abs(v.x) < kLargest && std::abs(v.y) < kLargest && std::abs(v.z) < kLargest)) {
      reject("the mesh has a corner at ({}, {}, {}) m, which is not finite or beyond {} m", v.x,
             v.y, v.z, kLargest);
    }
  }
  for (const Triangle& t : mesh.triangles) {
    for (const std::uint32_t corner : t) {
      if (corner < mesh.vertices.size()) continue;
      reject("a triangle of the mesh names corner {} of {}", corner, mesh.vertices.size());
    }
  }
}

// Every directed edge a -> b needs an edge b -> a: then all that is summed over edges cancels,
// which makes windings exact. Several triangles may share an edge, as long as the two ways balance.
void check_closed(const Mesh& mesh) {
  struct Edge {
    std::uint32_t low, high;
    int way;
  };
  std::vector<Edge> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (const Triangle& t : mesh.triangles) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      if (a == b) continue;
      edges.push_back(a < b ? Edge{a, b, 1} : Edge{b, a, -1});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
  });
  for (std::size_t i = 0; i < edges.size();) {
    const Edge& first = edges[i];
    int balance = 0;
    for (; i < edges.size() && edges[i].low == first.low && edges[i].high == first.high; ++i) {
      balance += edges[i].way;
    }
    if (balance == 0) continue;
    const Vec3d a = mesh.vertices[first.low], b = mesh.vertices[first.high];
    reject("the mesh is not closed at the edge from ({}, {}, {}) to ({}, {}, {}) m", a.x, a.y, a.z,
           b.x, b.y, b.z);
  }
}

// Divergence theorem: a closed surface encloses the sum of the tetrahedra from any point to its
// triangles; from the middle of the box they are small, and so is the rounding.
double enclosed_volume(const Mesh& mesh, const Vec3d& middle) {
  double six_volumes = 0.0;
  for (const Triangle& t : mesh.triangles) {
    const Vec3d a = mesh.corner(t, 0) - middle, b = mesh.corner(t, 1) - middle,
                c = mesh.corner(t, 2) - middle;
    six_volumes += dot(a, cross(b, c));
  }
  return six_volumes / 6.0;
}

double squared_distance(const Aabb& box, const Vec3d& p) {
  return length_squared(p - min(max(p, box.lo), box.hi));
}

// The point of the triangle nearest to p, by the region of the plane that p projects to: a corner,
// an edge or the face (Ericson 2005, Real-Time Collision Detection, 5.1.5).
Vec3d nearest_on_triangle(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap);
  if (d1 <= 0.0 && d2 <= 0.0) return a;
  const double d3 = dot(ab, bp), d4 = dot(ac, bp);
  if (d3 >= 0.0 && d4 <= d3) return b;
  const double d5 = dot(ab, cp), d6 = dot(ac, cp);
  if (d6 >= 0.0 && d5 <= d6) return c;

  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3) return a + (d1 / (d1 - d3)) * ab;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6) return a + (d2 / (d2 - d6)) * ac;
  const double va = d3 * d6 - d5 * d4, e = d4 - d3, f = d5 - d6;
  if (va <= 0.0 && e >= 0.0 && f >= 0.0 && e + f > 0.0) return b + (e / (e + f)) * (c - b);

  const double all = va + vb + vc;
  if (!(all > 0.0)) return a;  // no area: its edges' neighbours are as near
  return a + (vb / all) * ab + (vc / all) * ac;
}

// 1 if the edge from a to b, seen along z, crosses the half line from p towards +x upwards (in y),
// -1 downwards. Whichever triangle asks, the answer is the same but for the sign: corners are
// ordered by number first, and no product is left for the compiler to round in two ways.
int crossing(const Mesh& mesh, std::uint32_t from, std::uint32_t to, const Vec3d& p) {
  const int way = from < to ? 1 : -1;
  const Vec3d& a = mesh.vertices[from < to ? from : to];
  const Vec3d& b = mesh.vertices[from < to ? to : from];
  const bool a_above = a.y > p.y, b_above = b.y > p.y;
  if (a_above == b_above) return 0;
  const double falling = (b.y - a.y) * (p.x - a.x);
  const double side = std::fma(b.x - a.x, p.y - a.y, -falling);
  // The edge is at x > p.x where side / (b.y - a.y) > 0.
  const bool beyond = b_above ? side > 0.0 : side < 0.0;
  if (!beyond) return 0;
  return b_above ? way : -way;
}

// Where the line through p along z meets the triangle's plane. Near triangles seen edge-on the
// division is poor; the triangle's own extent bounds it.
double height_at(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p) {
  const Vec3d n = cross(b - a, c - a);
  const double low = std::min({a.z, b.z, c.z}), high = std::max({a.z, b.z, c.z});
  if (n.z == 0.0) return low;
  return std::clamp(a.z - (n.x * (p.x - a.x) + n.y * (p.y - a.y)) / n.z, low, high);
}

}  // namespace

SolidMesh::SolidMesh(Mesh mesh) : mesh_(std::move(mesh)) {
  check_corners(mesh_);
  check_closed(mesh_);
  for (const Triangle& t : mesh_.triangles) {
    for (int k = 0; k < 3; ++k) box_ = join(box_, {mesh_.corner(t, k), mesh_.corner(t, k)});
  }
  volume_ = enclosed_volume(mesh_, box_.center());
  if (!(volume_ > 0.0)) {
    reject("the mesh encloses {} m^3: its triangles must be counter-clockwise seen from outside",
           volume_);
  }
  const auto count = static_cast<std::uint32_t>(mesh_.triangles.size());
  std::vector<Vec3d> centers;
  centers.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Triangle& t = mesh_.triangles[i];
    centers.push_back((mesh_.corner(t, 0) + mesh_.corner(t, 1) + mesh_.corner(t, 2)) / 3.0);
    order_.push_back(i);
  }
  boxes_.reserve(2 * (count / 2 + 1));
  build(0, count, centers);
}

SolidMesh::~SolidMesh() = default;

// Halves along the longest side of the centres' box, until few are left.
void SolidMesh::build(std::uint32_t begin, std::uint32_t end, const std::vector<Vec3d>& centers) {
  Aabb around, middles;
  for (std::uint32_t i = begin; i < end; ++i) {
    const Triangle& t = mesh_.triangles[order_[i]];
    for (int k = 0; k < 3; ++k) around = join(around, {mesh_.corner(t, k), mesh_.corner(t, k)});
    middles = join(middles, {centers[order_[i]], centers[order_[i]]});
  }
  const std::size_t self = boxes_.size();
  // The margin covers the rounding of crossing(): a ray just beside the box may count as in it.
  boxes_.push_back({around.grown(1e-12 * length(box_.extent())), begin, end - begin});
  if (end - begin <= kLeaf) return;

  const Vec3d size = middles.extent();
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
  const std::uint32_t middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end,
                   [&](std::uint32_t a, std::uint32_t b) {
                     const double x = centers[a][axis], y = centers[b][axis];
                     return x != y ? x < y : a < b;
                   });
  boxes_[self].count = 0;
  build(begin, middle, centers);
  boxes_[self].first = static_cast<std::uint32_t>(boxes_.size());
  build(middle, end, centers);
}

SolidMesh::Nearest SolidMesh::nearest(const Vec3d& p, double bound) const {
  struct Waiting {
    std::uint32_t box;
    double squared;
  };
  Nearest best{bound, p, -1};
  double squared = bound * bound;
  Waiting stack[kDeepest];
  int height = 0;
  stack[height++] = {0, squared_distance(boxes_[0].around, p)};
  while (height > 0) {
    const Waiting now = stack[--height];
    if (!(now.squared < squared)) continue;
    const Box& box = boxes_[now.box];
    if (box.count == 0) {
      // The nearer child goes on top: it will likely rule out the other.
      Waiting near{now.box + 1, squared_distance(boxes_[now.box + 1].around, p)};
      Waiting far{box.first, squared_distance(boxes_[box.first].around, p)};
      if (far.squared < near.squared) std::swap(near, far);
      stack[height++] = far;
      stack[height++] = near;
      continue;
    }
    for (std::uint32_t i = box.first; i < box.first + box.count; ++i) {
      const Triangle& t = mesh_.triangles[order_[i]];
      const Vec3d q =
          nearest_on_triangle(p, mesh_.corner(t, 0), mesh_.corner(t, 1), mesh_.corner(t, 2));
      const double d2 = length_squared(p - q);
      if (!(d2 < squared)) continue;
      squared = d2;
      best = {std::sqrt(d2), q, order_[i]};
    }
  }
  return best;
}

bool SolidMesh::nearer_than(const Vec3d& p, double bound) const {
  if (!(bound > 0.0)) return false;
  return nearest(p, bound).triangle >= 0;
}

// Counts, with their signs, the triangles that the half line from p towards +z passes. A triangle
// is passed as often as its outline, seen along z, goes round p; and that is a sum over its edges
// of crossing(), in which shared edges cancel.
int SolidMesh::winding(const Vec3d& p) const {
  if (!box_.contains(p)) return 0;
  int sum = 0;
  std::uint32_t stack[kDeepest];
  int height = 0;
  stack[height++] = 0;
  while (height > 0) {
    const std::uint32_t number = stack[--height];
    const Box& box = boxes_[number];
    const Aabb& b = box.around;
    if (p.x < b.lo.x || p.x > b.hi.x || p.y < b.lo.y || p.y > b.hi.y || p.z > b.hi.z) continue;
    if (box.count == 0) {
      stack[height++] = box.first;
      stack[height++] = number + 1;
      continue;
    }
    for (std::uint32_t i = box.first; i < box.first + box.count; ++i) {
      const Triangle& t = mesh_.triangles[order_[i]];
      const int round = crossing(mesh_, t[0], t[1], p) + crossing(mesh_, t[1], t[2], p) +
                        crossing(mesh_, t[2], t[0], p);
      if (round == 0) continue;
      if (height_at(mesh_.corner(t, 0), mesh_.corner(t, 1), mesh_.corner(t, 2), p) > p.z) {
        sum += round;
      }
    }
  }
  return sum;
}

std::shared_ptr<const MeshField> SolidMesh::field(double voxel, double band) const {
  const std::lock_guard lock(baking_);
  for (const Baked& baked : baked_) {
    if (baked.voxel == voxel && baked.band == band) return baked.field;
  }
  baked_.push_back({voxel, band, std::make_shared<const MeshField>(mesh_, voxel, band)});
  return baked_.back().field;
}

}  // namespace barchan
