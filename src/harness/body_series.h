// How a body moves, from bodies.csv and the mass properties in run.json.
#pragma once

#include <string>
#include <vector>

#include "harness/series.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/vec3.h"

namespace barchan {

// run.json: bodies.NAME, at the start of the run, in world axes.
struct BodyMass {
  double mass = 0.0;  // [kg]
  Vec3d center;       // centre of mass [m]
  Mat3d inertia;      // about the centre of mass [kg m^2]
};

struct BodyPath {
  std::vector<double> time;  // [s]
  std::vector<Vec3d> position;
  std::vector<Quatd> orientation;
  std::vector<Vec3d> velocity, angular_velocity;  // [m/s], [rad/s]
};

// Sums over all dynamic bodies: kinetic_energy, potential_energy [J] (0 at the origin), and
// fastest, the greatest speed of a centre of mass [m/s].
const std::vector<std::string>& body_totals();
// What one body adds to them.
Series body_share(const BodyPath& path, const BodyMass& mass, const Vec3d& gravity,
                  const std::string& total);

// The quantities below by name, each with _x, _y and _z.
const std::vector<std::string>& derived_body_columns();

// center            the centre of mass [m], wherever the body's own origin is
// spin              angular velocity in axes that turn with the body and were the world's at the
//                   start [rad/s]
// angular_momentum  about the centre of mass [kg m^2/s]
// `name` is one of derived_body_columns().
Series derived_body_series(const BodyPath& path, const BodyMass& mass, const std::string& name);

}  // namespace barchan
