// Who shares which edge of a mesh: every side of every triangle, sorted by edge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "geometry/mesh.h"

namespace barchan {

struct EdgeUse {
  std::uint32_t low = 0, high = 0;  // the edge's ends, low < high
  std::uint32_t triangle = 0;
  std::uint8_t side = 0;  // of the triangle: from its corner `side` to the next one
  bool forward = false;   // the triangle runs from low to high

  std::pair<std::uint32_t, std::uint32_t> edge() const { return {low, high}; }
};

inline EdgeUse edge_use(const Triangle& t, std::uint32_t triangle, int side) {
  const std::uint32_t from = t[static_cast<std::size_t>(side)];
  const std::uint32_t to = t[static_cast<std::size_t>((side + 1) % 3)];
  return {std::min(from, to), std::max(from, to), triangle, static_cast<std::uint8_t>(side),
          from < to};
}

// Of triangles with three different corners. By edge, and by triangle within an edge.
inline std::vector<EdgeUse> sorted_edge_uses(const std::vector<Triangle>& triangles) {
  std::vector<EdgeUse> uses;
  uses.reserve(3 * triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    for (int side = 0; side < 3; ++side) {
      uses.push_back(edge_use(triangles[t], static_cast<std::uint32_t>(t), side));
    }
  }
  std::sort(uses.begin(), uses.end(), [](const EdgeUse& a, const EdgeUse& b) {
    return std::tie(a.low, a.high, a.triangle) < std::tie(b.low, b.high, b.triangle);
  });
  return uses;
}

// Calls f(uses of one edge) for each edge, in order.
template <class F>
void for_each_edge(std::span<const EdgeUse> uses, F f) {
  while (!uses.empty()) {
    std::size_t count = 1;
    while (count < uses.size() && uses[count].edge() == uses[0].edge()) ++count;
    f(uses.first(count));
    uses = uses.subspan(count);
  }
}

}  // namespace barchan
