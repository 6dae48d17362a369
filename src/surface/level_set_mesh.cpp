#include "surface/level_set_mesh.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <span>

#include "base/error.h"
#include "surface/cube_cases.h"

namespace barchan {

namespace {

// A block with one sample before and two behind it: what gradients on all its edges need.
constexpr int kLow = 1, kHigh = 2, kWide = kBlock + kLow + kHigh;
constexpr int kStep[3] = {1, kWide, kWide* kWide};  // to the next sample along an axis

int padded_at(int x, int y, int z) {
  return ((z + kLow) * kWide + y + kLow) * kWide + x + kLow;
}

// Vertices come as near to a corner as this and no nearer, so that no triangle is without area
// [voxels].
constexpr float kLeastPart = 1.0f / 256.0f;

// A block that the surface passes.
struct Patch {
  std::size_t slot;
  std::uint32_t first_vertex, vertices;  // all, and the first in the mesh
  std::uint32_t first_triangle, triangles;
  std::uint32_t on_edges;               // vertices before those in the middle of cubes
  std::uint8_t cut[kBlockSamples];      // edges from each sample with a vertex, a bit each
  std::uint8_t cube[kBlockSamples];     // the case of the cube above each sample
  std::uint16_t vertex[kBlockSamples];  // of the first of these edges, in the patch
  std::uint16_t brick_end[8];           // vertices up to the end of each brick
};

// Calls f(x, y, z) for the samples of a block, brick by brick, so that vertices near each other
// have numbers near each other.
template <class F, class End>
void for_each_sample(const F& f, const End& end_of_brick) {
  for (int n = 0; n < 8; ++n) {
    const Index3 first = kBrick * brick_in_block(n);
    for (int z = first.z; z < first.z + kBrick; ++z) {
      for (int y = first.y; y < first.y + kBrick; ++y) {
        for (int x = first.x; x < first.x + kBrick; ++x) f(x, y, z);
      }
    }
    end_of_brick(n);
  }
}

// Signs of a block's samples and those behind it, a bit each, by rows along x: the corners of a
// cube are two bits of four rows.
class Signs {
 public:
  explicit Signs(const float* phi) {
    for (int z = 0; z <= kBlock; ++z) {
      for (int y = 0; y <= kBlock; ++y) {
        const float* row = phi + padded_at(0, y, z);
        unsigned bits = 0;
        for (int x = 0; x <= kBlock; ++x) bits |= static_cast<unsigned>(row[x] < 0.0f) << x;
        row_[z][y] = bits;
      }
    }
  }
  // Which corners of the cube above a sample are inside.
  unsigned corners(int x, int y, int z) const {
    const auto two = [&](unsigned row) { return (row >> x) & 3u; };
    return two(row_[z][y]) | two(row_[z][y + 1]) << 2 | two(row_[z + 1][y]) << 4 |
           two(row_[z + 1][y + 1]) << 6;
  }

 private:
  unsigned row_[kBlock + 1][kBlock + 1];
};

class Mesher {
 public:
  Mesher(const LevelSet& set, Cpu& device, SurfaceMesh& mesh)
      : set_(set), device_(device), mesh_(mesh) {}

  std::vector<BrickVertices> run() {
    find_patches();
    number();
    device_.pool().parallel_blocks(patch_count_, [&](std::size_t p) {
      float phi[kWide * kWide * kWide];
      set_.load<kLow, kHigh>(patches_[p].slot, phi);
      put_vertices(patches_[p], phi);
    });
    device_.pool().parallel_blocks(patch_count_,
                                   [&](std::size_t p) { put_triangles(patches_[p]); });
    return by_brick();
  }

 private:
  static constexpr std::uint32_t kNoPatch = 0xffffffffu;

  std::span<Patch> patches() const { return {patches_.get(), patch_count_}; }

