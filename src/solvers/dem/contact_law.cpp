#include "solvers/dem/contact_law.h"

#include <algorithm>
#include <limits>

#include "base/units.h"
#include "geometry/covering.h"

namespace barchan::dem {

namespace {

constexpr double kLongest = 200.0;  // of a blow, in its own unit of time

double power_a(Normal law, double x) {
  if (law == Normal::hertz_half) return std::sqrt(x);
  if (law == Normal::hertz_quarter) return std::sqrt(std::sqrt(x));
  return 1.0;
}
double power_b(Normal law, double x) {
  return law == Normal::linear ? x : x * std::sqrt(x);
}

struct BlowState {
  double x, v;
};
double force(Normal law, double g, double x, double v) {
  const double in = std::max(x, 0.0);
  return g * power_a(law, in) * v + power_b(law, in);
}
BlowState advance(Normal law, double g, const BlowState& s, double h) {
  const double k1 = -force(law, g, s.x, s.v), v1 = s.v;
  const double v2 = s.v + 0.5 * h * k1, k2 = -force(law, g, s.x + 0.5 * h * v1, v2);
  const double v3 = s.v + 0.5 * h * k2, k3 = -force(law, g, s.x + 0.5 * h * v2, v3);
  const double v4 = s.v + h * k3, k4 = -force(law, g, s.x + h * v3, v4);
  return {s.x + h / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4),
          s.v + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)};
}

Normal law_of(const std::string& name) {
  if (name == "linear") return Normal::linear;
  if (name == "hertz-0") return Normal::hertz_0;
  if (name == "hertz-1/4") return Normal::hertz_quarter;
  return Normal::hertz_half;
}

// k_d of the unit problem's g: with X the overlap scale, X^(b + 1) = m v^2 / k_r, time X / v,
//     g = k_d X^(a + 1) / (m v).
double damping_constant(Normal law, double g, double k_r, double m, double v) {
  if (law == Normal::linear || law == Normal::hertz_quarter) return g * std::sqrt(m * k_r);
  const double X = std::pow(m * v * v / k_r, 0.4);
  return g * m * v / (law == Normal::hertz_half ? X * std::sqrt(X) : X);
}

// `share`: of the stiffness that the pair by itself would have.
PairLaw pair_law(const ContactModel& model, const DemParams& params, const Effective& of,
                 double share, double e) {
  const double v = params.reference_speed;
  const double g = damping_for(model.normal, e, model.clamped);
  double k_r = 4.0 / 3.0 * of.E * std::sqrt(of.R);
  if (model.normal == Normal::linear) {
    const double t_c =
        is_set(params.contact_time) ? params.contact_time : hertz_impact_time(of.m, of.R, of.E, v);
    const double duration = blow(Normal::linear, g, model.clamped).duration;
    k_r = of.m * duration * duration / (t_c * t_c);
  }
  if (is_set(params.normal_stiffness)) k_r = params.normal_stiffness;
  k_r *= share;
  double k_d = damping_constant(model.normal, g, k_r, of.m, v);
  if (is_set(params.normal_damping)) k_d = params.normal_damping;
  PairLaw law;
  law.k_r = static_cast<float>(k_r);
  law.k_d = static_cast<float>(k_d);
  law.inverse_mass = static_cast<float>(1.0 / of.m);
  law.inverse_radius = static_cast<float>(1.0 / of.R);
  return law;
}

// How constants go with the size of the pair: from damping_constant and k_r above.
void set_exponents(const DemParams& params, ContactModel& model) {
  const bool linear = model.normal == Normal::linear;
  if (!is_set(params.normal_stiffness)) {
    model.kr_m = linear ? 1.0f : 0.0f;
    model.kr_R = linear ? 0.0f : 0.5f;
  }
  if (is_set(params.normal_damping)) return;
  const float share = model.normal == Normal::hertz_half ? 0.6f
                      : model.normal == Normal::hertz_0  ? 0.4f
                                                         : 0.5f;
  model.kd_m = 1.0f - share + share * model.kr_m;
  model.kd_R = share * model.kr_R;
}

// Masses and radii of a material's grains: of their spheres the largest counts.
struct GrainSize {
  double mass, radius;
};
GrainSize grain_size(const SolverSetup& setup, std::size_t m, double r) {
  double largest = 0.0;
  for (const GrainSphere& s : setup.grains[m].spheres) largest = std::max(largest, s.radius);
  return {setup.materials[m].density * setup.grains[m].volume * r * r * r, largest * r};
}

}  // namespace

Blow blow(Normal law, double g, bool clamped) {
  constexpr double kStep = 2e-3;
  BlowState now{0.0, 1.0};
  double t = 0.0;
  while (t < kLongest) {
    const BlowState next = advance(law, g, now, kStep);
    // What ends it: the force, or the overlap, going through 0; where, along a straight line.
    const double before = clamped ? force(law, g, now.x, now.v) : now.x;
    const double after = clamped ? force(law, g, next.x, next.v) : next.x;
    if (next.v < 0.0 && after <= 0.0) {
      const double share = before > after ? before / (before - after) : 0.0;
      const double part = std::clamp(share, 0.0, 1.0);
      return {-(now.v + part * (next.v - now.v)), t + part * kStep};
    }
    now = next;
    t += kStep;
  }
  return {0.0, kLongest};
}

