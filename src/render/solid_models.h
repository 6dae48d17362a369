// The solids of a scene as the tracer draws them: bodies as meshes, planes as grounds, containers
// as thin glass with an outline, so that one sees what is inside. Meshes are made once a run.
#pragma once

#include <vector>

#include "compute/parallel.h"
#include "geometry/aabb.h"
#include "geometry/sdf.h"
#include "geometry/solid.h"
#include "render/camera.h"
#include "render/trace_scene.h"

namespace barchan {

// What the picture is about, for all frames of a run.
struct StageView {
  Vec3d origin;           // of the tracer's coordinates [m]
  Vec3d up{0, 1, 0};      // unit
  double distance = 1.0;  // from the eye to what it looks at [m]
  double floor = 0.0;     // where a ground is laid if the scene has none, along `up` [m]
};

class SolidModels {
 public:
  SolidModels(const SolidSet& solids, const StageView& view);

  // Adds all solids, where they are at that time [s], and a ground.
  void place(const SolidSet& solids, double time, const Vec3d& eye, TraceScene& scene) const;

  // Lays the water's surface onto what it touches, and normals with it. Particles end up to a
  // radius before a wall, and their surface is bumpy there; between such a surface and a wall would
  // be a film of air, which mirrors. It goes up to clear walls, and a little into all others. The
  // mesh is about the view's origin.
  void wet(const SolidSet& solids, double time, double spacing, const ThreadPool& pool,
           TraceMesh& water) const;

 private:
  struct Model {
    enum class Kind { ball, mesh, plane, container, unseen };
    Kind kind = Kind::unseen;
    Vec3d middle;         // of the parts below, in the solid's own frame [m]
    double radius = 0.0;  // of a ball [m]
    TraceMesh mesh;       // about the middle: a body, or a container's panes
    TraceMesh bottom;     // of a container, matte
    TraceMesh edges;      // of a container: rods along them
    Finish finish;
    SdfProgram program;         // about the middle
    std::vector<Ground> faces;  // of a container that is a box: inwards, about the middle
  };
  Model make_model(const Solid& solid, int number, double mesh_voxel) const;
  void make_container(const Solid& solid, Model& model) const;
  bool place_grounds(const SolidSet& solids, double time, const Vec3d& eye,
                     TraceScene& scene) const;
  Ground ground_at(const Vec3d& point, const Vec3d& normal) const;

  StageView view_;
  std::vector<Model> models_;
};

// Normals at the corners of all triangles: means over the triangles around that lean by no more
// than about 40 degrees against this one, so that round things look round and edges stay sharp.
std::vector<Vec3> corner_normals(const TraceMesh& mesh);

}  // namespace barchan
