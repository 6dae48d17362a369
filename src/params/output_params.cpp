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
  static const ParamTable table{"surface", "Surfaces from particles.", {}};
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
          choice("look", &P::look, {"particles", "water", "sand", "grains"},
                 "How the material is drawn."),
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
      }};
  return table;
}

}  // namespace barchan