double damping_for(Normal law, double e, bool clamped) {
  if (e >= 1.0) return 0.0;
  double low = 0.0, high = 1.0;
  while (blow(law, high, clamped).rebound > e && high < 1e3) high *= 2.0;
  for (int k = 0; k < 40; ++k) {
    const double middle = 0.5 * (low + high);
    (blow(law, middle, clamped).rebound > e ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double hertz_impact_time(double m, double R, double E, double v) {
  const double deepest = std::pow(15.0 * m * v * v / (16.0 * E * std::sqrt(R)), 0.4);
  return 2.943275 * deepest / v;
}

namespace {

// All spheres of a kind are alike: those of a material's lightest grains, or of a part of a
// covering.
struct Kind {
  double mass, radius, modulus;  // [kg], [m], [Pa]; infinite modulus: a solid's
  double restitution, friction, rolling, cohesion;
  double share;  // of its cross-section that a sphere stands for
  bool is_solid() const { return std::isinf(modulus); }
};
double modulus_of(const MaterialParams& material) {
  return material.young / (1.0 - material.poisson * material.poisson);
}
std::vector<Kind> kinds_of(const SolverSetup& setup, const std::vector<CoveredPart>& parts) {
  std::vector<Kind> kinds;
  for (std::size_t m = 0; m < setup.materials.size(); ++m) {
    const MaterialParams& of = setup.materials[m];
    const GrainSize size = grain_size(setup, m, setup.grain_radii(m).first);
    kinds.push_back({size.mass, size.radius, modulus_of(of), of.restitution, of.friction,
                     of.rolling_friction, of.cohesion, 1.0});
  }
  // A body is the stiffer, the more spheres cover it, unless each counts for its share of the area
  // only: sqrt(3)/2 s^2 at the spacing s (geometry/covering.h), over its cross-section.
  const double share = 0.5 * std::sqrt(3.0) * kCoveringSpacing * kCoveringSpacing / kPi;
  for (const CoveredPart& part : parts) {
    const Solid& solid = setup.solids[part.solid];
    kinds.push_back({part.mass, part.radius, std::numeric_limits<double>::infinity(),
                     solid.restitution, solid.friction, 0.0, 0.0, share});
  }
  return kinds;
}

// Two kinds of spheres; or, where B's radius is infinite, one at a solid's distance. Solids are
// rigid: against a grain, the grain alone gives way. Two of them give way as the stiffest material
// of the scene would.
void add_law(const ContactModel& model, const DemParams& params, const Kind& A, const Kind& B,
             double stiffest, Laws& laws) {
  Effective of{1.0 / (1.0 / A.mass + 1.0 / B.mass), 1.0 / (1.0 / A.radius + 1.0 / B.radius),
               1.0 / (1.0 / A.modulus + 1.0 / B.modulus)};
  if (std::isinf(of.E)) of.E = stiffest;
  PairLaw law;
  if (std::isfinite(of.m)) {  // else neither moves, and they never meet
    const auto mean = [&](double a, double b) {
      return A.is_solid() == B.is_solid() ? std::sqrt(a * b) : (A.is_solid() ? a : b);
    };
    const double e = std::max(mean(A.restitution, B.restitution), 0.01);
    law = pair_law(model, params, of, A.share * B.share, e);
    law.friction = static_cast<float>(mean(A.friction, B.friction));
    law.rolling =
        static_cast<float>(A.is_solid() || B.is_solid() ? std::max(A.rolling, B.rolling)
                                                        : std::sqrt(A.rolling * B.rolling));
    law.cohesion = static_cast<float>(std::sqrt(A.cohesion * B.cohesion));
  }
  laws.pairs.push_back(law);
  laws.effective.push_back(of);
}

}  // namespace

Laws make_laws(const SolverSetup& setup, const DemParams& params,
               const std::vector<CoveredPart>& parts) {
  Laws laws;
  ContactModel& model = laws.model;
  model.normal = law_of(params.normal);
  model.clamped = params.tail == "clamped";
  model.full_radii = model.at_instant = params.convention == "lammps";
  model.shear = static_cast<float>(params.shear_stiffness);
  model.cohesion_range = static_cast<float>(params.cohesion_range);
  set_exponents(params, model);

  double stiffest = 0.0;
  for (std::size_t a = 0; a < setup.materials.size(); ++a) {
    const auto [smallest, largest] = setup.grain_radii(a);
    if (smallest != largest) model.alike = false;
    for (const GrainSphere& s : setup.grains[a].spheres) {
      if (s.radius != setup.grains[a].spheres.front().radius) model.alike = false;
    }
    stiffest = std::max(stiffest, modulus_of(setup.materials[a]));
  }
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<Kind> kinds = kinds_of(setup, parts);
  for (const Kind& one : kinds) {
    for (const Kind& other : kinds) add_law(model, params, one, other, stiffest, laws);
    for (const Solid& solid : setup.solids) {
      const Kind wall{infinite,       infinite, infinite, solid.restitution,
                      solid.friction, 0.0,      0.0,      1.0};
      add_law(model, params, one, wall, stiffest, laws);
    }
  }
  for (const PairLaw& law : laws.pairs) {
    model.rolls = model.rolls || law.rolling > 0.0f;
    model.coheres = model.coheres || law.cohesion > 0.0f;
  }
  return laws;
}

}  // namespace barchan::dem
