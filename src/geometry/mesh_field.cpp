#include "geometry/mesh_field.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <thread>

#include "base/error.h"
#include "compute/parallel.h"
#include "geometry/aabb.h"

namespace barchan {

namespace {

constexpr double kMostTiles = 16.0 * 1024 * 1024;
constexpr double kMostBlocks = 1024.0 * 1024;  // tiles with nodes: 3 GB
constexpr int kTasksAcross = 8;                // the grid is cut into so many parts along each axis

// All nodes of all tiles, by whole numbers: node (0, 0, 0) is the grid's lower corner.
struct Grid {
  Vec3d lo;            // about the field's origin [m]
  double voxel = 0.0;  // [m]
  int tiles[3] = {};

  Vec3d node(int i, int j, int k) const {
    return lo +
           voxel * Vec3d(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k));
  }
};

double area_of(const Mesh& mesh) {
  double sum = 0.0;
  for (const Triangle& t : mesh.triangles) {
    const Vec3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
    sum += 0.5 * length(cross(b - a, c - a));
  }
  return sum;
}

// As fine as asked for, as long as there is room. A surface of area A within w passes about
// (1 + 2 w / H) A / H^2 tiles of edge H; thin rods about their length / H.
Grid grid_over(const Aabb& box, double area, double voxel, double band) {
  const Vec3d size = box.extent();
  Grid grid;
  for (grid.voxel = voxel;; grid.voxel *= 1.05) {
    // One voxel more than the band, so that the band ends within the grid.
    const double margin = std::max(band, kBandVoxels * grid.voxel) + grid.voxel;
    double all = 1.0;
    for (int a = 0; a < 3; ++a) {
      const double tiles = std::ceil((size[a] + 2.0 * margin) / (grid.voxel * kTileVoxels));
      all *= tiles;
      grid.tiles[a] = static_cast<int>(std::min(tiles, kMostTiles));
    }
    const double edge = grid.voxel * kTileVoxels;
    const double blocks =
        (1.0 + 2.0 * margin / edge) * (area / (edge * edge) + (size.x + size.y + size.z) / edge);
    if (all <= kMostTiles && std::min(all, blocks) <= kMostBlocks) break;
  }
  const double half_tile = 0.5 * grid.voxel * kTileVoxels;
  grid.lo = box.center() - half_tile * Vec3d(grid.tiles[0], grid.tiles[1], grid.tiles[2]);
  return grid;
}

// ---- which side

// The sides of all nodes. Lines along x through the nodes meet the triangles; the number of times
// that the surface has been entered, less the times it has been left, tells the side. (Flooding
// from outside would take cavities for solid, and a container is a cavity.)
class Sides {
 public:
  Sides(const Mesh& mesh, const Vec3d& origin, const Grid& grid)
      : grid_(grid),
        rows_(grid.tiles[1] * kTileVoxels + 1),
        layers_(grid.tiles[2] * kTileVoxels + 1),
        first_(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(layers_) + 1, 0) {
    // Twice over the triangles: to count the crossings of each line, then to note them.
    scan(mesh, origin, [&](std::size_t line, double, int) { ++first_[line + 1]; });
    for (std::size_t l = 1; l < first_.size(); ++l) first_[l] += first_[l - 1];
    met_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    scan(mesh, origin, [&](std::size_t line, double x, int way) { met_[next[line]++] = {x, way}; });
    for (std::size_t l = 0; l + 1 < first_.size(); ++l) accumulate(l);
  }

  // Sets the signs of `count` distances, of node (i, j, k) and the ones that follow along x.
  void sign(int i, int j, int k, int count, float* distances) const {
    const std::size_t line = line_of(j, k);
    const Crossing* at = met_.data() + first_[line];
    const Crossing* end = met_.data() + first_[line + 1];
    int round = 0;
    for (int n = 0; n < count; ++n) {
      const double x = grid_.node(i + n, j, k).x;
      for (; at != end && at->x < x; ++at) round = at->round;
      if (round > 0) distances[n] = -distances[n];
    }
  }

