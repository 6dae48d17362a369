#include "geometry/tessellate.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/VolumeToMesh.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compute/parallel.h"
#include "geometry/sdf.h"
#include "geometry/solid_mesh.h"

namespace barchan {

namespace {

constexpr int kLeaf = 8;  // samples along an edge of OpenVDB's leaves
constexpr double kMostCells = 0x1p33;

using Tree = openvdb::FloatTree;
using Leaf = Tree::LeafNodeType;

// Where samples are: sample (0, 0, 0) is at `lo`. Distances are in cells.
struct Lattice {
  Vec3d lo;       // [m]
  double cell;    // [m]
  int blocks[3];  // of kLeaf^3 samples
};

Lattice lattice_over(const Aabb& box, double cell) {
  // One cell and a bit around the box: samples that lie on flat faces would blur them.
  Lattice lattice{box.lo - 1.382 * cell * Vec3d(1.0, 1.0, 1.0), cell, {}};
  const Vec3d samples = box.extent() / cell + Vec3d(5.0, 5.0, 5.0);
  if (!(samples.x * samples.y * samples.z < kMostCells)) {
    reject("a shape of {} x {} x {} m has more than 2^33 cells of {} m; use larger cells",
           box.extent().x, box.extent().y, box.extent().z, cell);
  }
  for (int a = 0; a < 3; ++a) {
    lattice.blocks[a] = static_cast<int>(std::ceil(samples[a] / kLeaf));
  }
  return lattice;
}

class Sampler {
 public:
  Sampler(const Shape& shape, const Lattice& lattice)
      : lattice_(lattice),
        origin_(natural_origin(shape)),
        program_(compile(shape, origin_, 0.5 * lattice.cell)) {}

  // In cells, at a place given in samples.
  float operator()(double i, double j, double k) const {
    const Vec3d p = lattice_.lo + lattice_.cell * Vec3d(i, j, k);
    return static_cast<float>(distance_only(program_.begin(), program_.end(), Vec3(p - origin_)) /
                              lattice_.cell);
  }

  void fill(Leaf& leaf) const {
    const openvdb::Coord first = leaf.origin();
    for (openvdb::Index n = 0; n < Leaf::SIZE; ++n) {
      const openvdb::Coord at = first + Leaf::offsetToLocalCoord(n);
      leaf.setValueOn(n, (*this)(at.x(), at.y(), at.z()));
    }
  }

 private:
  Lattice lattice_;
  Vec3d origin_;  // [m]
  SdfProgram program_;
};

// Leaves where the surface may be; elsewhere one number stands for a whole leaf: the distance
// changes by at most one metre a metre, so beyond half a diagonal all samples are on one side.
void sample(const Shape& shape, const Lattice& lattice, openvdb::FloatGrid& grid) {
  const Sampler sampler(shape, lattice);
  const double half = 0.5 * (kLeaf - 1), reach = 1.001 * half * std::sqrt(3.0) + 0.1;
  std::vector<Leaf*> leaves;
  for (int k = 0; k < lattice.blocks[2]; ++k) {
    for (int j = 0; j < lattice.blocks[1]; ++j) {
      for (int i = 0; i < lattice.blocks[0]; ++i) {
        const openvdb::Coord first(i * kLeaf, j * kLeaf, k * kLeaf);
        const float d = sampler(first.x() + half, first.y() + half, first.z() + half);
        if (std::abs(d) < reach) {
          leaves.push_back(grid.tree().touchLeaf(first));
        } else if (d < 0.0f) {
          grid.tree().addTile(1, first, -grid.background(), false);
        }
      }
    }
  }
  const ThreadPool pool(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  pool.parallel_blocks(leaves.size(), [&](std::size_t n) { sampler.fill(*leaves[n]); });
}

// Quads become two triangles, along the shorter diagonal.
Mesh triangles_of(const std::vector<openvdb::Vec3s>& points,
                  const std::vector<openvdb::Vec4I>& quads, const Lattice& lattice) {
  Mesh mesh;
  mesh.vertices.reserve(points.size());
  for (const openvdb::Vec3s& p : points) {
    mesh.vertices.push_back(lattice.lo + lattice.cell * Vec3d(p.x(), p.y(), p.z()));
  }
  mesh.triangles.reserve(2 * quads.size());
  for (const openvdb::Vec4I& q : quads) {
    const Vec3d &a = mesh.vertices[q[0]], &b = mesh.vertices[q[1]], &c = mesh.vertices[q[2]],
                &d = mesh.vertices[q[3]];
    if (length_squared(c - a) <= length_squared(d - b)) {
      mesh.triangles.push_back({q[0], q[1], q[2]});
      mesh.triangles.push_back({q[0], q[2], q[3]});
    } else {
      mesh.triangles.push_back({q[0], q[1], q[3]});
      mesh.triangles.push_back({q[1], q[2], q[3]});
    }
  }
  return mesh;
}

Mesh placed_mesh(const Shape& shape) {
  Mesh mesh = shape.mesh->mesh();
  for (Vec3d& v : mesh.vertices) v = shape.placement.to_world(v);
  return mesh;
}

}  // namespace

Mesh tessellate(const Shape& shape, double cell) {
  const std::string fault = describe_fault(shape);
  if (!fault.empty()) reject("{}", fault);
  if (!(cell > 0.0) || !std::isfinite(cell)) reject("a cell of {} m cannot be sampled", cell);
  if (shape.kind == Shape::Kind::mesh) return placed_mesh(shape);
  const Aabb box = bounds(shape);
  if (!box.is_bounded()) {
    reject("the shape has no end, so it has no closed surface; intersect it with a box");
  }
  const Lattice lattice = lattice_over(box, cell);
  const openvdb::FloatGrid::Ptr grid = openvdb::FloatGrid::create(kLeaf);
  sample(shape, lattice, *grid);
  std::vector<openvdb::Vec3s> points;
  std::vector<openvdb::Vec4I> quads;
  openvdb::tools::volumeToMesh(*grid, points, quads, 0.0);
  return triangles_of(points, quads, lattice);
}

}  // namespace barchan
