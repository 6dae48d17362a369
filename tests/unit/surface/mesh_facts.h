// What must hold for every surface, counted in plain ways.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "geometry/mesh_edges.h"
#include "surface/surface_mesh.h"

namespace barchan {

// Sets that are joined: how many are left.
class Joined {
 public:
  explicit Joined(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0u); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }
  std::size_t count() {
    std::size_t roots = 0;
    for (std::size_t i = 0; i < parent_.size(); ++i) roots += parent_[i] == i ? 1 : 0;
    return roots;
  }

 private:
  std::vector<std::size_t> parent_;
};

struct MeshFacts {
  bool closed = true;    // every edge belongs to two triangles, which run along it in turn
  bool manifold = true;  // and the triangles at a vertex are one ring
  long euler = 0;
  std::size_t components = 0;
  double volume = 0.0, area = 0.0;  // [m^3], [m^2]
};

inline MeshFacts facts_of(const SurfaceMesh& mesh) {
  MeshFacts facts;
  const std::vector<EdgeUse> uses = sorted_edge_uses(mesh.triangles);
  long edges = 0;
  Joined corners(3 * mesh.triangles.size()), vertices(mesh.vertices.size());
  // A corner of a triangle is joined with the corner at the same vertex across each edge.
  const auto corner_at = [&](const EdgeUse& use, std::uint32_t vertex) {
    const Triangle& t = mesh.triangles[use.triangle];
    const auto k = std::find(t.begin(), t.end(), vertex) - t.begin();
    return 3 * std::size_t{use.triangle} + static_cast<std::size_t>(k);
  };
  for_each_edge(std::span<const EdgeUse>(uses), [&](std::span<const EdgeUse> both) {
    ++edges;
    vertices.join(both[0].low, both[0].high);
    if (both.size() != 2 || both[0].forward == both[1].forward) {
      facts.closed = false;
      return;
    }
    for (const std::uint32_t v : {both[0].low, both[0].high}) {
      corners.join(corner_at(both[0], v), corner_at(both[1], v));
    }
  });
  facts.manifold = facts.closed && corners.count() == mesh.vertices.size();
  facts.euler =
      static_cast<long>(mesh.vertices.size()) - edges + static_cast<long>(mesh.triangles.size());
  facts.components = vertices.count();
  for (const Triangle& t : mesh.triangles) {
    const Vec3d a(mesh.vertices[t[0]]), b(mesh.vertices[t[1]]), c(mesh.vertices[t[2]]);
    facts.volume += dot(a, cross(b, c)) / 6.0;
    facts.area += 0.5 * length(cross(b - a, c - a));
  }
  return facts;
}

inline bool same_bytes(const SurfaceMesh& a, const SurfaceMesh& b) {
  return a.vertices == b.vertices && a.normals == b.normals && a.velocities == b.velocities &&
         a.triangles == b.triangles;
}

}  // namespace barchan
