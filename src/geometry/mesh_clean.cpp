#include "geometry/mesh_clean.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "geometry/mesh_edges.h"

namespace barchan {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// ---- welding

// For each vertex the first one that is equal to it (0 and -0 are).
std::vector<std::uint32_t> first_equals(const std::vector<Vec3d>& x) {
  std::vector<std::uint32_t> order(x.size()), first(x.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(x[a].x, x[a].y, x[a].z, a) < std::tie(x[b].x, x[b].y, x[b].z, b);
  });
  for (std::size_t k = 0; k < order.size(); ++k) {
    const bool same = k > 0 && x[order[k]] == x[order[k - 1]];
    first[order[k]] = same ? first[order[k - 1]] : order[k];
  }
  return first;
}

// Vertices that stay, in cubes of eight tolerances: most points have their whole neighbourhood in
// one cube. Those in a cube are a list through next_.
class WeldGrid {
 public:
  WeldGrid(const std::vector<Vec3d>& x, double tolerance)
      : x_(x), tolerance_(tolerance), edge_(8.0 * tolerance), next_(x.size(), kNone) {}

  // The nearest vertex that stays within the tolerance of p, or kNone; the lower of two as near.
  std::uint32_t nearest(const Vec3d& p) const {
    const Cell lo = cell_of(p - reach()), hi = cell_of(p + reach());
    std::uint32_t best = kNone;
    double best2 = tolerance_ * tolerance_;
    for (Cell c = lo; c[2] <= hi[2]; ++c[2]) {
      for (c[1] = lo[1]; c[1] <= hi[1]; ++c[1]) {
        for (c[0] = lo[0]; c[0] <= hi[0]; ++c[0]) search(c, p, best, best2);
      }
    }
    return best;
  }
  void add(std::uint32_t vertex) {
    const auto [slot, is_new] = head_.try_emplace(cell_of(x_[vertex]), kNone);
    next_[vertex] = slot->second;
    slot->second = vertex;
  }

 private:
  using Cell = std::array<std::int64_t, 3>;
  struct CellHash {
    std::size_t operator()(const Cell& c) const {
      std::uint64_t h = 0;
      for (const std::int64_t i : c) {
        h = (h ^ static_cast<std::uint64_t>(i)) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
      }
      return h;
    }
  };

  Vec3d reach() const { return {tolerance_, tolerance_, tolerance_}; }
  Cell cell_of(const Vec3d& p) const {
    // Relative to the first vertex: far from the origin a cell's number must still fit.
    const Vec3d q = (p - x_[0]) / edge_;
    return {static_cast<std::int64_t>(std::floor(q.x)), static_cast<std::int64_t>(std::floor(q.y)),
            static_cast<std::int64_t>(std::floor(q.z))};
  }
  void search(const Cell& cell, const Vec3d& p, std::uint32_t& best, double& best2) const {
    const auto found = head_.find(cell);
    if (found == head_.end()) return;
    for (std::uint32_t v = found->second; v != kNone; v = next_[v]) {
      const double d2 = length_squared(x_[v] - p);
      if (d2 < best2 || (d2 == best2 && v < best)) best = v, best2 = d2;
    }
  }

  const std::vector<Vec3d>& x_;
  double tolerance_, edge_;  // [m]
  std::vector<std::uint32_t> next_;
  std::unordered_map<Cell, std::uint32_t, CellHash> head_;
};

}  // namespace

std::size_t weld(Mesh& mesh, double tolerance) {
  std::vector<std::uint32_t> stays = first_equals(mesh.vertices);
  std::size_t merged = 0;
  if (tolerance > 0.0) {
    WeldGrid grid(mesh.vertices, tolerance);
    for (std::uint32_t v = 0; v < stays.size(); ++v) {
      if (stays[v] != v) {  // equal to an earlier one: goes where that one went
        stays[v] = stays[stays[v]];
        continue;
      }
      const std::uint32_t near = grid.nearest(mesh.vertices[v]);
      if (near == kNone) {
        grid.add(v);
      } else {
        stays[v] = near;
        ++merged;
      }
    }
  }
  for (Triangle& t : mesh.triangles) {
    for (std::uint32_t& corner : t) corner = stays[corner];
  }
  return merged;
}

