#include "sim/sinks.h"

#include <utility>
#include <vector>

namespace barchan {

namespace {

constexpr const char* kRemoved = "sinks.removed";

// A sink's shape is a solid that nothing bumps into.
std::vector<Solid> solids_of(const Scene& scene) {
  std::vector<Solid> solids;
  for (const Sink& sink : scene.sinks) {
    Solid& solid = solids.emplace_back();
    solid.name = "sink";
    solid.shape = sink.shape.shape;
  }
  return solids;
}

}  // namespace

Sinks::Sinks(const Scene& scene, Device& device)
    : shapes_(solids_of(scene), device, 0.5 * scene.general.resolution), selector_(device) {}

void Sinks::remove(State& state) {
  if (shapes_.count() == 0 || state.size() == 0) return;
  const std::size_t before = state.size();
  const View<const std::uint32_t> stay =
      selector_.outside(state, shapes_.moving(state.time, state.time));
  if (stay.size == before) return;
  state.reorder(stay);
  state.scalars[kRemoved] += static_cast<double>(before - stay.size);
}

std::uint64_t removed_particles(const State& state) {
  const auto found = state.scalars.find(kRemoved);
  return found == state.scalars.end() ? 0 : static_cast<std::uint64_t>(found->second);
}

}  // namespace barchan
