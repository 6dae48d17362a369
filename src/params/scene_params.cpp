#include "params/scene_params.h"

namespace barchan {

template <>
const ParamTable& table_of<SceneParams>() {
  using P = SceneParams;
  static const ParamTable table{
      "",
      "The whole scene. SI units, degrees, y up.",
      {
          text("title", &P::title, "One line about the shot."),
          choice("solver", &P::solver, {"ballistic", "flip", "pbf", "granular-sph", "dem"},
                 "The method that moves the particles."),
          number("duration", &P::duration, "s", between(0, 1e6), "Simulated time."),
          number("fps", &P::fps, "1/s", above_to(0, 1e5),
                 "Frames written a second; chooses when frames are written, not how steps are "
                 "taken."),
          number("resolution", &P::resolution, "m", between(1e-6, 1e4),
                 "Particle spacing: the one number most users change."),
          optional(vector("gravity", &P::gravity, "m/s^2", between(-1e6, 1e6),
                          "Acceleration of everything; 9.81 downwards where not given.")),
          choice("up", &P::up, {"y", "z"},
                 "The axis that points up: turns the default gravity, the camera and what 'height' "
                 "means. Coordinates are taken and written as given."),
          integer("seed", &P::seed, between(0, 9e18),
                  "Chooses the random numbers; the same seed gives the same bytes."),
      }};
  return table;
}

template <>
const ParamTable& table_of<MaterialParams>() {
  using P = MaterialParams;
  static const ParamTable table{
      "material.NAME",
      "What particles are made of. NAME is yours.",
      {
          choice("preset", &P::preset, {"none", "dry-sand", "wet-sand", "gravel", "water"},
                 "Starts from known values; other keys given beside it win."),
          number("density", &P::density, "kg/m^3", between(1e-3, 1e5),
                 "Bulk density (dem: of the grain's solid)."),
          number("friction_angle", &P::friction_angle, "deg", between(0, 60),
                 "Angle of internal friction; 0 is a fluid."),
          number("cohesion", &P::cohesion, "Pa", between(0, 1e9), "Strength without pressure."),
          number("viscosity", &P::viscosity, "Pa s", between(0, 1e6),
                 "Shear viscosity of a fluid."),
          number("young", &P::young, "Pa", between(1e3, 1e13), "dem: Young's modulus of a grain."),
          number("poisson", &P::poisson, "", between(0, 0.499), "dem: Poisson's ratio of a grain."),
          number("restitution", &P::restitution, "", between(0.01, 1),
                 "dem: rebound speed over impact speed."),
          number("friction", &P::friction, "", between(0, 10),
                 "dem: Coulomb friction between grains."),
          number("rolling_friction", &P::rolling_friction, "", between(0, 10),
                 "dem: resistance of single spheres to rolling."),
          special("grain", ParamKind::grain,
                  "dem: \"sphere\", \"tetrahedron\", \"cube\", or a list of spheres "
                  "{ center = [x, y, z], radius = r }."),
          optional(number_range("radius", &P::radius, "m", between(1e-7, 1e3),
                                "dem: grain radius, or [smallest, largest].")),
          vector("color", &P::color, "", between(0, 1), "Red, green and blue, linear."),
      }};
  return table;
}

template <>
const ParamTable& table_of<FillParams>() {
  using P = FillParams;
  static const ParamTable table{
      "[fill]",
      "A shape full of particles at the start.",
      {
          text("material", &P::material, "Name of a material; the first one where not given."),
          special("shape", ParamKind::shape, "What is filled."),
          vector("velocity", &P::velocity, "m/s", between(-1e5, 1e5), "Velocity at the start."),
          vector("angular_velocity", &P::angular_velocity, "rad/s", between(-1e5, 1e5),
                 "Turning about the middle of the shape at the start."),
          optional(choice(
              "sampling", &P::sampling, {"jittered", "lattice", "covering"},
              "jittered: 2x2x2 particles in each cell of two spacings, moved at random; lattice: "
              "exactly one spacing apart; covering: spheres of one spacing across cover the "
              "surface. Where not given, lattice for pbf and granular-sph, jittered for others.")),
          number("jitter", &P::jitter, "", between(0, 1),
                 "How far a jittered particle may move, as a fraction of the spacing."),
      }};
  return table;
}

const char* default_sampling(const std::string& solver) {
  return solver == "pbf" || solver == "granular-sph" || solver == "dem" ? "lattice" : "jittered";
}

template <>
const ParamTable& table_of<SolidParams>() {
  using P = SolidParams;
  static const ParamTable table{
      "[solid]",
      "An obstacle, a container or a body.",
      {
          name_field("name", &P::name,
                     "For bodies.csv and messages; solid1, solid2 ... by default."),
          special("shape", ParamKind::shape, "What it looks like."),
          boolean("inside_out", &P::inside_out, "A container: the material is inside."),
          number("friction", &P::friction, "", between(0, 10), "Coulomb friction of its surface."),
          number("restitution", &P::restitution, "", between(0, 1),
                 "Rebound speed over impact speed."),
          choice("motion", &P::motion, {"static", "keyframes", "dynamic"},
                 "Stands, follows keyframes, or is moved by what hits it."),
          special("keyframes", ParamKind::keyframes,
                  "List of { time, position, rotation = { axis, angle } }; straight lines and even "
                  "turning between them."),
          number("density", &P::density, "kg/m^3", between(1e-3, 1e5), "Dynamic: its density."),
          vector("velocity", &P::velocity, "m/s", between(-1e5, 1e5),
                 "Dynamic: velocity at the start."),
          vector("angular_velocity", &P::angular_velocity, "rad/s", between(-1e5, 1e5),
                 "Dynamic: turning at the start."),
      }};
  return table;
}

template <>
const ParamTable& table_of<EmitterParams>() {
  using P = EmitterParams;
  static const ParamTable table{
      "[emitter]",
      "Particles are born here.",
      {
          text("material", &P::material, "Name of a material; the first one where not given."),
          special("shape", ParamKind::shape, "Where they are born."),
          number("rate", &P::rate, "kg/s", between(0, 1e9),
                 "Mass a second; at most density x area across the velocity x speed."),
          optional(vector("velocity", &P::velocity, "m/s", between(-1e5, 1e5),
                          "Velocity at birth; must be given.")),
          number("start", &P::start, "s", between(0, 1e6), "When it opens."),
          optional(number("end", &P::end, "s", between(0, 1e6),
                          "When it closes; never, where not given.")),
      }};
  return table;
}

template <>
const ParamTable& table_of<SinkParams>() {
  static const ParamTable table{"[sink]",
                                "Particles that enter are removed.",
                                {special("shape", ParamKind::shape, "Where they vanish.")}};
  return table;
}

template <>
const ParamTable& table_of<ProbeParams>() {
  using P = ProbeParams;
  static const ParamTable table{
      "[probe]",
      "A measurement, one value a frame, in probes/<name>.csv.",
      {
          name_field("name", &P::name, "Name of the file it writes."),
          choice("kind", &P::kind, {"level", "front", "pressure", "flow", "density", "velocity"},
                 "What is measured."),
          optional(vector("at", &P::at, "m", between(-1e6, 1e6),
                          "level, pressure, density, velocity: the point.")),
          optional(choice("axis", &P::axis, {"x", "-x", "y", "-y", "z", "-z"},
                          "front: the direction it runs in; velocity: the component.")),
          optional(vector("from", &P::from, "m", between(-1e6, 1e6),
                          "flow: one corner of a rectangle with level sides.")),
          optional(vector("to", &P::to, "m", between(-1e6, 1e6), "flow: the opposite corner.")),
          optional(vector("normal", &P::normal, "", between(-1e6, 1e6),
                          "flow: across the rectangle; what goes this way counts positive.")),
      }};
  return table;
}

}  // namespace barchan
