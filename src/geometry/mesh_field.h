// The signed distance to a closed mesh, baked for kernels.
//
// The mesh's box and a margin are cut into tiles of 8^3 voxels. Tiles that come nearer than the
// band to the surface hold the exact distance at their 9^3 nodes: interpolation needs no neighbour.
// All other tiles hold nothing but their side; what they answer comes from the exact distances at
// the corners of the tiles, a grid eight times as coarse.
//
// In the band: trilinear. Exact for flat parts; too large by about h/(4R) of a voxel h beside
// curves of radius R. Beside kinks of the distance it is too large by more: sqrt(2)/4 = 0.35 voxels
// at right-angled edges, sqrt(2)/2 at knives' edges and sqrt(3)/2 at needles' tips at worst. A
// sphere with a radius of a voxel or more still cannot pass them.
//
// Beyond the band: never farther than the truth. The squared distance minus x^2 is concave, for it
// is the least of (x - y)^2 - x^2 = y^2 - 2xy over all y of the surface, each linear in x.
// Interpolation is a weighted mean of corners whose mean position is x, so by Jensen it is never
// above a concave function. With the interpolant of x^2, which is x^2 + H^2 t (1 - t) an axis
// (H a tile's edge, t the position in it):
//     d(x)^2 >= I[d^2](x) - H^2 sum t (1 - t)
// Outside the grid's box, with q the point of the box nearest to p: p - q points away from all that
// is in the box, so |p - y|^2 >= |p - q|^2 + |q - y|^2, hence d(p)^2 >= |p - q|^2 + d(q)^2.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hd.h"
#include "geometry/distance.h"
#include "geometry/mesh.h"
#include "math/scalar.h"
#include "math/vec3.h"

namespace barchan {

inline constexpr int kTileVoxels = 8;                                   // along an edge of a tile
inline constexpr int kTileNodes = kTileVoxels + 1;                      // likewise
inline constexpr int kTileSize = kTileNodes * kTileNodes * kTileNodes;  // nodes of a tile
inline constexpr double kBandVoxels = 4.0;                              // the least band, in voxels

// Points are relative to the field's origin.
struct MeshFieldView {
  static constexpr std::int32_t kOutside = -1, kInside = -2;  // tiles without nodes

