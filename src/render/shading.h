// What colour a pixel of the preview has, once it is known what is to be seen there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "math/vec3.h"
#include "render/camera.h"
#include "render/color_map.h"
#include "render/discs.h"
#include "render/light_map.h"
#include "render/traced_solids.h"

namespace barchan {

// What is to be seen, pixel by pixel of the enlarged picture.
struct SeenBuffer {
  int width = 0, height = 0;     // [pixels]
  std::vector<float> nearness;   // 1 / depth; 0: nothing [1/m]
  std::vector<std::int32_t> id;  // a particle's number, kNothing, or kFirstSolid - solid
  std::vector<float> ambient;    // share of the surrounding light that gets there
};
inline constexpr std::int32_t kNothing = -1;
inline constexpr std::int32_t kFirstSolid = -2;

struct ShadingInput {
  const SeenBuffer* seen = nullptr;
  std::span<const Disc> discs;     // the particles on the picture
  std::span<const Vec3> velocity;  // [m/s]; or none
  float radius = 0.0f;             // of a particle [m]
  float per_speed = 0.0f;          // 1 / speed at the top of the colour scale [s/m]
  const ColorMap* colors = nullptr;
  const TracedSolids* solids = nullptr;
  const LightMap* key = nullptr;  // the main light
  const LightMap* sky = nullptr;  // straight from above
  Vec3 to_key;                    // unit
  Vec3d upward;                   // unit
  Vec3d target;                   // [m]
};

class Shader {
 public:
  Shader(const ShadingInput& in, const Projection& view);

  // Linear light.
  Vec3 operator()(int x, int y) const;

  // Of the backdrop, which only depends on the height in the picture.
  Vec3 background(int y) const;

 private:
  // A place on some surface, from the eye.
  struct Place {
    Vec3 arm;       // [m]
    Vec3 normal;    // unit
    float depth;    // [m]
    float ambient;  // share
    float bias;     // how far from it nothing shades it [m]
  };

  // Two axes in a plane, and where the eye is along them modulo the spacing of the grid.
  struct Grid {
    Vec3 axis[2];
    float start[2] = {0.0f, 0.0f};  // [m]
  };

  Grid make_grid(const TracedSolid& solid) const;
  float lit_by_key(const Place& at) const;
  Vec3 lit(const Vec3& albedo, const Place& at) const;
  Vec3 particle(int x, int y, std::int32_t id, Place at) const;
  Vec3 body(const Place& at) const;
  Vec3 container(const Place& at, const Vec3& behind) const;
  Vec3 plane(int solid, const Place& at, const Vec3& behind) const;
  float grid(int solid, const Place& at) const;

  ShadingInput in_;
  Projection view_;
  Vec3 right_, up_, forward_, upward_;
  Vec3 target_;              // from the eye [m]
  float distance_;           // to the target [m]
  float grid_spacing_;       // [m]
  std::vector<Grid> grids_;  // one a solid; used by planes
};

}  // namespace barchan