 private:
  struct Crossing {
    double x;   // [m]
    int round;  // 1 into the solid, -1 out of it; after accumulate(), the sum so far
  };

  std::size_t line_of(int j, int k) const {
    return static_cast<std::size_t>(k) * static_cast<std::size_t>(rows_) +
           static_cast<std::size_t>(j);
  }

  void accumulate(std::size_t line) {
    const auto begin = met_.begin() + first_[line], end = met_.begin() + first_[line + 1];
    std::sort(begin, end, [](const Crossing& a, const Crossing& b) {
      return a.x != b.x ? a.x < b.x : a.round < b.round;
    });
    int sum = 0;
    for (auto at = begin; at != end; ++at) at->round = sum += at->round;
  }

  template <class Note>
  void scan(const Mesh& mesh, const Vec3d& origin, const Note& note) const {
    for (const Triangle& t : mesh.triangles) scan_triangle(mesh, t, origin, note);
  }

  // Where the edge between two corners is at height z: corners ordered by number, so that both its
  // triangles get the same bits.
  static double edge_at(const Mesh& mesh, std::uint32_t a, std::uint32_t b, double z) {
    if (b < a) std::swap(a, b);
    const Vec3d &p = mesh.vertices[a], &q = mesh.vertices[b];
    return std::fma((z - p.z) / (q.z - p.z), q.y - p.y, p.y);
  }

  // Seen along x, height z meets either none or two edges of a triangle: one goes up and one down.
  // Lines from the lesser y on to below the greater one pass the triangle. Its neighbours begin
  // where it ends, so no line falls between two triangles or meets both. Upwards on the right is
  // counter-clockwise: the triangle faces +x, and a line along +x leaves the solid there.
  template <class Note>
  void scan_triangle(const Mesh& mesh, const Triangle& t, const Vec3d& origin,
                     const Note& note) const {
    const Vec3d &a = mesh.corner(t, 0), &b = mesh.corner(t, 1), &c = mesh.corner(t, 2);
    const Vec3d n = cross(b - a, c - a), base = origin + grid_.lo;
    const double x_lo = std::min({a.x, b.x, c.x}), x_hi = std::max({a.x, b.x, c.x});
    const double z_lo = std::min({a.z, b.z, c.z}), z_hi = std::max({a.z, b.z, c.z});
    // One more at both ends: divided by the voxel, a height that is a layer's may come out beside
    // it.
    const int k_first = std::max(first_at_or_after(z_lo - base.z, layers_) - 1, 0),
              k_end = std::min(first_at_or_after(z_hi - base.z, layers_) + 1, layers_);
    for (int k = k_first; k < k_end; ++k) {
      const double z = base.z + grid_.voxel * k;
      double up = 0.0, down = 0.0;
      int edges = 0;
      for (std::size_t e = 0; e < 3; ++e) {
        const std::uint32_t from = t[e], to = t[(e + 1) % 3];
        const bool from_above = mesh.vertices[from].z > z, to_above = mesh.vertices[to].z > z;
        if (from_above == to_above) continue;
        (to_above ? up : down) = edge_at(mesh, from, to, z);
        ++edges;
      }
      if (edges == 0) continue;
      const int j_first = first_at_or_after(std::min(up, down) - base.y, rows_),
                j_end = first_at_or_after(std::max(up, down) - base.y, rows_);
      for (int j = j_first; j < j_end; ++j) {
        const double y = base.y + grid_.voxel * j;
        const double x = n.x != 0.0 ? a.x - (n.y * (y - a.y) + n.z * (z - a.z)) / n.x : x_lo;
        note(line_of(j, k), std::clamp(x, x_lo, x_hi) - origin.x, up > down ? -1 : 1);
      }
    }
  }

  // The first of `count` nodes that is not before the coordinate [m].
  int first_at_or_after(double coordinate, int count) const {
    const double at = std::ceil(coordinate / grid_.voxel);
    return static_cast<int>(std::clamp(at, 0.0, static_cast<double>(count)));
  }