  Vec3 lo;                              // lower corner of the grid [m]
  float voxel = 1.0f;                   // edge [m]
  float least = 0.0f;                   // no point of a tile without nodes is nearer [m]
  int nx = 0, ny = 0, nz = 0;           // tiles along the axes
  const std::int32_t* tiles = nullptr;  // which block of nodes, kOutside or kInside; x fastest
  const float* nodes = nullptr;         // kTileSize a block [m]; x fastest
  const float* corners = nullptr;       // (nx + 1) (ny + 1) (nz + 1) [m]; x fastest
};

namespace mesh_field {

// A cube of nodes with a value each, and the place in it.
struct Cell {
  float v[8];     // number: 1 for upper x, 2 for upper y, 4 for upper z
  float x, y, z;  // 0 to 1
};

HD inline float mix(float a, float b, float t) {
  return a + t * (b - a);
}
HD inline float trilinear(const Cell& c) {
  return mix(mix(mix(c.v[0], c.v[1], c.x), mix(c.v[2], c.v[3], c.x), c.y),
             mix(mix(c.v[4], c.v[5], c.x), mix(c.v[6], c.v[7], c.x), c.y), c.z);
}
// Its derivatives, per edge of the cube.
HD inline Vec3 slope(const Cell& c) {
  const float x00 = c.v[1] - c.v[0], x10 = c.v[3] - c.v[2], x01 = c.v[5] - c.v[4],
              x11 = c.v[7] - c.v[6];
  const float y00 = c.v[2] - c.v[0], y10 = c.v[3] - c.v[1], y01 = c.v[6] - c.v[4],
              y11 = c.v[7] - c.v[5];
  const float z00 = c.v[4] - c.v[0], z10 = c.v[5] - c.v[1], z01 = c.v[6] - c.v[2],
              z11 = c.v[7] - c.v[3];
  return {mix(mix(x00, x10, c.y), mix(x01, x11, c.y), c.z),
          mix(mix(y00, y10, c.x), mix(y01, y11, c.x), c.z),
          mix(mix(z00, z10, c.x), mix(z01, z11, c.x), c.y)};
}

// Which part of `count` parts the coordinate q (0 to count) is in.
HD inline int part_of(float q, int count) {
  const int i = static_cast<int>(q);
  return i < count ? i : count - 1;
}

HD inline Cell gather(const float* from, int across, int layer, float x, float y, float z) {
  return {{from[0], from[1], from[across], from[across + 1], from[layer], from[layer + 1],
           from[layer + across], from[layer + across + 1]},
          x,
          y,
          z};
}

// A point of the grid's box: in voxels from its lower corner, and the tile it is in.
struct Place {
  float x, y, z;
  int i, j, k;
};
HD inline Place place_of(const MeshFieldView& f, const Vec3& q) {
  const float per_voxel = 1.0f / f.voxel;
  Place at;
  at.x = clamp((q.x - f.lo.x) * per_voxel, 0.0f, static_cast<float>(f.nx * kTileVoxels));
  at.y = clamp((q.y - f.lo.y) * per_voxel, 0.0f, static_cast<float>(f.ny * kTileVoxels));
  at.z = clamp((q.z - f.lo.z) * per_voxel, 0.0f, static_cast<float>(f.nz * kTileVoxels));
  at.i = part_of(at.x * (1.0f / kTileVoxels), f.nx);
  at.j = part_of(at.y * (1.0f / kTileVoxels), f.ny);
  at.k = part_of(at.z * (1.0f / kTileVoxels), f.nz);
  return at;
}

HD inline Cell coarse_cell(const MeshFieldView& f, const Place& at) {
  const int across = f.nx + 1;
  const std::size_t layer = static_cast<std::size_t>(across) * static_cast<std::size_t>(f.ny + 1);
  const float* first = f.corners + layer * static_cast<std::size_t>(at.k) +
                       static_cast<std::size_t>(across * at.j + at.i);
  const float per_tile = 1.0f / kTileVoxels;
  return gather(first, across, static_cast<int>(layer), at.x * per_tile - static_cast<float>(at.i),
                at.y * per_tile - static_cast<float>(at.j),
                at.z * per_tile - static_cast<float>(at.k));
}

HD inline Cell fine_cell(const MeshFieldView& f, std::int32_t block, const Place& at) {
  const float x = at.x - static_cast<float>(at.i * kTileVoxels),
              y = at.y - static_cast<float>(at.j * kTileVoxels),
              z = at.z - static_cast<float>(at.k * kTileVoxels);
  const int i = part_of(x, kTileVoxels), j = part_of(y, kTileVoxels), k = part_of(z, kTileVoxels);
  const float* first = f.nodes + static_cast<std::size_t>(block) * kTileSize +
                       static_cast<std::size_t>((k * kTileNodes + j) * kTileNodes + i);
  return gather(first, kTileNodes, kTileNodes * kTileNodes, x - static_cast<float>(i),
                y - static_cast<float>(j), z - static_cast<float>(k));
}

// The bound of the head comment in a tile without nodes; a little less for rounding [m].
HD inline float bound_beyond_band(const MeshFieldView& f, const Cell& c) {
  Cell squares = c;
  for (float& v : squares.v) v *= v;
  const float edge = f.voxel * kTileVoxels;
  const float bulge = c.x * (1.0f - c.x) + c.y * (1.0f - c.y) + c.z * (1.0f - c.z);
  const float squared = trilinear(squares) - edge * edge * bulge;
  return 0.9999f * max(std::sqrt(max(squared, 0.0f)), f.least);
}

HD inline std::int32_t block_at(const MeshFieldView& f, const Place& at) {
  const std::size_t row = static_cast<std::size_t>(at.k) * static_cast<std::size_t>(f.ny) +
                          static_cast<std::size_t>(at.j);
  return f.tiles[row * static_cast<std::size_t>(f.nx) + static_cast<std::size_t>(at.i)];
}

// In the grid's box.
HD inline float number_within(const MeshFieldView& f, const Place& at) {
  const std::int32_t block = block_at(f, at);
  if (block >= 0) return trilinear(fine_cell(f, block, at));
  const float bound = bound_beyond_band(f, coarse_cell(f, at));
  return block == MeshFieldView::kInside ? -bound : bound;
}

// The direction of a slope, or that of the tile's corners where it has none (in the middle of
// walls), or any.
HD inline Vec3 direction(const Vec3& slope_here, const MeshFieldView& f, const Place& at) {
  const float size = length(slope_here);
  if (size > 1e-6f * f.voxel) return slope_here / size;
  return normalized(slope(coarse_cell(f, at)), Vec3(0.0f, 1.0f, 0.0f));
}

HD inline Distance sample_within(const MeshFieldView& f, const Place& at) {
  const std::int32_t block = block_at(f, at);
  if (block >= 0) {
    const Cell fine = fine_cell(f, block, at);
    return {trilinear(fine), direction(slope(fine), f, at)};
  }
  const Cell coarse = coarse_cell(f, at);
  const float bound = bound_beyond_band(f, coarse);
  return {block == MeshFieldView::kInside ? -bound : bound, direction(slope(coarse), f, at)};
}

// From the grid's box to p: 0 for a point of it [m].
HD inline Vec3 beyond_grid(const MeshFieldView& f, const Vec3& p) {
  const float edge = f.voxel * kTileVoxels;
  const Vec3 hi = f.lo + edge * Vec3(static_cast<float>(f.nx), static_cast<float>(f.ny),
                                     static_cast<float>(f.nz));
  return p - min(max(p, f.lo), hi);
}

}  // namespace mesh_field

// The distance at a point given from the field's origin.
HD inline Distance sample(const MeshFieldView& f, const Vec3& p) {
  const Distance at_box = mesh_field::sample_within(f, mesh_field::place_of(f, p));
  const Vec3 beyond = mesh_field::beyond_grid(f, p);
  const float away2 = length_squared(beyond);
  if (!(away2 > 0.0f)) return at_box;
  return {std::sqrt(away2 + at_box.d * at_box.d),
          normalized(beyond + at_box.d * at_box.gradient, at_box.gradient)};
}
// The number alone.
HD inline float sample_number(const MeshFieldView& f, const Vec3& p) {
  const float at_box = mesh_field::number_within(f, mesh_field::place_of(f, p));
  const float away2 = length_squared(mesh_field::beyond_grid(f, p));
  return away2 > 0.0f ? std::sqrt(away2 + at_box * at_box) : at_box;
}

// The arrays behind a view, on the host.
class MeshField {
 public:
  // Of a closed, oriented mesh. Voxels are of `voxel` [m], or larger where there would be more than
  // 16 M tiles or about a million with nodes; the band is `band` [m], or kBandVoxels where that is
  // more. The same for any number of threads.
  MeshField(const Mesh& mesh, double voxel, double band);
  MeshField(const MeshField&) = delete;
  MeshField& operator=(const MeshField&) = delete;

  // What kernels on the host use; valid as long as the field is.
  const MeshFieldView& view() const { return view_; }
  const Vec3d& origin() const { return origin_; }  // in the mesh's frame [m]

  const std::vector<std::int32_t>& tiles() const { return tiles_; }
  const std::vector<float>& nodes() const { return nodes_; }
  const std::vector<float>& corners() const { return corners_; }
  std::size_t bytes() const;

 private:
  Vec3d origin_;  // [m]
  MeshFieldView view_;
  std::vector<std::int32_t> tiles_;
  std::vector<float> nodes_;    // [m]
  std::vector<float> corners_;  // [m]
};

}  // namespace barchan
