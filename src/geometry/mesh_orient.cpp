#include "geometry/mesh_orient.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <span>

#include "base/error.h"
#include "geometry/mesh_edges.h"

namespace barchan {

namespace {

void turn(Triangle& t) {
  std::swap(t[1], t[2]);
}

Vec3d middle(const Mesh& mesh, const EdgeUse& use) {
  return 0.5 * (mesh.vertices[use.low] + mesh.vertices[use.high]);
}

// ---- patches

// The triangle on the other side of each side, where there is just one.
struct Neighbour {
  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::uint32_t triangle = kNone;
  bool agrees = true;  // runs along the edge in the opposite direction
};
using Sides = std::array<Neighbour, 3>;

std::vector<Sides> find_neighbours(const Mesh& mesh) {
  std::vector<Sides> sides(mesh.triangles.size());
  for_each_edge(sorted_edge_uses(mesh.triangles), [&](std::span<const EdgeUse> uses) {
    if (uses.size() != 2) return;
    const EdgeUse &a = uses[0], &b = uses[1];
    const bool agrees = a.forward != b.forward;
    sides[a.triangle][a.side] = {b.triangle, agrees};
    sides[b.triangle][b.side] = {a.triangle, agrees};
  });
  return sides;
}

[[noreturn]] void reject_one_sided(const Mesh& mesh, const Triangle& t, int side,
                                   const std::string& name) {
  const Vec3d p = middle(mesh, edge_use(t, 0, side));
  reject(
      "{}: the surface cannot be oriented: it has one side only (like a Moebius strip or a Klein "
      "bottle), seen at ({:g}, {:g}, {:g}) m; model it as the boundary of a solid",
      name, p.x, p.y, p.z);
}

class Flood {
 public:
  Flood(const Mesh& mesh, const std::string& name)
      : mesh_(mesh), name_(name), sides_(find_neighbours(mesh)) {
    patches.of.assign(mesh.triangles.size(), Neighbour::kNone);
    turns.assign(mesh.triangles.size(), 0);
  }

  // All triangles that can be reached from `seed`; those to be turned are marked.
  void fill(std::uint32_t seed) {
    std::vector<std::uint32_t> reached = {seed};
    patches.of[seed] = patches.count;
    std::size_t turned = 0;
    for (std::size_t k = 0; k < reached.size(); ++k) {
      const std::uint32_t t = reached[k];
      turned += turns[t];
      for (int side = 0; side < 3; ++side) {
        const Neighbour& n = sides_[t][static_cast<std::size_t>(side)];
        if (n.triangle == Neighbour::kNone) continue;
        const char turns_too = n.agrees ? turns[t] : !turns[t];
        if (patches.of[n.triangle] == Neighbour::kNone) {
          patches.of[n.triangle] = patches.count;
          turns[n.triangle] = turns_too;
          reached.push_back(n.triangle);
        } else if (turns[n.triangle] != turns_too) {
          reject_one_sided(mesh_, mesh_.triangles[t], side, name_);
        }
      }
    }
    // The seed may have been the odd one.
    if (2 * turned > reached.size()) {
      for (const std::uint32_t t : reached) turns[t] = !turns[t];
      turned = reached.size() - turned;
    }
    patches.turned += turned;
    ++patches.count;
  }

  Patches patches;
  std::vector<char> turns;

 private:
  const Mesh& mesh_;
  const std::string& name_;
  std::vector<Sides> sides_;
};

}  // namespace

Patches orient_patches(Mesh& mesh, const std::string& name) {
  Flood flood(mesh, name);
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    if (flood.patches.of[t] == Neighbour::kNone) flood.fill(t);
  }
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (flood.turns[t]) turn(mesh.triangles[t]);
  }
  return std::move(flood.patches);
}

// ---- parts

namespace {

// A forest over patches; the root is the lowest number.
class Joined {
 public:
  explicit Joined(std::uint32_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0u);
  }
  std::uint32_t root(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a), b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

struct Imbalance {
  std::size_t edges = 0;
  Vec3d at;  // the first one's middle [m]
};

// A patch that runs along an edge as often one way as the other is closed there by itself; those
// that do not must make up for each other, and belong together.
void balance_edge(const Mesh& mesh, const Patches& patches, std::span<const EdgeUse> uses,
                  Joined& joined, Imbalance& imbalance) {
  std::map<std::uint32_t, int> net;
  int all = 0;
  for (const EdgeUse& use : uses) {
    net[patches.of[use.triangle]] += use.forward ? 1 : -1;
    all += use.forward ? 1 : -1;
  }
  if (all != 0 && imbalance.edges++ == 0) imbalance.at = middle(mesh, uses[0]);
  const std::pair<const std::uint32_t, int>* first = nullptr;
  for (const auto& patch : net) {
    if (patch.second == 0) continue;
    if (!first) first = &patch;
    joined.join(first->first, patch.first);
  }
}

Joined join_patches(const Mesh& mesh, const Patches& patches, const std::string& name) {
  Joined joined(patches.count);
  Imbalance imbalance;
  for_each_edge(sorted_edge_uses(mesh.triangles), [&](std::span<const EdgeUse> uses) {
    // Two in one patch agree by construction.
    if (uses.size() != 2) balance_edge(mesh, patches, uses, joined, imbalance);
  });
  if (imbalance.edges > 0) {
    reject(
        "{}: more than two triangles meet at {} edge(s) and do not pair up (an inner wall, a fin); "
        "the first is at ({:g}, {:g}, {:g}) m; remove inner faces in a modelling program",
        name, imbalance.edges, imbalance.at.x, imbalance.at.y, imbalance.at.z);
  }
  return joined;
}

struct Part {
  std::vector<std::uint32_t> triangles;
  Aabb box;             // [m]
  double volume = 0.0;  // [m^3], negative if it faces inwards
  double area = 0.0;    // [m^2]

