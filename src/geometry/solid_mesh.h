// A closed triangle mesh as a solid: how far its surface is, and whether a point is inside, exactly
// and in double precision. Host only.
//
// This is what checks containment (deeper_than, farther_than in shape.h), so it shares nothing with
// the distances that kernels use (mesh_field.h) but the triangles.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "geometry/aabb.h"
#include "geometry/mesh.h"
#include "math/vec3.h"

namespace barchan {

class MeshField;

class SolidMesh {
 public:
  // Rejects what is no solid: no triangles, corners that are missing or not finite, edges that do
  // not meet another triangle's edge the other way round, and a volume that is not above 0 (the
  // triangles are oriented inwards).
  explicit SolidMesh(Mesh mesh);
  ~SolidMesh();

  const Mesh& mesh() const { return mesh_; }
  const Aabb& box() const { return box_; }
  double volume() const { return volume_; }  // [m^3]; cavities do not count

  // The nearest point of the surface, and the triangle it is on (-1: none within `bound` [m]).
  struct Nearest {
    double distance;  // [m]
    Vec3d point;      // [m]
    std::int64_t triangle;
  };
  Nearest nearest(const Vec3d& p, double bound = std::numeric_limits<double>::infinity()) const;
  // Some point of the surface is nearer than `bound` [m].
  bool nearer_than(const Vec3d& p, double bound) const;

  // How often the surface goes round the point: 1 inside, 0 outside and in cavities, more where
  // parts overlap. An exact integer: rays that meet edges or corners are no special case.
  int winding(const Vec3d& p) const;
  bool inside(const Vec3d& p) const { return winding(p) > 0; }

  // The distances for kernels, baked when first asked for; later calls with the same numbers share
  // them. See MeshField.
  std::shared_ptr<const MeshField> field(double voxel, double band) const;

 private:
  // A box of the tree. Leaves hold triangles [first, first + count) of order_; of other nodes the
  // left child is the next node and `first` is the right one.
  struct Box {
    Aabb around;
    std::uint32_t first = 0, count = 0;
  };
  void build(std::uint32_t begin, std::uint32_t end, const std::vector<Vec3d>& centers);

  Mesh mesh_;
  Aabb box_;
  double volume_ = 0.0;
  std::vector<std::uint32_t> order_;  // triangles, neighbours near to each other
  std::vector<Box> boxes_;

  struct Baked {
    double voxel, band;  // [m]
    std::shared_ptr<const MeshField> field;
  };
  mutable std::mutex baking_;
  mutable std::vector<Baked> baked_;
};

}  // namespace barchan
