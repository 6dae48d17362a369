#include "geometry/mesh_holes.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "base/error.h"
#include "geometry/mesh_edges.h"

namespace barchan {

namespace {

// Where rims go on from each vertex: against the triangles that use these edges.
using Onward = std::map<std::uint32_t, std::vector<std::uint32_t>>;

Onward find_rims(const Mesh& mesh, const std::string& name) {
  Onward onward;
  std::size_t odd = 0;
  Vec3d at;
  for_each_edge(sorted_edge_uses(mesh.triangles), [&](std::span<const EdgeUse> uses) {
    const EdgeUse& use = uses[0];
    if (uses.size() == 1) {
      const bool up = !use.forward;
      onward[up ? use.low : use.high].push_back(up ? use.high : use.low);
    } else if (uses.size() % 2 == 1 && odd++ == 0) {
      at = 0.5 * (mesh.vertices[use.low] + mesh.vertices[use.high]);
    }
  });
  if (odd > 0) {
    reject(
        "{}: three triangles or another odd number meet at {} edge(s) (an inner wall, a fin); the "
        "first is at ({:g}, {:g}, {:g}) m; remove inner faces in a modelling program",
        name, odd, at.x, at.y, at.z);
  }
  return onward;
}

Hole make_hole(const Mesh& mesh, std::vector<std::uint32_t> rim) {
  Hole hole;
  hole.rim = std::move(rim);
  for (const std::uint32_t v : hole.rim)
    hole.box = join(hole.box, {mesh.vertices[v], mesh.vertices[v]});
  return hole;
}

// The place in the rim of the vertex farthest from the first one: an end, if all are in line.
std::size_t slit_tip(const Mesh& mesh, const Hole& hole) {
  std::size_t tip = 0;
  double farthest = 0.0;
  for (std::size_t k = 0; k < hole.rim.size(); ++k) {
    const double d2 = length_squared(mesh.vertices[hole.rim[k]] - mesh.vertices[hole.rim[0]]);
    if (d2 > farthest) tip = k, farthest = d2;
  }
  return tip;
}

}  // namespace

std::vector<Hole> find_holes(const Mesh& mesh, const std::string& name) {
  Onward onward = find_rims(mesh, name);
  std::vector<Hole> holes;
  std::vector<std::uint32_t> path;
  std::unordered_map<std::uint32_t, std::size_t> place;  // of a vertex on the path
  for (auto& [start, ways] : onward) {
    while (!ways.empty()) {
      // Walk on; where the path meets itself a loop is cut off, until nothing is left of it.
      path = {start};
      place = {{start, 0}};
      for (std::uint32_t at = start; !onward[at].empty();) {
        const std::uint32_t to = onward[at].back();
        onward[at].pop_back();
        const auto [met, is_new] = place.try_emplace(to, path.size());
        if (is_new) {
          path.push_back(to);
        } else {
          const auto from = path.begin() + static_cast<std::ptrdiff_t>(met->second);
          holes.push_back(make_hole(mesh, {from, path.end()}));
          for (auto v = from + 1; v != path.end(); ++v) place.erase(*v);
          path.erase(from + 1, path.end());
        }
        at = to;
      }
      if (path.size() > 1) {
        const Vec3d& p = mesh.vertices[path.back()];
        reject(
            "{}: not closed: an edge of the surface leads into ({:g}, {:g}, {:g}) m and not out; "
            "close it in a modelling program",
            name, p.x, p.y, p.z);
      }
    }
  }
  return holes;
}

bool is_slit(const Mesh& mesh, const Hole& hole, double tolerance) {
  const Vec3d& tip = mesh.vertices[hole.rim[slit_tip(mesh, hole)]];
  Vec3d along;
  for (const std::uint32_t v : hole.rim) {
    const Vec3d d = mesh.vertices[v] - tip;
    if (length_squared(d) > length_squared(along)) along = d;
  }
  const Vec3d u = normalized(along);
  return std::all_of(hole.rim.begin(), hole.rim.end(), [&](std::uint32_t v) {
    return length(cross(mesh.vertices[v] - tip, u)) <= tolerance;
  });
}

void close_slit(Mesh& mesh, const Hole& hole) {
  const std::size_t tip = slit_tip(mesh, hole), n = hole.rim.size();
  for (std::size_t k = 1; k + 1 < n; ++k) {
    mesh.triangles.push_back({hole.rim[tip], hole.rim[(tip + k) % n], hole.rim[(tip + k + 1) % n]});
  }
}

void close_hole(Mesh& mesh, const Hole& hole) {
  const std::vector<std::uint32_t>& rim = hole.rim;
  if (rim.size() == 3) {
    mesh.triangles.push_back({rim[0], rim[1], rim[2]});
    return;
  }
  Vec3d sum;
  for (const std::uint32_t v : rim) sum += mesh.vertices[v] - hole.box.center();
  const auto hub = static_cast<std::uint32_t>(mesh.vertices.size());
  mesh.vertices.push_back(hole.box.center() + sum / static_cast<double>(rim.size()));
  for (std::size_t k = 0; k < rim.size(); ++k) {
    mesh.triangles.push_back({rim[k], rim[(k + 1) % rim.size()], hub});
  }
}

}  // namespace barchan
