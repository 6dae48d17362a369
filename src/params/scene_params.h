// Parameters of a scene that every solver shares. The tables are in scene_params.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "math/vec3.h"
#include "params/field.h"

namespace barchan {

inline constexpr double kNotGiven = std::numeric_limits<double>::quiet_NaN();

struct SceneParams {
  std::string title;
  std::string solver = "ballistic";
  double duration = 2.0;           // [s]
  double fps = 24.0;               // frames a second [1/s]
  double resolution = 0.02;        // particle spacing [m]
  Vec3d gravity = unset_vector();  // [m/s^2]; 9.81 downwards where not given
  std::string up = "y";
  std::uint64_t seed = 1;
};

struct MaterialParams {
  std::string preset = "none";
  double density = 1000.0;      // [kg/m^3] bulk (dem: of the grain's solid)
  double friction_angle = 0.0;  // [deg] 0 = a fluid
  double cohesion = 0.0;        // [Pa]
  double viscosity = 0.0;       // [Pa s]
  double young = 1e7;           // [Pa]
  double poisson = 0.3;
  double restitution = 0.5;
  double friction = 0.5;
  double rolling_friction = 0.0;
  std::vector<double> radius;  // [m] of a grain: one, or smallest and largest
  Vec3d color = {0.35, 0.55, 0.85};
};

struct FillParams {
  std::string material;
  Vec3d velocity;          // [m/s]
  Vec3d angular_velocity;  // [rad/s] about the shape's centre
  std::string sampling;    // "" until the scene is read: see default_sampling
  double jitter = 0.5;     // fraction of the spacing
};

// The sampling of a fill that does not say. Solvers whose densities are calibrated on the lattice
// would find a jittered fill crowded in places, and blow it apart.
const char* default_sampling(const std::string& solver);

struct SolidParams {
  std::string name;
  bool inside_out = false;
  double friction = 0.5;
  double restitution = 0.2;
  std::string motion = "static";
  double density = 1000.0;  // [kg/m^3]
  Vec3d velocity;           // [m/s]
  Vec3d angular_velocity;   // [rad/s]
};

struct EmitterParams {
  std::string material;
  double rate = 1.0;                // [kg/s]
  Vec3d velocity = unset_vector();  // [m/s]
  double start = 0.0;               // [s]
  double end = kNotGiven;           // [s]; never where not given
};

struct SinkParams {};

struct ProbeParams {
  std::string name;
  std::string kind = "level";
  Vec3d at = unset_vector();    // [m]
  std::string axis;             // "" where not given
  Vec3d from = unset_vector();  // [m]
  Vec3d to = unset_vector();    // [m]
  Vec3d normal = unset_vector();
};

}  // namespace barchan
