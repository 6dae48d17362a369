// Parameters of what comes after the simulation. The tables are in output_params.cpp.
#pragma once

#include <limits>
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

struct SurfaceParams {
  std::string method = "zhu-bridson";
  double voxel = 0.5;           // edge of the sampling [spacings]
  double radius = 2.0;          // how far a particle is felt [spacings]
  int smoothing = 2;            // passes over the sampled field
  bool concavity_fix = true;    // zhu-bridson
  double max_stretch = 4.0;     // anisotropic: longest axis of a kernel over its shortest
  double position_blend = 0.9;  // anisotropic: from a particle's place to its neighbours' mean
  double level =                // blobby
      std::numeric_limits<double>::quiet_NaN();
};

struct RenderParams {
  int width = 960;   // [pixels]
  int height = 540;  // [pixels]
  std::string look = "auto";
  std::string color_by = "speed";
  std::string quality = "preview";
  int samples = 0;        // a pixel; 0: what the quality says
  double shutter = 0.0;   // open for this share of a frame
  double exposure = 0.0;  // [stops]
  double clarity =        // [m]
      std::numeric_limits<double>::quiet_NaN();
  Vec3d sun = unset_vector();  // towards it
  std::string format = "png";
};

// A bright rectangle that faces its target.
struct LightParams {
  Vec3d position = unset_vector();   // of its middle [m]
  Vec3d target = unset_vector();     // [m]
  double width = 1.0, height = 1.0;  // [m]
  Vec3d color{1, 1, 1};
  double strength = 10.0;
};

// Where the camera is at some time; between two of them it moves smoothly.
struct CameraKey {
  double time = 0.0;       // [s]
  Vec3d position, target;  // [m]
};

struct CameraParams {
  Vec3d position = unset_vector();  // [m]
  Vec3d target = unset_vector();    // [m]
  double fov = 35.0;                // vertical angle of view [deg]
  std::vector<CameraKey> keyframes;
  std::string keyframes_toml;
};

}  // namespace barchan