  const Grid& grid_;
  int rows_, layers_;
  std::vector<std::uint32_t> first_;  // of each line, in met_; and the end
  std::vector<Crossing> met_;
};

// ---- how far

// What the distance to a triangle a, b, c takes, one column a number: loops over many triangles are
// loops over columns, and the compiler makes vectors of them. e = b - a, f = c - a.
enum Column : std::size_t {
  kAx,
  kAy,
  kAz,
  kEx,
  kEy,
  kEz,
  kFx,
  kFy,
  kFz,
  kNx,
  kNy,
  kNz,
  kEe,
  kEf,
  kFf,  // e.e, e.f, f.f
  kPerEe,
  kPerFf,
  kPerGg,  // 1 / of the edges' squares (g = c - b), or 0
  kColumns
};

struct Facets {
  std::array<std::vector<double>, kColumns> column;

  std::size_t size() const { return column[0].size(); }
  void add(const std::array<double, kColumns>& row) {
    for (std::size_t k = 0; k < kColumns; ++k) column[k].push_back(row[k]);
  }
  // The rows `which` of `all`.
  void take(const Facets& all, const std::vector<std::uint32_t>& which) {
    for (std::size_t k = 0; k < kColumns; ++k) {
      column[k].resize(which.size());
      for (std::size_t i = 0; i < which.size(); ++i) column[k][i] = all.column[k][which[i]];
    }
  }
};

std::array<double, kColumns> facet_row(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d e = b - a, f = c - a, g = c - b, n = normalized(cross(e, f));
  const double ee = dot(e, e), ff = dot(f, f), gg = dot(g, g);
  const auto per = [](double square) { return square > 0.0 ? 1.0 / square : 0.0; };
  return {a.x, a.y, a.z, e.x, e.y,       e.z, f.x,     f.y,     f.z,
          n.x, n.y, n.z, ee,  dot(e, f), ff,  per(ee), per(ff), per(gg)};
}

inline double lesser(double a, double b) {
  return a < b ? a : b;
}
// |q - t along|^2 for the t in [0, 1] that makes it least, from |q|^2, q.along, |along|^2 and its
// inverse.
inline double off_segment(double qq, double qa, double aa, double per_aa) {
  const double t = lesser(qa > 0.0 ? qa * per_aa : 0.0, 1.0);
  return qq - t * (2.0 * qa - t * aa);
}

// The squared distance of p to the nearest of the facets. With q = p - a, q's projection is at
// a + v e + w f with
//     v = (ff qe - ef qf) / D,  w = (ee qf - ef qe) / D,  D = ee ff - ef^2.
// In the triangle (v, w >= 0, v + w <= 1) the normal component is the distance; else the nearest
// edge is. A facet of no area (D = 0) is its edges.
double squared_distance(const Facets& facets, const Vec3d& p) {
  const double* n[kColumns];
  for (std::size_t k = 0; k < kColumns; ++k) n[k] = facets.column[k].data();
  const double px = p.x, py = p.y, pz = p.z;
  const std::size_t count = facets.size();
  double least = std::numeric_limits<double>::infinity();
#pragma omp simd reduction(min : least)
  for (std::size_t i = 0; i < count; ++i) {
    const double x = px - n[kAx][i], y = py - n[kAy][i], z = pz - n[kAz][i];
    const double ee = n[kEe][i], ef = n[kEf][i], ff = n[kFf][i];
    const double qq = x * x + y * y + z * z;
    const double qe = x * n[kEx][i] + y * n[kEy][i] + z * n[kEz][i];
    const double qf = x * n[kFx][i] + y * n[kFy][i] + z * n[kFz][i];
    const double off = x * n[kNx][i] + y * n[kNy][i] + z * n[kNz][i];
    const double area = ee * ff - ef * ef, v = ff * qe - ef * qf, w = ee * qf - ef * qe;
    // The third edge, g from b to c: q - e against f - e.
    const double edge_e = off_segment(qq, qe, ee, n[kPerEe][i]);
    const double edge_f = off_segment(qq, qf, ff, n[kPerFf][i]);
    const double edge_g =
        off_segment(qq - 2.0 * qe + ee, qf - qe - ef + ee, ff - 2.0 * ef + ee, n[kPerGg][i]);
    const double edges = lesser(lesser(edge_e, edge_f), edge_g);
    const double slack = lesser(lesser(v, w), area - v - w);
    const double here = area > 0.0 && slack >= 0.0 ? off * off : edges;
    least = here < least ? here : least;
  }
  return least > 0.0 ? least : 0.0;
}

using Candidates = std::vector<std::uint32_t>;

// Memory that is used again and again.
struct Scratch {
  Candidates few;
  Facets facets;
};

// Exact distances of many points: a block of points keeps the triangles that may be nearest to any
// of them, its eighths choose among those, and so on down to few points.
class Nearest {
 public:
  Nearest(const Mesh& mesh, const Vec3d& origin) {
    for (const Triangle& t : mesh.triangles) {
      const Vec3d a = mesh.corner(t, 0) - origin, b = mesh.corner(t, 1) - origin,
                  c = mesh.corner(t, 2) - origin, center = (a + b + c) / 3.0;
      facets_.add(facet_row(a, b, c));
      centers_.push_back(center);
      radii_.push_back(std::sqrt(std::max(
          {length_squared(a - center), length_squared(b - center), length_squared(c - center)})));
    }
  }