std::size_t drop_collapsed(Mesh& mesh) {
  return std::erase_if(mesh.triangles, [](const Triangle& t) {
    return t[0] == t[1] || t[1] == t[2] || t[2] == t[0];
  });
}

// ---- duplicates

namespace {

// The corners in ascending order, and whether they run that way round.
struct Facing {
  Triangle corners;
  std::uint32_t triangle;
  bool ascending;
};

Facing facing(const Triangle& t, std::uint32_t index) {
  Triangle sorted = t;
  std::sort(sorted.begin(), sorted.end());
  // Ascending if a turn takes one to the other: 012, 120, 201.
  const auto low = static_cast<std::size_t>(std::min_element(t.begin(), t.end()) - t.begin());
  return {sorted, index, t[(low + 1) % 3] == sorted[1]};
}

// How many of the triangle's edges are used an odd number of times by `uses`.
int odd_edges(const Triangle& t, const std::vector<EdgeUse>& uses) {
  int odd = 0;
  for (int side = 0; side < 3; ++side) {
    const auto edge = edge_use(t, 0, side).edge();
    const auto from = std::partition_point(uses.begin(), uses.end(),
                                           [&](const EdgeUse& u) { return u.edge() < edge; });
    auto to = from;
    while (to != uses.end() && to->edge() == edge) ++to;
    odd += (to - from) % 2;
  }
  return odd;
}

bool all_even(const std::vector<EdgeUse>& uses) {
  bool even = true;
  for_each_edge(uses, [&](std::span<const EdgeUse> edge) { even &= edge.size() % 2 == 0; });
  return even;
}

// Copies that face the same way are marked in `goes`, but for one; corners over which triangles
// face both ways are pairs, the first of each; the rest is single.
struct Copies {
  std::vector<char> goes;
  std::vector<std::array<std::uint32_t, 2>> pairs;
  std::vector<Triangle> single;
};

Copies find_copies(const Mesh& mesh) {
  std::vector<Facing> all;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    all.push_back(facing(mesh.triangles[t], t));
  }
  std::sort(all.begin(), all.end(), [](const Facing& a, const Facing& b) {
    return std::tie(a.corners, a.ascending, a.triangle) <
           std::tie(b.corners, b.ascending, b.triangle);
  });
  Copies copies;
  copies.goes.assign(all.size(), 0);
  for (std::size_t k = 0, end = 0; k < all.size(); k = end) {
    std::size_t other = k;  // the first that faces the other way, or k
    for (end = k + 1; end < all.size() && all[end].corners == all[k].corners; ++end) {
      if (all[end].ascending == all[end - 1].ascending) {
        copies.goes[all[end].triangle] = 1;
      } else {
        other = end;
      }
    }
    if (other == k) {
      copies.single.push_back(mesh.triangles[all[k].triangle]);
    } else {
      copies.pairs.push_back({all[k].triangle, all[other].triangle});
    }
  }
  return copies;
}

}  // namespace

std::size_t drop_duplicates(Mesh& mesh) {
  auto [goes, pairs, others] = find_copies(mesh);

  // A pair counts twice or not at all, so whether an edge needs one more is up to the others. Where
  // there are no others the whole mesh is two-sided: half of it may be a closed surface.
  const bool two_sided = others.empty();
  if (two_sided) {
    for (const auto& pair : pairs) others.push_back(mesh.triangles[pair[0]]);
  }
  const std::vector<EdgeUse> uses =
      pairs.empty() ? std::vector<EdgeUse>() : sorted_edge_uses(others);
  const bool half_closed = two_sided && all_even(uses);
  for (const auto& pair : pairs) {
    goes[std::max(pair[0], pair[1])] = 1;
    const bool needed = two_sided ? half_closed : odd_edges(mesh.triangles[pair[0]], uses) >= 2;
    if (!needed) goes[std::min(pair[0], pair[1])] = 1;
  }
  std::size_t kept = 0;
  for (std::size_t t = 0; t < goes.size(); ++t) {
    if (!goes[t]) mesh.triangles[kept++] = mesh.triangles[t];
  }
  mesh.triangles.resize(kept);
  return goes.size() - kept;
}

// ---- slivers

