// Parameters of the solvers, a struct each. The tables are in solver_params.cpp.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "params/field.h"

namespace barchan {

struct BallisticParams {
  double dt_max = 0.005;  // longest step [s]
  double cfl = 5.0;       // most spacings a particle moves in a step
};

struct FlipParams {
  std::string transfer = "auto";
  double flip_ratio = 0.98;  // per 1/60 s
  std::string friction = "coupled";
  std::string yield = "slope";
  double cfl = 5.0;             // most cells a particle moves in a step
  double dt_max = 1.0 / 150.0;  // longest step [s]
  double tolerance = 1e-4;      // most that a cell's volume changes in a step, relative
};

struct PbfParams {
  int substeps = 4;  // steps per 1/60 s
  int iterations = 3;
  double tolerance = 0.0;
  int iterations_max = 50;  // where tolerance > 0
  std::string tension = "clamped";
  double cfm = 0.05;             // eps, in units of a surrounded particle's sum |grad C|^2
  double s_corr = 0.1;           // k, in units of its lambda at C = 1
  double s_corr_distance = 0.2;  // |dq| / h
  double vorticity = 0.0;        // eps_v [1/s]
  double xsph = 0.01;            // c, for a step of 1/240 s
};

struct GranularSphParams {
  std::string scheme = "default";
  std::string pressure = "unilateral";
  std::string yield = "slope";
  int iterations_min = 5;
  int iterations_max = 30;
  double tolerance = 0.005;   // largest excess density over the target
  double viscosity = 0.2;     // alpha of Monaghan's, for fluids
  double dt_max = 0.005;      // longest step [s]
  double cfl = 0.4;           // most spacings a particle moves in a step
  double fall = 0.027;        // longest step over sqrt(d / g)
  double bond_limit = 1.0;    // strain rate that breaks no bonds [1/s]
  double bond_strain = 0.05;  // strain beyond it that breaks a bond
  double bond_time = 1.0;     // to heal [s]
};

struct DemParams {
  std::string integrator = "symplectic";
  std::string normal = "hertz-1/2";
  std::string tail = "clamped";
  std::string convention = "contact";
  double reference_speed = 1.0;  // of the blow that has the restitution asked for [m/s]
  double contact_time = std::numeric_limits<double>::quiet_NaN();      // linear [s]
  double normal_stiffness = std::numeric_limits<double>::quiet_NaN();  // k_r
  double normal_damping = std::numeric_limits<double>::quiet_NaN();    // k_d
  std::string shear = "auto";
  double shear_stiffness = 0.8;  // k_t over the normal stiffness
  double shear_viscosity = std::numeric_limits<double>::quiet_NaN();  // k_t over mass [1/s]
  double cohesion_range = 0.1;                                        // over the smaller radius
  double dt = std::numeric_limits<double>::quiet_NaN();               // longest step [s]
  double skin = 0.3;               // over the largest sphere's radius
  std::vector<std::string> cover;  // solids that are covered with spheres, beside dynamic ones
  double cover_radius = std::numeric_limits<double>::quiet_NaN();  // of those spheres [m]
  double cover_rough = 0.0;  // radius of a second layer on static ones, over that
};

struct RigidParams {
  double dt_max = 1.0 / 240.0;  // longest step of bodies in contact [s]
  int iterations = 1000;        // at most
  double rolling_friction = 0.01;
};

}  // namespace barchan