  Candidates everything() const {
    Candidates all(facets_.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }

  // Of `from`, what may be nearest to a point within `reach` of c. Centres are on their triangles,
  // so the nearest centre, at u, bounds the distance of c; a point of the block is no farther from
  // the surface than u + reach, and a triangle's points are all at |c - centre| - radius or more.
  void cull(const Candidates& from, const Vec3d& c, double reach, Candidates& to) const {
    double nearest = std::numeric_limits<double>::infinity();
    for (const std::uint32_t f : from) {
      nearest = std::min(nearest, length_squared(c - centers_[f]));
    }
    const double limit = (std::sqrt(nearest) + 2.0 * reach) * (1.0 + 1e-12);
    to.clear();
    for (const std::uint32_t f : from) {
      const double within = limit + radii_[f];
      if (length_squared(c - centers_[f]) <= within * within) to.push_back(f);
    }
  }

  void facets(const Candidates& which, Facets& out) const { out.take(facets_, which); }

  // Of one point [m].
  double distance(const Candidates& among, const Vec3d& p, Scratch& scratch) const {
    cull(among, p, 0.0, scratch.few);
    facets(scratch.few, scratch.facets);
    return std::sqrt(squared_distance(scratch.facets, p));
  }

 private:
  Facets facets_;               // about the field's origin [m]
  std::vector<Vec3d> centers_;  // [m]
  std::vector<double> radii_;   // of spheres about the centres, around the triangles [m]
};

// Whole numbers from lo to below hi, along three axes.
struct Range {
  int lo[3], hi[3];
  int size(int axis) const { return hi[axis] - lo[axis]; }
  int longest() const { return std::max({size(0), size(1), size(2)}); }
};

// The eighth number `part` of a range, or an empty one; ranges of one are not cut.
Range eighth(const Range& all, int part) {
  Range r = all;
  for (int a = 0; a < 3; ++a) {
    const int middle = all.lo[a] + (all.size(a) + 1) / 2;
    ((part >> a & 1) ? r.lo[a] : r.hi[a]) = middle;
  }
  return r;
}
bool is_empty(const Range& r) {
  return r.size(0) <= 0 || r.size(1) <= 0 || r.size(2) <= 0;
}

// What one part of the grid yields: tiles with nodes, one after the other.
struct Baked {
  std::vector<std::size_t> tiles;
  std::vector<float> nodes;  // [m]
  Scratch scratch;
};

class Baker {
 public:
  Baker(const Mesh& mesh, const Vec3d& origin, const Grid& grid, double band,
        std::vector<std::int32_t>& tiles, std::vector<float>& corners)
      : grid_(grid),
        band_(band),
        nearest_(mesh, origin),
        sides_(mesh, origin, grid),
        tiles_(tiles),
        corners_(corners) {
    tiles_.resize(count(0) * count(1) * count(2));
    corners_.resize((count(0) + 1) * (count(1) + 1) * (count(2) + 1));
  }