namespace {

// The corner that lies on the opposite edge (to within 1e-9 of that edge), or -1: not a sliver.
int sliver_corner(const Mesh& mesh, const Triangle& t) {
  int corner = 0;
  double longest2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double d2 = length_squared(mesh.corner(t, (k + 2) % 3) - mesh.corner(t, (k + 1) % 3));
    if (d2 > longest2) corner = k, longest2 = d2;
  }
  const Vec3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
  return length(cross(b - a, c - a)) <= 1e-9 * longest2 ? corner : -1;
}

class SliverFlipper {
 public:
  explicit SliverFlipper(Mesh& mesh) : mesh_(mesh) {}

  std::size_t run() {
    for (std::uint32_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (sliver_corner(mesh_, mesh_.triangles[t]) >= 0) slivers_.push_back(t);
    }
    if (slivers_.empty()) return 0;
    for (std::uint32_t t = 0; t < mesh_.triangles.size(); ++t) enter(t);

    // A sliver beside another one may get a better neighbour by that one's flip: several rounds.
    constexpr int kRounds = 8;
    const std::size_t before = slivers_.size();
    for (int round = 0; round < kRounds; ++round) {
      if (std::erase_if(slivers_, [&](std::uint32_t t) { return flip(t); }) == 0) break;
    }
    drop_collapsed(mesh_);
    return before - slivers_.size();
  }

 private:
  using Edge = std::pair<std::uint32_t, std::uint32_t>;

  void enter(std::uint32_t t) {
    for (int side = 0; side < 3; ++side)
      users_[edge_use(mesh_.triangles[t], t, side).edge()].push_back(t);
  }
  void leave(std::uint32_t t) {
    for (int side = 0; side < 3; ++side)
      std::erase(users_[edge_use(mesh_.triangles[t], t, side).edge()], t);
  }

  const std::vector<std::uint32_t>& users_of(std::uint32_t t, int side) {
    return users_[edge_use(mesh_.triangles[t], t, side).edge()];
  }

  // Whether the sliver is gone.
  bool flip(std::uint32_t t) {
    const int k = sliver_corner(mesh_, mesh_.triangles[t]);
    if (k < 0) return true;
    const std::uint32_t b = mesh_.triangles[t][static_cast<std::size_t>(k)];
    const std::vector<std::uint32_t> users = users_of(t, (k + 1) % 3);
    if (users.size() == 3 && users_of(t, k).size() == 1 && users_of(t, (k + 2) % 3).size() == 1) {
      // Two others meet at the long edge and nobody at the short ones: a flap without area.
      leave(t);
      mesh_.triangles[t] = {b, b, b};
      return true;
    }
    if (users.size() != 2) return false;
    const std::uint32_t other = users[0] == t ? users[1] : users[0];
    const Triangle n = mesh_.triangles[other];
    if (sliver_corner(mesh_, n) >= 0) return false;

    // The neighbour, turned so that the shared edge is its first: x y d.
    const auto far = [&](std::uint32_t corner) {
      const Triangle& s = mesh_.triangles[t];
      return corner != s[0] && corner != s[1] && corner != s[2];
    };
    const auto at = static_cast<std::size_t>(std::find_if(n.begin(), n.end(), far) - n.begin());
    if (at == 3) return false;
    const std::uint32_t d = n[at], x = n[(at + 1) % 3], y = n[(at + 2) % 3];
    leave(t), leave(other);
    mesh_.triangles[t] = {x, b, d}, mesh_.triangles[other] = {b, y, d};
    enter(t), enter(other);
    return true;
  }

  Mesh& mesh_;
  std::vector<std::uint32_t> slivers_;
  std::map<Edge, std::vector<std::uint32_t>> users_;
};

}  // namespace

std::size_t drop_slivers(Mesh& mesh) {
  return SliverFlipper(mesh).run();
}

void drop_unused_vertices(Mesh& mesh) {
  std::vector<std::uint32_t> place(mesh.vertices.size(), kNone);
  for (const Triangle& t : mesh.triangles) {
    for (const std::uint32_t corner : t) place[corner] = 0;
  }
  std::uint32_t kept = 0;
  for (std::size_t v = 0; v < place.size(); ++v) {
    if (place[v] == kNone) continue;
    mesh.vertices[kept] = mesh.vertices[v];
    place[v] = kept++;
  }
  mesh.vertices.resize(kept);
  for (Triangle& t : mesh.triangles) {
    for (std::uint32_t& corner : t) corner = place[corner];
  }
}

}  // namespace barchan