  // Finds the blocks that the surface may pass: they and those behind them have both signs. Counts
  // what comes from them.
  void find_patches() {
    constexpr std::uint8_t kSomeInside = 1, kSomeOutside = 2;
    std::vector<std::uint8_t> signs(set_.stored.size());
    device_.pool().parallel_blocks(set_.stored.size(), [&](std::size_t s) {
      const float* values = set_.of(s);
      int inside = 0;
      for (int k = 0; k < kBlockSamples; ++k) inside += values[k] < 0.0f ? 1 : 0;
      signs[s] = static_cast<std::uint8_t>((inside > 0 ? kSomeInside : 0) |
                                           (inside < kBlockSamples ? kSomeOutside : 0));
    });
    patch_of_.assign(set_.stored.size(), kNoPatch);
    for (std::size_t s = 0; s < set_.stored.size(); ++s) {
      unsigned seen = 0;
      for (const std::size_t n :
           {13, 14, 16, 17, 22, 23, 25, 26}) {  // itself and up along each axis
        const std::uint32_t other = set_.around[s][n];
        seen |= other == LevelSet::kOutside  ? kSomeOutside
                : other == LevelSet::kInside ? kSomeInside
                                             : signs[other];
      }
      if (seen == (kSomeInside | kSomeOutside)) patch_of_[s] = patch_count_++;
    }
    patches_ = std::make_unique_for_overwrite<Patch[]>(patch_count_);
    device_.pool().parallel_blocks(set_.stored.size(), [&](std::size_t s) {
      if (patch_of_[s] == kNoPatch) return;
      patches_[patch_of_[s]].slot = s;
      count_patch(patches_[patch_of_[s]]);
    });
  }

  void count_patch(Patch& patch) const {
    const auto& cases = cube_cases();
    float phi[kWide * kWide * kWide];
    set_.load<kLow, kHigh>(patch.slot, phi);
    const Signs signs(phi);
    std::uint32_t vertices = 0, triangles = 0, middles = 0;
    for_each_sample(
        [&](int x, int y, int z) {
          const int at = sample_in_block(x, y, z);
          const unsigned corners = signs.corners(x, y, z);
          const unsigned here = (corners & 1) != 0 ? 0xffu : 0u, differ = corners ^ here;
          const unsigned cut =
              ((differ >> 1) & 1) | ((differ >> 2) & 1) << 1 | ((differ >> 4) & 1) << 2;
          patch.cut[at] = static_cast<std::uint8_t>(cut);
          patch.cube[at] = static_cast<std::uint8_t>(corners);
          patch.vertex[at] = static_cast<std::uint16_t>(vertices);
          vertices += static_cast<std::uint32_t>(std::popcount(cut));
          triangles += static_cast<std::uint32_t>(cases[corners].triangles);
          middles += static_cast<std::uint32_t>(cases[corners].middles);
        },
        [&](int n) { patch.brick_end[n] = static_cast<std::uint16_t>(vertices); });
    patch.on_edges = vertices;
    patch.vertices = vertices + middles;
    patch.triangles = triangles;
  }

  void number() {
    std::uint64_t vertices = 0, triangles = 0;
    for (Patch& patch : patches()) {
      patch.first_vertex = static_cast<std::uint32_t>(vertices);
      patch.first_triangle = static_cast<std::uint32_t>(triangles);
      vertices += patch.vertices;
      triangles += patch.triangles;
    }
    constexpr std::uint64_t kMost = 0xffffffffu;
    if (vertices > kMost || triangles > kMost) {
      fail("the surface has {} triangles, more than 2^32; use a larger voxel", triangles);
    }
    mesh_.vertices.resize(vertices);
    mesh_.normals.resize(vertices);
    mesh_.triangles.resize(triangles);
  }

  Vec3 position(Index3 block, const Vec3& in_block) const {
    const Index3 first = kBlock * block;
    return Vec3(set_.voxel * (Vec3d(first.x, first.y, first.z) + Vec3d(in_block)));
  }

  static Vec3 gradient(const float* c) {
    return {c[kStep[0]] - c[-kStep[0]], c[kStep[1]] - c[-kStep[1]], c[kStep[2]] - c[-kStep[2]]};
  }