  // The upper corners of the last tiles belong to tiles that are not there, one more along each
  // axis.
  Range everything() const {
    return {{0, 0, 0}, {grid_.tiles[0] + 1, grid_.tiles[1] + 1, grid_.tiles[2] + 1}};
  }

  Baked bake(const Range& tiles) const {
    Baked out;
    if (!is_empty(tiles)) descend(tiles, nearest_.everything(), out);
    return out;
  }

 private:
  std::size_t count(int axis) const { return static_cast<std::size_t>(grid_.tiles[axis]); }

  // A block of tiles: halved until it is one.
  void descend(const Range& tiles, const Candidates& from, Baked& out) const {
    const int n = kTileVoxels;
    const Vec3d lo = grid_.node(n * tiles.lo[0], n * tiles.lo[1], n * tiles.lo[2]),
                hi = grid_.node(n * tiles.hi[0], n * tiles.hi[1], n * tiles.hi[2]);
    Candidates here;
    nearest_.cull(from, 0.5 * (lo + hi), 0.5 * length(hi - lo), here);
    if (tiles.longest() == 1) {
      bake_tile(tiles.lo, here, out);
      return;
    }
    for (int part = 0; part < 8; ++part) {
      const Range r = eighth(tiles, part);
      if (!is_empty(r)) descend(r, here, out);
    }
  }

  void bake_tile(const int* tile, const Candidates& among, Baked& out) const {
    const int i = tile[0] * kTileVoxels, j = tile[1] * kTileVoxels, k = tile[2] * kTileVoxels;
    auto corner = static_cast<float>(nearest_.distance(among, grid_.node(i, j, k), out.scratch));
    sides_.sign(i, j, k, 1, &corner);
    const auto x = static_cast<std::size_t>(tile[0]), y = static_cast<std::size_t>(tile[1]),
               z = static_cast<std::size_t>(tile[2]);
    corners_[(z * (count(1) + 1) + y) * (count(0) + 1) + x] = corner;
    if (x == count(0) || y == count(1) || z == count(2)) return;

    // Nothing of the band may be farther from the middle than half a diagonal and the band.
    const std::size_t number = (z * count(1) + y) * count(0) + x;
    tiles_[number] = corner < 0.0f ? MeshFieldView::kInside : MeshFieldView::kOutside;
    const double edge = grid_.voxel * kTileVoxels;
    const Vec3d middle = grid_.node(i, j, k) + 0.5 * edge * Vec3d(1.0, 1.0, 1.0);
    if (nearest_.distance(among, middle, out.scratch) > 0.5 * std::sqrt(3.0) * edge + band_) return;

    float nodes[kTileSize];
    descend_nodes({{i, j, k}, {i + kTileNodes, j + kTileNodes, k + kTileNodes}}, tile, among,
                  out.scratch, nodes);
    if (*std::min_element(nodes, nodes + kTileSize) > band_) return;
    for (int row = 0; row < kTileNodes * kTileNodes; ++row) {
      sides_.sign(i, j + row % kTileNodes, k + row / kTileNodes, kTileNodes,
                  nodes + row * kTileNodes);
    }
    out.tiles.push_back(number);
    out.nodes.insert(out.nodes.end(), nodes, nodes + kTileSize);
  }

