// Parameters of what comes after the simulation. The tables are in output_params.cpp.
#pragma once

#include <string>
#include <vector>

#include "math/vec3.h"
#include "params/field.h"

namespace barchan {

struct CacheParams {
  int every = 1;
  std::vector<std::string> fields;
  int checkpoint_every = 10;
  int keep = 2;
};

struct SurfaceParams {};

struct RenderParams {
  int width = 960;   // [pixels]
  int height = 540;  // [pixels]
  std::string look = "particles";
};

struct CameraParams {
  Vec3d position = unset_vector();  // [m]
  Vec3d target = unset_vector();    // [m]
  double fov = 35.0;                // vertical angle of view [deg]
};

}  // namespace barchan