  void put_vertices(const Patch& patch, const float* phi) {
    std::uint32_t v = patch.first_vertex;
    for_each_sample(
        [&](int x, int y, int z) {
          const unsigned cut = patch.cut[sample_in_block(x, y, z)];
          if (cut == 0) return;
          const float* c = phi + padded_at(x, y, z);
          for (int axis = 0; axis < 3; ++axis) {
            if (((cut >> axis) & 1) == 0) continue;
            const float* d = c + kStep[axis];
            const float t = std::clamp(*c / (*c - *d), kLeastPart, 1.0f - kLeastPart);
            Vec3 p(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
            p[axis] += t;
            // Outwards along the edge where the field is the same all around
            Vec3 along;
            along[axis] = *c < 0.0f ? 1.0f : -1.0f;
            mesh_.vertices[v] = position(set_.stored[patch.slot], p);
            mesh_.normals[v] = normalized((1.0f - t) * gradient(c) + t * gradient(d), along);
            ++v;
          }
        },
        [](int) {});
  }

  // The vertex on an edge of the cube above sample (x, y, z), which may belong to another block.
  std::uint32_t vertex_on(const Patch& patch, int x, int y, int z, int edge) const {
    const CubeEdge& e = edges_[static_cast<std::size_t>(edge)];
    x += e.from[0], y += e.from[1], z += e.from[2];
    const Patch* owner = &patch;
    if (((x | y | z) & kBlock) != 0) {
      const auto n = static_cast<std::size_t>(13 + (x >> 3) + 3 * (y >> 3) + 9 * (z >> 3));
      owner = &patches_[patch_of_[set_.around[patch.slot][n]]];
    }
    const int at = sample_in_block(x & 7, y & 7, z & 7);
    const unsigned before = owner->cut[at] & ((1u << e.axis) - 1u);
    return owner->first_vertex + owner->vertex[at] +
           static_cast<std::uint32_t>(std::popcount(before));
  }

  void put_triangles(const Patch& patch) {
    const auto& cases = cube_cases();
    Triangle* out = mesh_.triangles.data() + patch.first_triangle;
    std::uint32_t middle = patch.first_vertex + patch.on_edges;
    for_each_sample(
        [&](int x, int y, int z) {
          for (const CubeLoop& loop : cases[patch.cube[sample_in_block(x, y, z)]].loops) {
            std::uint32_t v[12];
            const std::size_t n = loop.edges.size();
            for (std::size_t k = 0; k < n; ++k) v[k] = vertex_on(patch, x, y, z, loop.edges[k]);
            if (loop.has_middle) {
              put_middle(v, n, middle);
              for (std::size_t k = 0; k < n; ++k) *out++ = {v[k], v[(k + 1) % n], middle};
              ++middle;
            } else {
              for (std::size_t k = 2; k < n; ++k) *out++ = {v[0], v[k - 1], v[k]};
            }
          }
        },
        [](int) {});
  }
  void put_middle(const std::uint32_t* v, std::size_t n, std::uint32_t middle) {
    Vec3d p;
    Vec3 normal;
    for (std::size_t k = 0; k < n; ++k) {
      p += Vec3d(mesh_.vertices[v[k]]);
      normal += mesh_.normals[v[k]];
    }
    mesh_.vertices[middle] = Vec3(p / static_cast<double>(n));
    mesh_.normals[middle] = normalized(normal, mesh_.normals[v[0]]);
  }

  // Vertices in the middle of a block's cubes go to its bricks by where they are: few, so by
  // search.
  std::vector<BrickVertices> by_brick() const {
    std::vector<BrickVertices> bricks;
    for (const Patch& patch : patches()) {
      const Index3 first = 2 * set_.stored[patch.slot];
      std::uint32_t begin = 0;
      for (int n = 0; n < 8; ++n) {
        const std::uint32_t end = patch.brick_end[n];
        if (end > begin) {
          bricks.push_back(
              {first + brick_in_block(n), patch.first_vertex + begin, patch.first_vertex + end});
        }
        begin = end;
      }
      for (std::uint32_t v = patch.on_edges; v < patch.vertices; ++v) {
        const std::uint32_t vertex = patch.first_vertex + v;
        const Vec3d p = Vec3d(mesh_.vertices[vertex]) / (kBrick * set_.voxel);
        const auto low = [](double u) { return static_cast<std::int32_t>(std::floor(u)); };
        bricks.push_back({{low(p.x), low(p.y), low(p.z)}, vertex, vertex + 1});
      }
    }
    return bricks;
  }

  const LevelSet& set_;
  Cpu& device_;
  SurfaceMesh& mesh_;
  std::unique_ptr<Patch[]> patches_;
  std::uint32_t patch_count_ = 0;
  std::vector<std::uint32_t> patch_of_;  // of each slot, or kNoPatch
  std::array<CubeEdge, 12> edges_ = cube_edges();
};

}  // namespace

std::vector<BrickVertices> mesh_level_set(const LevelSet& level_set, Cpu& device,
                                          SurfaceMesh& mesh) {
  const HostTimer timer(device.profiler(), "surface: mesh");
  return Mesher(level_set, device, mesh).run();
}

}  // namespace barchan
