#include "harness/body_series.h"

namespace barchan {

namespace {

double component(const Vec3d& v, char axis) {
  return axis == 'x' ? v.x : axis == 'y' ? v.y : v.z;
}

}  // namespace

const std::vector<std::string>& derived_body_columns() {
  static const std::vector<std::string> names = {
      "center_x",           "center_y",           "center_z",          "spin_x", "spin_y", "spin_z",
      "angular_momentum_x", "angular_momentum_y", "angular_momentum_z"};
  return names;
}

const std::vector<std::string>& body_totals() {
  static const std::vector<std::string> names = {"kinetic_energy", "potential_energy", "fastest"};
  return names;
}

Series body_share(const BodyPath& path, const BodyMass& mass, const Vec3d& gravity,
                  const std::string& total) {
  Series series{path.time, {}};
  for (std::size_t i = 0; i < path.time.size(); ++i) {
    // As below: omega . L = omega' . I0 omega'. The body's own origin is its centre of mass.
    const Quatd turn = path.orientation[i] * conjugate(path.orientation[0]);
    const Vec3d spin = inverse_rotate(turn, path.angular_velocity[i]), v = path.velocity[i];
    const double kinetic = 0.5 * (mass.mass * dot(v, v) + dot(spin, mass.inertia * spin));
    const double potential = -mass.mass * dot(gravity, path.position[i]);
    series.value.push_back(total == "kinetic_energy"     ? kinetic
                           : total == "potential_energy" ? potential
                                                         : length(v));
  }
  return series;
}

Series derived_body_series(const BodyPath& path, const BodyMass& mass, const std::string& name) {
  const std::string quantity = name.substr(0, name.size() - 2);
  Series series;
  for (std::size_t i = 0; i < path.time.size(); ++i) {
    // Q turns the body from its first orientation to the present one. With I0 the inertia and c0
    // the centre of mass at the start, both in world axes, and p the body's origin:
    //   c = p + Q (c0 - p0),   omega' = Q^T omega,   L = I omega = Q I0 Q^T omega = Q (I0 omega')
    const Quatd turn = path.orientation[i] * conjugate(path.orientation[0]);
    const Vec3d spin = inverse_rotate(turn, path.angular_velocity[i]);
    Vec3d value;
    if (quantity == "center") {
      value = path.position[i] + rotate(turn, mass.center - path.position[0]);
    } else if (quantity == "spin") {
      value = spin;
    } else {
      value = rotate(turn, mass.inertia * spin);
    }
    series.time.push_back(path.time[i]);
    series.value.push_back(component(value, name.back()));
  }
  return series;
}

}  // namespace barchan
