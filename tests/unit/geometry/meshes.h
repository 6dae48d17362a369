// What tests of meshes ask of them.
#pragma once

#include <span>
#include <utility>

#include "geometry/mesh.h"
#include "geometry/mesh_edges.h"
#include "geometry/pose.h"

namespace barchan::testing {

// Every edge is run along as often one way as the other.
inline bool is_closed(const Mesh& mesh) {
  bool closed = true;
  for_each_edge(sorted_edge_uses(mesh.triangles), [&](std::span<const EdgeUse> uses) {
    int net = 0;
    for (const EdgeUse& use : uses) net += use.forward ? 1 : -1;
    closed &= net == 0;
  });
  return closed;
}

inline Mesh moved(Mesh mesh, const Pose& pose) {
  for (Vec3d& p : mesh.vertices) p = pose.to_world(p);
  return mesh;
}

inline Mesh scaled(Mesh mesh, double by) {
  for (Vec3d& p : mesh.vertices) p *= by;
  return mesh;
}

inline Mesh inside_out(Mesh mesh) {
  for (Triangle& t : mesh.triangles) std::swap(t[1], t[2]);
  return mesh;
}

inline Mesh together(Mesh a, const Mesh& b) {
  const auto first = static_cast<std::uint32_t>(a.vertices.size());
  a.vertices.insert(a.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (const Triangle& t : b.triangles) {
    a.triangles.push_back({first + t[0], first + t[1], first + t[2]});
  }
  return a;
}

}  // namespace barchan::testing
