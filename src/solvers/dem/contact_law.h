// Force between two spheres that touch (Bell, Yu & Mucha 2005, section 3), one contact at a time,
// for both devices; and its constants, from what a scene says about materials.
//
//   symbol   meaning                                                      unit      equation
//   x, xdot  overlap and its rate                                         m, m/s    (10)
//   f_n      k_d x^a xdot + k_r x^b, positive where spheres push          N         (11)-(16)
//   m, R, E  effective mass, radius, modulus of the pair                  kg, m, Pa (14)
//   e, v     restitution asked for, and the speed it is asked for at      -, m/s
//   xi       tangential displacement since the first touch                m         (19)
//   k_t      stiffness (19) or viscosity (18) of shear                    N/m, kg/s
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/hd.h"
#include "compute/eight.h"
#include "compute/view.h"
#include "math/scalar.h"
#include "math/vec3.h"
#include "params/solver_params.h"
#include "sim/solver.h"
#include "solvers/dem/covered.h"

namespace barchan::dem {

enum class Normal : std::int32_t { linear, hertz_0, hertz_quarter, hertz_half };

// One pair of materials, or a material at a solid, for spheres of reference size.
struct PairLaw {
  float k_r = 0.0f, k_d = 0.0f;
  float inverse_mass = 1.0f, inverse_radius = 1.0f;  // of the reference pair [1/kg], [1/m]
  float friction = 0.0f, rolling = 0.0f;
  float cohesion = 0.0f;  // pull-off force over the smaller sphere's cross-section [Pa]
};

// What all contacts of a scene share.
struct ContactModel {
  Normal normal = Normal::hertz_half;
  bool clamped = true;          // a contact without cohesion never pulls
  bool full_radii = false;      // velocities are those of full radii
  bool at_instant = false;      // and those of the moment that the force is asked for
  bool alike = true;            // grains of a material are of one size: k_r and k_d as they are
  bool rolls = false;           // some pair has rolling resistance
  bool coheres = false;         // some pair has cohesion
  float shear = 0.0f;           // (19): tangential over normal stiffness
  float viscous = 0.0f;         // (18): k_t over effective mass [1/s]
  float rolling = 0.0f;         // rolling resistance, likewise
  float cohesion_range = 0.0f;  // over the smaller radius: how far a bridge reaches
  // k_r goes with m^kr_m R^kr_R, k_d with m^kd_m R^kd_R.
  float kr_m = 0.0f, kr_R = 0.0f, kd_m = 0.0f, kd_R = 0.0f;
};

// The arithmetic is a template over the number: one contact (float), or eight (Eight) on a CPU.
template <class T>
HD_INLINE inline T spread(float a) {
  return T{} + a;
}
template <class T, class Which>
HD_INLINE inline T choose_number(const Which& which, const T& a, const T& b) {
  return barchan::choose(which, a, b);
}
template <class T, class Which>
HD_INLINE inline Vector3<T> choose(const Which& which, const Vector3<T>& a, const Vector3<T>& b) {
  return {choose_number(which, a.x, b.x), choose_number(which, a.y, b.y),
          choose_number(which, a.z, b.z)};
}

inline constexpr float kTiny = 1e-30f;  // instead of 0, to divide by

// What a pair's materials say.
template <class T>
struct Strength {
  T k_r, k_d;
};

template <class T>
struct NormalForce {
  T push;       // f_n, what friction is limited by [N]
  T stiffness;  // b k_r x^(b - 1) [N/m]
  T damping;    // k_d x^a [kg/s]
};
// xdot is that of the middle of the step. Its end, where the force counts, is later by dt/2 of the
// force itself: f = k_r x^b + c (xdot - dt/2 f/m), c = k_d x^a, is solved for f. With xdot as it
// is, restitution would be off by 4 % at twenty steps a contact.
template <class T>
HD_INLINE inline NormalForce<T> normal_force(const ContactModel& model, const Strength<T>& k,
                                             const T& x, const T& xdot, const T& m, float dt) {
  const bool linear = model.normal == Normal::linear;
  const float ahead = model.at_instant ? 0.0f : 0.5f * dt;
  const T root = square_root(x);
  T damping = k.k_d;
  if (model.normal == Normal::hertz_half) damping *= root;
  if (model.normal == Normal::hertz_quarter) damping *= square_root(root);
  if (linear || model.normal == Normal::hertz_0) {
    // Damping that begins and ends at full strength. The contact began, or will end, x / |xdot|
    // from here; there the force counts for that long and half a step, not for two halves.
    const T way = absolute(xdot) * (2.0f * ahead);
    damping *= choose_number(x < way, x / max(way, kTiny) + 0.5f, spread<T>(1.0f));
  }
  const T elastic = linear ? k.k_r : k.k_r * root;
  const T f = (elastic * x + damping * xdot) / (1.0f + ahead * damping / m);
  return {model.clamped ? max(f, 0.0f) : f, linear ? elastic : 1.5f * elastic, damping};
}

// (18): -min(mu |f_n|, k_t |Vt|) Vt / |Vt|.
template <class T>
HD_INLINE inline Vector3<T> viscous_shear(const T& most, const T& k_t, const Vector3<T>& Vt) {
  const T drag = k_t * square_root(dot(Vt, Vt));
  return -choose_number(drag > most, k_t * most / max(drag, kTiny), k_t) * Vt;
}

// (19): -(k_t xi + c_t Vt), no more than `most`. xi follows the pair's tangent plane, grows by the
// way of this step, and is cut back to what `most` allows: where it slides, the spring keeps what
// makes up the limit together with the damper.
template <class T>
HD_INLINE inline Vector3<T> history_shear(const T& most, const T& k_t, const T& c_t,
                                          const Vector3<T>& N, const Vector3<T>& Vt, float dt,
                                          Vector3<T>& xi) {
  const T before = dot(xi, xi);
  xi -= dot(xi, N) * N;
  xi *= square_root(before / max(dot(xi, xi), kTiny));
  xi += spread<T>(dt) * Vt;
  const Vector3<T> f = -(k_t * xi + c_t * Vt);
  const T size2 = dot(f, f);
  const auto slides = size2 > most * most;
  const T share = most / square_root(max(size2, kTiny));
  const Vector3<T> limited = choose(slides, share * f, f);
  const T soft = -1.0f / max(k_t, kTiny);
  xi = choose(slides, soft * (limited + c_t * Vt), xi);
  return limited;
}

// What a contact does to its first sphere.
template <class T>
struct Push {
  Vector3<T> force;  // [N]
  Vector3<T> turn;   // torque over the arm of the contact [N]
  Vector3<T> roll;   // rolling resistance [N m]
  T stored;          // energy of its springs [J]
};

// Constants of the pair in question.
template <class T>
struct Constants {
  Strength<T> k;
  T friction, rolling;
};

// Two that overlap by x > 0, with effective mass m and radius R; elsewhere the result is of no use.
template <bool kHistory, class T>
HD_INLINE inline Push<T> push_of(const ContactModel& model, const Constants<T>& law, const T& m,
                                 const T& R, const Vector3<T>& N, const Vector3<T>& V, const T& x,
                                 const Vector3<T>& spin, float dt, Vector3<T>& xi) {
  const T xdot = dot(V, N);
  const Vector3<T> Vt = V - xdot * N;
  const NormalForce<T> normal = normal_force(model, law.k, x, xdot, m, dt);
  const T size = absolute(normal.push), most = law.friction * size;
  // x^(b + 1) k_r / (b + 1) of the normal spring: b k_r x^(b - 1) is its stiffness
  const float share = model.normal == Normal::linear ? 0.5f : 4.0f / 15.0f;
  T stored = share * normal.stiffness * x * x;
  Vector3<T> ft;
  if constexpr (kHistory) {
    const T k_t = model.shear * normal.stiffness, c_t = 0.5f * normal.damping;
    ft = history_shear<T>(most, k_t, c_t, N, Vt, dt, xi);
    stored += 0.5f * k_t * dot(xi, xi);
  } else {
    ft = viscous_shear<T>(most, model.viscous * m, Vt);
  }
  Push<T> push{ft - normal.push * N, cross(N, ft), {}, stored};
  if (model.rolls) {
    const T limit = law.rolling * R * size, viscosity = (0.4f * model.rolling) * m * R * R;
    push.roll = viscous_shear<T>(limit, viscosity, spin);
  }
  return push;
}

// ---- for the host

// A blow in units of its own: x'' = -(g x^a x' + x^b) from x = 0 at speed 1, until the force
// vanishes (clamped) or the spheres part.
struct Blow {
  double rebound = 0.0;   // speed afterwards
  double duration = 0.0;  // of the contact
};
Blow blow(Normal law, double g, bool clamped);

// g such that the rebound is e.
double damping_for(Normal law, double e, bool clamped);

// Duration of a Hertz impact without damping [s]: 2.943275 d_max / v,
// d_max = (15 m v^2 / (16 E sqrt(R)))^(2/5).
double hertz_impact_time(double m, double R, double E, double v);

// Effective values of one pair.
struct Effective {
  double m, R, E;
};

// Constants for kinds of spheres (materials, then parts of coverings) among themselves, then for
// kinds at solids: laws[a * (kinds + solids) + b].
struct Laws {
  ContactModel model;
  std::vector<PairLaw> pairs;
  std::vector<Effective> effective;  // of the lightest grains, in the same order
};
Laws make_laws(const SolverSetup& setup, const DemParams& params,
               const std::vector<CoveredPart>& parts);

}  // namespace barchan::dem
