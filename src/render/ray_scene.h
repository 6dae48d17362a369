// What rays meet: balls and triangle meshes in one tree. The only door to Embree.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "geometry/mesh.h"
#include "math/vec3.h"

namespace barchan {

struct Ray {
  Vec3 from;                                             // [m]
  Vec3 way;                                              // unit
  float reach = std::numeric_limits<float>::infinity();  // [m]
};

struct RayHit {
  int object = -1;                                          // as add_ gave it; -1: nothing
  std::uint32_t part = 0;                                   // the ball or triangle
  float distance = std::numeric_limits<float>::infinity();  // [m]
  Vec3 normal;                                              // of the surface, outwards, unit
  Vec3 smooth;  // the same for shading, interpolated between corners where these have normals
};

struct Ball {
  Vec3 center;         // [m]
  float radius = 0.f;  // [m]
};

// A mesh about the tracer's origin. Normals: none, one a vertex, or three a triangle.
struct TraceMesh {
  std::vector<Vec3> vertices;  // [m]
  std::vector<Vec3> normals;   // unit
  std::vector<Triangle> triangles;
};

class RayScene {
 public:
  // Rejects where the program was built without the renderer.
  RayScene();
  ~RayScene();
  RayScene(RayScene&&) noexcept;
  RayScene& operator=(RayScene&&) noexcept;

  // Each returns the number of the new object: 0, 1, 2 ...
  int add_balls(std::span<const Ball> balls);
  int add_mesh(TraceMesh mesh);

  // After the last add_ and before the first ray. By one thread, so that the tree, and with it
  // which of two things at the same distance comes first, does not depend on how many there are.
  void build();

  bool empty() const { return objects_ == 0; }
  RayHit first(const Ray& ray) const;
  bool blocked(const Ray& ray) const;

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
  int objects_ = 0;
};

}  // namespace barchan
