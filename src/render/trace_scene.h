// One moment of the world as the tracer sees it: surfaces with their finishes, grounds, light. All
// places are relative to `origin`, so that floats do, wherever the scene is.
#pragma once

#include <memory>
#include <vector>

#include "math/vec3.h"
#include "render/caustics.h"
#include "render/lighting.h"
#include "render/ray_scene.h"

namespace barchan {

// How a rough surface looks (Oren & Nayar 1994).
struct Finish {
  Vec3 color{0.5f, 0.5f, 0.5f};  // the share of light that it sends on
  float roughness = 0.0f;        // tilt of its facets [rad]
  std::vector<Vec3> colors{};    // one a part, instead of `color`
  bool broken = false;           // balls look like broken grains, each in its own way
};

// An endless plane, seen from the side of its normal, paved with square tiles where tile > 0. It
// turns into the sky's rim with the distance from `middle`.
struct Ground {
  Vec3 normal{0, 1, 0};
  float level = 0.0f;  // dot(normal, x) of its points [m]
  Vec3 color{0.5f, 0.5f, 0.5f};
  float roughness = 0.0f;         // [rad]
  float tile = 0.0f;              // edge [m]
  Vec3 axis[2];                   // along the tiles' edges
  float start[2] = {0.0f, 0.0f};  // of the pattern along the axes [m]
  Vec3 middle;                    // [m]
  float fade = 0.0f;              // begins to fade at this distance [m]; 0: never

  std::shared_ptr<const CausticMap> caustics;  // sunlight through water; may be null

  Vec3 color_at(const Vec3& point, float width) const;  // width: of what the pixel covers [m]
  float faded(const Vec3& point) const;                 // 0 to 1
};

struct TraceScene {
  RayScene solid;                    // what is rough
  std::vector<Finish> solid_finish;  // one an object of `solid`
  RayScene water;                    // smooth borders of a clear liquid, closed, facing outwards
  RayScene panes;                    // thin clear glass, for the eye alone: it throws no shadow
  std::vector<Ground> grounds;
  Lighting light;
  float water_index = 1.333f;  // refractive index
  Vec3 absorption;             // of the water, Beer's law [1/m]
  float size = 1.0f;  // of what is in view [m]; rays start a tiny share of it off their surface

  Vec3 water_lo, water_hi;  // a box around the water [m]

  void add_solid(int object, Finish finish);
  void build();
  // Maps of the sunlight that comes to the grounds through water; after build().
  void cast_caustics(int photons, const ThreadPool& pool);
};

}  // namespace barchan
