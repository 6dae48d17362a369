#include "params/solver_params.h"

namespace barchan {

template <>
const ParamTable& table_of<BallisticParams>() {
  using P = BallisticParams;
  static const ParamTable table{
      "ballistic",
      "Particles that fly under gravity and bounce or slide on solids.",
      {
          number("dt_max", &P::dt_max, "s", above_to(0, 1), "Longest step."),
          number("cfl", &P::cfl, "", above_to(0, 1e6),
                 "Most spacings that a particle moves in one step."),
      }};
  return table;
}

template <>
const ParamTable& table_of<FlipParams>() {
  using P = FlipParams;
  static const ParamTable table{
      "flip",
      "PIC/FLIP water and continuum sand (Zhu & Bridson 2005).",
      {
          choice(
              "transfer", &P::transfer, {"auto", "flip", "pic", "apic"},
              "How velocities go from the grid to the particles; auto: apic where there is sand, "
              "otherwise flip."),
          number("flip_ratio", &P::flip_ratio, "", between(0, 1),
                 "Blend of FLIP (1) and PIC (0), per 1/60 s."),
          choice("friction", &P::friction, {"coupled", "lagged", "paper"},
                 "How the friction of sand is solved: coupled: with the pressure, by iteration; "
                 "lagged: the same in one turn, cheaper; paper: cell by cell, with rigid groups."),
          choice("yield", &P::yield, {"slope", "plane-strain", "zhu-bridson"},
                 "Strength of sand under the pressure p. slope: tan(friction_angle) p, slopes rest "
                 "at the friction angle; plane-strain: sin(friction_angle) p, at 19, 27 and 33 "
                 "degrees for 20, 30 and 40; zhu-bridson: as in the paper, at 11, 16 and 20."),
          number("cfl", &P::cfl, "", above_to(0, 5),
                 "Most cells that a particle moves in one step."),
          number("dt_max", &P::dt_max, "s", above_to(0, 1), "Longest step."),
          number("tolerance", &P::tolerance, "", above_to(0, 0.1),
                 "The pressure is solved until no cell's volume changes by more than this share of "
                 "it in a step."),
      }};
  return table;
}

template <>
const ParamTable& table_of<PbfParams>() {
  using P = PbfParams;
  static const ParamTable table{
      "pbf",
      "Position Based Fluids (Macklin & Mueller 2013).",
      {
          integer("substeps", &P::substeps, between(1, 1000), "Steps per 1/60 s."),
          integer("iterations", &P::iterations, between(1, 1000), "Constraint iterations a step."),
          number("tolerance", &P::tolerance, "", between(0, 1),
                 "Iterate until the mean excess density is below this; 0 keeps the count fixed."),
          integer("iterations_max", &P::iterations_max, between(1, 1000),
                  "Most iterations, where tolerance asks for more than `iterations`."),
          choice("tension", &P::tension, {"clamped", "paper"},
                 "Whether particles at the surface may pull each other."),
          number("cfm", &P::cfm, "", between(0, 1e3),
                 "Constraint force mixing, relative to a particle with all its neighbours: softens "
                 "the fluid where neighbours are few."),
          number("s_corr", &P::s_corr, "", between(0, 10),
                 "Artificial pressure against clumps (k in the paper), relative to that of a fluid "
                 "of twice its density."),
          number("s_corr_distance", &P::s_corr_distance, "", between(0.05, 0.45),
                 "Distance at which that pressure is measured, over the support."),
          number("vorticity", &P::vorticity, "1/s", between(0, 1e3),
                 "Vorticity confinement: gives whirls back what the method takes from them."),
          number("xsph", &P::xsph, "", between(0, 1),
                 "XSPH viscosity: share of the velocity difference to the neighbours that goes in "
                 "1/240 s."),
      }};
  return table;
}

template <>
const ParamTable& table_of<GranularSphParams>() {
  using P = GranularSphParams;
  static const ParamTable table{
      "granular-sph",
      "PCISPH with friction and cohesion (Alduan & Otaduy 2011).",
      {
          choice("scheme", &P::scheme, {"default", "paper"},
                 "default: pressure and friction in turns, from those of the step before; paper: "
                 "both at once, from zero, as printed: softer, and for comparison."),
          choice("pressure", &P::pressure, {"unilateral", "bilateral"},
                 "unilateral: only pushes, what flies apart is not held back; bilateral: also "
                 "pulls."),
          choice("yield", &P::yield, {"slope", "plane-strain", "alduan-otaduy"},
                 "Strength of sand under the pressure p. slope: tan(friction_angle) p, slopes rest "
                 "at the friction angle; plane-strain: sin(friction_angle) p, at 19, 27 and 33 "
                 "degrees for 20, 30 and 40; alduan-otaduy: the paper's bound on each component, "
                 "which depends on the axes, at 16, 22 and 28."),
          integer("iterations_min", &P::iterations_min, between(1, 1000), "Fewest iterations."),
          integer("iterations_max", &P::iterations_max, between(1, 1000), "Most iterations."),
          number("tolerance", &P::tolerance, "", above_to(0, 1),
                 "Iterate until no particle's density is above its target by more than this share "
                 "of the density at rest."),
          number("viscosity", &P::viscosity, "", between(0, 2),
                 "Artificial viscosity of fluids (Monaghan's alpha); sand has none."),
          number("dt_max", &P::dt_max, "s", above_to(0, 1), "Longest step."),
          number("cfl", &P::cfl, "", above_to(0, 1),
                 "Most spacings that a particle moves in one step."),
          number("fall", &P::fall, "", above_to(0, 0.2),
                 "Longest step over sqrt(spacing / gravity). Sand at rest and deep water want "
                 "0.027; splashes bear more."),
          number("bond_limit", &P::bond_limit, "1/s", between(0, 1e6),
                 "Cohesive material: rate of strain that its bonds bear."),
          number("bond_strain", &P::bond_strain, "", above_to(0, 1e6),
                 "Strain at a higher rate that breaks a bond; large: bonds do not break."),
          number("bond_time", &P::bond_time, "s", above_to(0, 1e9),
                 "Time in which broken bonds heal, under pressure and at rest."),
      }};
  return table;
}

template <>
const ParamTable& table_of<DemParams>() {
  using P = DemParams;
  static const ParamTable table{
      "dem",
      "Grains as rigid clusters of spheres (Bell, Yu & Mucha 2005).",
      {
          choice("integrator", &P::integrator, {"symplectic", "rkf45"}, "How steps are taken."),
          choice("normal", &P::normal, {"hertz-1/2", "hertz-1/4", "hertz-0", "linear"},
                 "Normal force. Hertz with damping that goes with the overlap to the power 1/2 "
                 "(restitution falls with the impact's speed), 1/4 (it is constant) or 0 (it "
                 "rises); or a linear spring and damper."),
          choice("tail", &P::tail, {"clamped", "paper"}, "Whether a separating contact may pull."),
          choice("convention", &P::convention, {"contact", "lammps"},
                 "Which velocities a contact sees: contact: those where the spheres touch, at the "
                 "end of the step; lammps: those of their full radii, in the middle of the step, "
                 "as LAMMPS takes them, to compare with it."),
          number("reference_speed", &P::reference_speed, "m/s", above_to(0, 1e4),
                 "Impact speed at which restitution is as asked, where it depends on it."),
          optional(number("contact_time", &P::contact_time, "s", above_to(0, 10),
                          "linear: how long a blow lasts; as long as that of Hertz at "
                          "reference_speed where not given.")),
          optional(number("normal_stiffness", &P::normal_stiffness, "", above_to(0, 1e15),
                          "k_r of all contacts, instead of the one that follows from young [N/m, "
                          "or N/m^1.5 for Hertz].")),
          optional(number("normal_damping", &P::normal_damping, "", between(0, 1e15),
                          "k_d of all contacts, instead of the one that follows from restitution "
                          "[kg/s over the overlap's power].")),
          choice("shear", &P::shear, {"auto", "history", "viscous"},
                 "Friction of contacts: history: a spring since the first touch (eq. 19), which "
                 "lets spheres stand in a heap; viscous: against the sliding (eq. 18), cheaper, "
                 "creeps; auto: viscous where there are compound grains."),
          number("shear_stiffness", &P::shear_stiffness, "", above_to(0, 10),
                 "history: stiffness of that spring over the normal stiffness."),
          optional(number("shear_viscosity", &P::shear_viscosity, "1/s", above_to(0, 1e12),
                          "viscous: k_t of (18) over the effective mass of the pair; as large as "
                          "the step allows where not given, and never larger.")),
          number("cohesion_range", &P::cohesion_range, "", between(0, 1),
                 "How far a cohesive contact reaches beyond the touch, over the smaller radius."),
          optional(number("dt", &P::dt, "s", above_to(0, 1),
                          "Longest step; from the contacts where not given.")),
          number("skin", &P::skin, "", between(0.01, 10),
                 "How much farther than touching the search looks, over the largest sphere's "
                 "radius: more makes searches rarer and lists longer."),
          texts("cover", &P::cover,
                "Names of static and keyframed solids that are covered with spheres, as in the "
                "paper, instead of being met by their distance. Dynamic ones always are."),
          optional(number("cover_radius", &P::cover_radius, "m", above_to(0, 1e3),
                          "Radius of those spheres; that of the largest sphere of a grain where "
                          "not given.")),
          number("cover_rough", &P::cover_rough, "", between(0, 1),
                 "A second layer of smaller spheres on static solids that are covered, half above "
                 "their surface: radius over cover_radius; 0: none."),
      }};
  return table;
}

template <>
const ParamTable& table_of<RigidParams>() {
  using P = RigidParams;
  static const ParamTable table{
      "rigid",
      "Contact between dynamic bodies, and between them and other solids.",
      {
          number("dt_max", &P::dt_max, "s", above_to(0, 0.1),
                 "Longest step that bodies take; fast ones take shorter ones."),
          integer("iterations", &P::iterations, between(1, 10000),
                  "Most rounds over all contacts; they end when velocities no longer change."),
          number("rolling_friction", &P::rolling_friction, "", between(0, 1),
                 "Torque against rolling and spinning over normal force, in units of the body's "
                 "size: what "
                 "brings balls to rest."),
      }};
  return table;
}

}  // namespace barchan
