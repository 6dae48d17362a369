// How a surface passes a cube whose corners are inside or outside: marching cubes (Lorensen & Cline
// 1987), with cases that are made by rule instead of being listed.
//
// The surface has one vertex on every edge whose ends differ. On each face, the part around each
// run of inside corners is cut off from the rest. That depends on nothing but the face's corners,
// so two cubes agree on their common face, and within a cube the cuts join to closed loops. A loop
// is filled with triangles, by diagonals whose ends have no face in common: such a diagonal belongs
// to no other cube. Where there is no such way, it is filled from a vertex in its middle. So every
// edge has two triangles and every vertex one ring of them: the mesh is closed and manifold
// whatever the signs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace barchan {

// Corner x + 2 y + 4 z is at (x, y, z). Edge 4 a + u + 2 v runs along axis a; u and v are its
// coordinates along the next two axes, in turn.
struct CubeEdge {
  int axis;
  std::array<int, 3> from;  // its lower end
};
inline CubeEdge cube_edge(int edge) {
  const int axis = edge / 4;
  CubeEdge e{axis, {0, 0, 0}};
  e.from[static_cast<std::size_t>((axis + 1) % 3)] = edge & 1;
  e.from[static_cast<std::size_t>((axis + 2) % 3)] = (edge >> 1) & 1;
  return e;
}

inline std::array<CubeEdge, 12> cube_edges() {
  std::array<CubeEdge, 12> edges;
  for (int e = 0; e < 12; ++e) edges[static_cast<std::size_t>(e)] = cube_edge(e);
  return edges;
}

struct CubeLoop {
  std::vector<std::uint8_t> edges;  // counter-clockwise seen from outside
  bool has_middle = false;  // filled from a vertex in the middle; else fanned from the first
};

struct CubeCase {
  std::vector<CubeLoop> loops;
  int triangles = 0;
  int middles = 0;
};

// By the corners that are inside, a bit each.
const std::array<CubeCase, 256>& cube_cases();

}  // namespace barchan