  // A block of the nodes of a tile: halved until few are left.
  void descend_nodes(const Range& r, const int* tile, const Candidates& from, Scratch& scratch,
                     float* nodes) const {
    const Vec3d lo = grid_.node(r.lo[0], r.lo[1], r.lo[2]),
                hi = grid_.node(r.hi[0] - 1, r.hi[1] - 1, r.hi[2] - 1);
    Candidates here;
    nearest_.cull(from, 0.5 * (lo + hi), 0.5 * length(hi - lo), here);
    if (r.longest() > 3) {
      for (int part = 0; part < 8; ++part) {
        const Range next = eighth(r, part);
        if (!is_empty(next)) descend_nodes(next, tile, here, scratch, nodes);
      }
      return;
    }
    nearest_.facets(here, scratch.facets);
    for (int k = r.lo[2]; k < r.hi[2]; ++k) {
      for (int j = r.lo[1]; j < r.hi[1]; ++j) {
        for (int i = r.lo[0]; i < r.hi[0]; ++i) {
          const int x = i - tile[0] * kTileVoxels, y = j - tile[1] * kTileVoxels,
                    z = k - tile[2] * kTileVoxels;
          nodes[(z * kTileNodes + y) * kTileNodes + x] =
              static_cast<float>(std::sqrt(squared_distance(scratch.facets, grid_.node(i, j, k))));
        }
      }
    }
  }

  const Grid& grid_;
  double band_;  // [m]
  Nearest nearest_;
  Sides sides_;
  std::vector<std::int32_t>& tiles_;
  std::vector<float>& corners_;
};

// The grid cut into kTasksAcross parts an axis; where one part ends depends on the grid alone.
Range task_range(const Range& all, std::size_t task) {
  const int part[3] = {static_cast<int>(task) % kTasksAcross,
                       static_cast<int>(task) / kTasksAcross % kTasksAcross,
                       static_cast<int>(task) / (kTasksAcross * kTasksAcross)};
  Range r{};
  for (int a = 0; a < 3; ++a) {
    r.lo[a] = all.size(a) * part[a] / kTasksAcross;
    r.hi[a] = all.size(a) * (part[a] + 1) / kTasksAcross;
  }
  return r;
}

}  // namespace

MeshField::MeshField(const Mesh& mesh, double voxel, double band) {
  if (!(voxel > 0.0) || !std::isfinite(voxel)) reject("the voxel of a mesh is {} m", voxel);
  Aabb box;
  for (const Triangle& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) box = join(box, {mesh.corner(t, k), mesh.corner(t, k)});
  }
  origin_ = box.center();
  const Grid grid = grid_over({box.lo - origin_, box.hi - origin_}, area_of(mesh), voxel, band);
  const double width = std::max(band, kBandVoxels * grid.voxel);
  view_.lo = Vec3(grid.lo);
  view_.voxel = static_cast<float>(grid.voxel);
  view_.nx = grid.tiles[0], view_.ny = grid.tiles[1], view_.nz = grid.tiles[2];
  // Every point is within half a voxel's diagonal of a node, and the nodes are beyond the band.
  view_.least = static_cast<float>(width - 0.5 * std::sqrt(3.0) * grid.voxel);

  const Baker baker(mesh, origin_, grid, width, tiles_, corners_);
  std::vector<Baked> parts(kTasksAcross * kTasksAcross * kTasksAcross);
  const ThreadPool pool(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  pool.parallel_blocks(parts.size(), [&](std::size_t p) {
    parts[p] = baker.bake(task_range(baker.everything(), p));
  });

  std::size_t blocks = 0;
  for (const Baked& part : parts) blocks += part.tiles.size();
  nodes_.reserve(blocks * kTileSize);
  blocks = 0;
  for (Baked& part : parts) {
    for (const std::size_t tile : part.tiles) tiles_[tile] = static_cast<std::int32_t>(blocks++);
    nodes_.insert(nodes_.end(), part.nodes.begin(), part.nodes.end());
    part = {};
  }
  view_.tiles = tiles_.data();
  view_.nodes = nodes_.data();
  view_.corners = corners_.data();
}

std::size_t MeshField::bytes() const {
  return tiles_.size() * sizeof(std::int32_t) + (nodes_.size() + corners_.size()) * sizeof(float);
}

}  // namespace barchan
