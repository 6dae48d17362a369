#include "params/output_params.h"

namespace barchan {

template <>
const ParamTable& table_of<CacheParams>() {
  using P = CacheParams;
  static const ParamTable table{
      "cache",
      "What a run writes.",
      {
          integer("every", &P::every, between(1, 1000000), "Writes every n-th frame."),
          words("fields", &P::fields,
                "Fields in the frames beside position, velocity, id and material; all that the "
                "solver offers where not given."),
          integer("checkpoint_every", &P::checkpoint_every, between(1, 1000000),
                  "Frames from one checkpoint to the next."),
          integer("keep", &P::keep, between(1, 1000000), "How many checkpoints are kept."),
      }};
  return table;
}

template <>
const ParamTable& table_of<SurfaceParams>() {
  using P = SurfaceParams;
  static const ParamTable table{
      "surface",
      "Surfaces from particles.",
      {
          choice("method", &P::method, {"zhu-bridson", "anisotropic", "blobby"},
                 "zhu-bridson: distance from the mean of the particles nearby; anisotropic: "
                 "flattened kernels, the smoothest water; blobby: a sum of bumps, the baseline."),
          number("voxel", &P::voxel, "spacings", between(0.05, 2),
                 "Edge of the cubes that the surface is sampled on."),
          number("radius", &P::radius, "spacings", between(1, 8),
                 "How far from itself a particle shapes the surface."),
          integer("smoothing", &P::smoothing, between(0, 32),
                  "Smoothing passes over the samples; they fill dents and never cut."),
          boolean("concavity_fix", &P::concavity_fix,
                  "zhu-bridson: no stray sheets where the surface is hollow."),
          number("max_stretch", &P::max_stretch, "", between(1, 16),
                 "anisotropic: the longest axis of a kernel over its shortest, at most."),
          number("position_blend", &P::position_blend, "", between(0, 1),
                 "anisotropic: how far particles are moved towards the mean of their neighbours, "
                 "from 0 (not) to 1 (onto it)."),
          optional(number("level", &P::level, "", above(0),
                          "blobby: the sum of bumps on the surface; where not given, the one that "
                          "gives a lone particle its own sphere.")),
      }};
  return table;
}

template <>
const ParamTable& table_of<RenderParams>() {
  using P = RenderParams;
  static const ParamTable table{
      "render",
      "Pictures.",
      {
          integer("width", &P::width, between(16, 16384), "Pixels across."),
          integer("height", &P::height, between(16, 16384), "Pixels down."),
          choice(
              "look", &P::look, {"auto", "particles", "water", "sand", "grains"},
              "How the material is drawn; auto: water where all materials are fluids, else sand; "
              "grains for dem."),
          choice("color_by", &P::color_by, {"speed", "density", "material"},
                 "What the colours of particles mean."),
          choice("quality", &P::quality, {"preview", "final"},
                 "preview: a second or two a picture; final: without noise and with all light that "
                 "goes from surface to surface."),
          integer("samples", &P::samples, between(0, 65536),
                  "Samples a pixel; 0: 4 for preview, 96 for final."),
          number("shutter", &P::shutter, "frames", between(0, 1),
                 "How long the shutter is open, up to a whole frame; 0: nothing is blurred."),
          number("exposure", &P::exposure, "stops", between(-20, 20),
                 "Brightness of the picture; one more doubles it."),
          optional(number(
              "clarity", &P::clarity, "m", above(0),
              "White light that has gone so far through water has the material's "
              "colour; three tenths of the way from the eye to its target where not given.")),
          optional(vector("sun", &P::sun, "", any(),
                          "Direction towards the sun; high on the left where not "
                          "given.")),
          choice("format", &P::format, {"png", "exr"},
                 "png: as a screen shows it; exr: linear light in half precision."),
      }};
  return table;
}

template <>
const ParamTable& table_of<LightParams>() {
  using P = LightParams;
  static const ParamTable table{
      "[light]",
      "A bright rectangle, for pictures, beside the sun and the sky.",
      {
          optional(vector("position", &P::position, "m", any(), "Its middle.")),
          optional(vector("target", &P::target, "m", any(), "What it faces.")),
          number("width", &P::width, "m", above(0), "Its level edge."),
          number("height", &P::height, "m", above(0), "Its other edge."),
          vector("color", &P::color, "", between(0, 1), "Red, green and blue, linear."),
          number("strength", &P::strength, "", at_least(0),
                 "How bright it is: a white surface in the sun has about 1."),
      }};
  return table;
}

template <>
const ParamTable& table_of<CameraParams>() {
  using P = CameraParams;
  static const ParamTable table{
      "camera",
      "Where pictures are taken from; fitted to the scene where not given.",
      {
          optional(vector("position", &P::position, "m", any(), "The eye.")),
          optional(
              vector("target", &P::target, "m", any(), "The point in the middle of the picture.")),
          number("fov", &P::fov, "deg", between(1, 170), "Vertical angle of view."),
          special(
              "keyframes", ParamKind::keyframes,
              "A camera that moves: a list of { time = t, position = [x, y, z], target = [x, y, "
              "z] }, instead of position and target."),
      }};
  return table;
}

}  // namespace barchan
