// The solids at one moment, as the picture needs them: what a ray from the eye meets, and how much
// of the light they keep from a point. Everything is relative to the eye, so that floats do.
#pragma once

#include <utility>
#include <vector>

#include "geometry/sdf.h"
#include "geometry/solid.h"
#include "math/quat.h"
#include "math/vec3.h"
#include "render/camera.h"

namespace barchan {

// How a solid is drawn.
enum class SolidLook {
  body,       // as it is
  container,  // inside out: only the last wall that a ray leaves it by; hides nothing
  plane,      // endless: a ground or wall that fades with the distance
  unseen,     // the eye is in it: one looks through
};

struct TracedSolid {
  SolidLook look = SolidLook::body;
  SdfProgram program;
  float sign = 1.0f;    // of the program's distance where the material may be
  Vec3 origin;          // of the program's frame, from the eye [m]
  Quat orientation;     // program's frame to world
  Vec3 box_lo, box_hi;  // around the shape in the program's frame; may be endless [m]
  Vec3 eye;             // in the program's frame [m]
  std::vector<std::pair<Vec3, Vec3>> edges;  // of a container, to outline it; from the eye [m]
};

struct SolidHit {
  int solid = -1;      // -1: none
  float depth = 0.0f;  // along the view [m]
};

class TracedSolids {
 public:
  // `set` may be null.
  TracedSolids(const SolidSet* set, double time, const Projection& view);

  const std::vector<TracedSolid>& solids() const { return solids_; }

  // What the ray along arm = depth * (1, u, v) in (forward, right, up) meets first before `limit`
  // [m], of the bodies and planes.
  SolidHit trace_front(float u, float v, float limit) const;
  // The farthest wall of the containers that it leaves.
  SolidHit trace_back(float u, float v) const;

  // Unit normal of a solid at a point given from the eye, towards the material's side.
  Vec3 normal(int solid, const Vec3& arm) const;

  // 1: no body is between the point and the light; 0: one is; between: in the half shadow.
  float lit(const Vec3& arm, const Vec3& to_light, float bias) const;

 private:
  bool enter(const TracedSolid& solid, const Vec3& from, const Vec3& way, float& t0,
             float& t1) const;
  float march(const TracedSolid& solid, const Vec3& from, const Vec3& way, float t0,
              float t1) const;

  std::vector<TracedSolid> solids_;
  Vec3 right_, up_, forward_;
  float reach_;      // rays end here [m]
  float precision_;  // surfaces are found to this share of the depth
};

}  // namespace barchan