  // Flat to rounding: thinner than a billionth of its width.
  bool is_flat() const { return !(std::abs(volume) > 1e-9 * area * length(box.extent())); }
};

// Six times the volume of the tetrahedron over the triangle, its tip at the origin o.
double six_volumes(const Mesh& mesh, const Triangle& t, const Vec3d& o) {
  return dot(mesh.corner(t, 0) - o, cross(mesh.corner(t, 1) - o, mesh.corner(t, 2) - o));
}

void measure(const Mesh& mesh, Part& part) {
  for (const std::uint32_t t : part.triangles) {
    for (int k = 0; k < 3; ++k) {
      const Vec3d& p = mesh.corner(mesh.triangles[t], k);
      part.box = join(part.box, {p, p});
    }
  }
  const Vec3d o = part.box.center();
  for (const std::uint32_t index : part.triangles) {
    const Triangle& t = mesh.triangles[index];
    const Vec3d& a = mesh.corner(t, 0);
    part.volume += six_volumes(mesh, t, o) / 6.0;
    part.area += 0.5 * length(cross(mesh.corner(t, 1) - a, mesh.corner(t, 2) - a));
  }
}

std::vector<Part> find_parts(const Mesh& mesh, const Patches& patches, Joined joined) {
  std::vector<std::uint32_t> part_of(patches.count, Neighbour::kNone);
  std::vector<Part> parts;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    std::uint32_t& part = part_of[joined.root(patches.of[t])];
    if (part == Neighbour::kNone) {
      part = static_cast<std::uint32_t>(parts.size());
      parts.emplace_back();
    }
    parts[part].triangles.push_back(t);
  }
  for (Part& part : parts) measure(mesh, part);
  return parts;
}

// How often the part winds around p: the sum of solid angles over 4 pi; van Oosterom and Strackee
// 1983: tan(angle / 2) = a . (b x c) / (abc + (a.b) c + (b.c) a + (c.a) b).
double winding_number(const Mesh& mesh, const Part& part, const Vec3d& p) {
  double half_angles = 0.0;
  for (const std::uint32_t t : part.triangles) {
    const Vec3d a = mesh.corner(mesh.triangles[t], 0) - p;
    const Vec3d b = mesh.corner(mesh.triangles[t], 1) - p;
    const Vec3d c = mesh.corner(mesh.triangles[t], 2) - p;
    const double la = length(a), lb = length(b), lc = length(c);
    half_angles += std::atan2(dot(a, cross(b, c)),
                              la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
  }
  return half_angles / (2.0 * std::numbers::pi);
}

// Whether all of `inner` lies inside of `outer`, as a few of its triangles' middles tell: one is
// enough where the two do not cut each other.
bool contains(const Mesh& mesh, const Part& outer, const Part& inner) {
  if (std::abs(outer.volume) <= std::abs(inner.volume)) return false;
  if (!outer.box.contains(inner.box.lo) || !outer.box.contains(inner.box.hi)) return false;
  constexpr std::size_t kSamples = 16;
  const std::size_t step = (inner.triangles.size() + kSamples - 1) / kSamples;
  for (std::size_t k = 0; k < inner.triangles.size(); k += step) {
    const Triangle& t = mesh.triangles[inner.triangles[k]];
    const Vec3d p = (mesh.corner(t, 0) + mesh.corner(t, 1) + mesh.corner(t, 2)) / 3.0;
    if (!(std::abs(winding_number(mesh, outer, p)) > 0.5)) return false;
  }
  return true;
}

void drop_flat_parts(Mesh& mesh, std::vector<Part>& parts) {
  std::vector<Triangle> kept;
  std::erase_if(parts, [](const Part& part) { return part.is_flat(); });
  for (Part& part : parts) {
    for (std::uint32_t& t : part.triangles) {
      kept.push_back(mesh.triangles[t]);
      t = static_cast<std::uint32_t>(kept.size() - 1);
    }
  }
  mesh.triangles = std::move(kept);
}

}  // namespace

Parts orient_parts(Mesh& mesh, const Patches& patches, const std::string& name) {
  std::vector<Part> parts = find_parts(mesh, patches, join_patches(mesh, patches, name));
  Parts report;
  report.flat = static_cast<std::size_t>(
      std::count_if(parts.begin(), parts.end(), [](const Part& p) { return p.is_flat(); }));
  if (report.flat > 0) drop_flat_parts(mesh, parts);
  report.count = parts.size();

  // Material, hollow, material, ... from the outside in.
  std::vector<const Part*> wrong;
  double volume = 0.0;
  for (const Part& part : parts) {
    const auto around = std::count_if(parts.begin(), parts.end(), [&](const Part& other) {
      return &other != &part && contains(mesh, other, part);
    });
    const bool is_hollow = around % 2 == 1;
    if ((part.volume < 0.0) != is_hollow) wrong.push_back(&part);
    volume += is_hollow ? -std::abs(part.volume) : std::abs(part.volume);
  }
  if (!(volume > 0.0)) {
    reject("{}: encloses no volume; a solid needs a closed surface with an inside, not a sheet",
           name);
  }
  report.turned = wrong.size();
  for (const Part* part : wrong) {
    for (const std::uint32_t t : part->triangles) turn(mesh.triangles[t]);
  }
  return report;
}

double signed_volume(const Mesh& mesh) {
  Aabb box;
  for (const Vec3d& p : mesh.vertices) box = join(box, {p, p});
  double six = 0.0;
  for (const Triangle& t : mesh.triangles) six += six_volumes(mesh, t, box.center());
  return six / 6.0;
}

}  // namespace barchan
