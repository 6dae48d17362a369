#include "surface/cube_cases.h"

#include <algorithm>
#include <cstddef>

namespace barchan {

namespace {

constexpr int kNoEdge = -1;

// The edge between two neighbouring corners.
int edge_between(int a, int b) {
  const int axis = (a ^ b) == 1 ? 0 : ((a ^ b) == 2 ? 1 : 2), low = a & b;
  const int u = (low >> ((axis + 1) % 3)) & 1, v = (low >> ((axis + 2) % 3)) & 1;
  return 4 * axis + u + 2 * v;
}

// The corners of a face, counter-clockwise seen from outside the cube.
std::array<int, 4> face_corners(int axis, bool high) {
  const int u = 1 << ((axis + 1) % 3), v = 1 << ((axis + 2) % 3);
  const int base = high ? 1 << axis : 0;
  std::array<int, 4> corners = {base, base + u, base + u + v, base + v};
  if (!high) std::swap(corners[1], corners[3]);
  return corners;
}

bool share_face(int edge, int other) {
  const CubeEdge a = cube_edge(edge), b = cube_edge(other);
  for (int axis = 0; axis < 3; ++axis) {
    const auto k = static_cast<std::size_t>(axis);
    if (axis != a.axis && axis != b.axis && a.from[k] == b.from[k]) return true;
  }
  return false;
}

// For each cut edge, where the surface goes on to across the face on which the edge leads inside:
// to the edge on which that run of inside corners ends. The surface's outer side is then on the
// right as seen from outside the cube, and loops are counter-clockwise seen from the surface's
// outside.
std::array<int, 12> links(int inside) {
  std::array<int, 12> next;
  next.fill(kNoEdge);
  const auto is_in = [&](int corner) { return ((inside >> corner) & 1) != 0; };
  for (int face = 0; face < 6; ++face) {
    const std::array<int, 4> c = face_corners(face / 2, face % 2 == 1);
    for (std::size_t k = 0; k < 4; ++k) {
      if (is_in(c[k]) || !is_in(c[(k + 1) % 4])) continue;
      std::size_t end = k + 1;
      while (is_in(c[(end + 1) % 4])) ++end;
      next[static_cast<std::size_t>(edge_between(c[k], c[(k + 1) % 4]))] =
          edge_between(c[end % 4], c[(end + 1) % 4]);
    }
  }
  return next;
}

// Turns the loop so that a fan from its first edge has no diagonal within a face, where it can.
void fill(CubeLoop& loop) {
  const std::size_t n = loop.edges.size();
  for (std::size_t turn = 0; turn < n; ++turn) {
    bool good = true;
    for (std::size_t k = 2; k + 1 < n; ++k) good &= !share_face(loop.edges[0], loop.edges[k]);
    if (good) return;
    std::rotate(loop.edges.begin(), loop.edges.begin() + 1, loop.edges.end());
  }
  loop.has_middle = true;
}

CubeCase make_case(int inside) {
  CubeCase made;
  std::array<int, 12> next = links(inside);
  for (std::size_t first = 0; first < next.size(); ++first) {
    if (next[first] == kNoEdge) continue;
    CubeLoop loop;
    for (std::size_t e = first; next[e] != kNoEdge;) {
      loop.edges.push_back(static_cast<std::uint8_t>(e));
      const int to = next[e];
      next[e] = kNoEdge;
      e = static_cast<std::size_t>(to);
    }
    fill(loop);
    const int n = static_cast<int>(loop.edges.size());
    made.triangles += loop.has_middle ? n : n - 2;
    made.middles += loop.has_middle ? 1 : 0;
    made.loops.push_back(std::move(loop));
  }
  return made;
}

}  // namespace

const std::array<CubeCase, 256>& cube_cases() {
  static const auto cases = [] {
    std::array<CubeCase, 256> made;
    for (int inside = 0; inside < 256; ++inside) {
      made[static_cast<std::size_t>(inside)] = make_case(inside);
    }
    return made;
  }();
  return cases;
}

}  // namespace barchan
