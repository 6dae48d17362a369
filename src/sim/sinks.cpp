#include "sim/sinks.h"

#include <utility>
#include <vector>

namespace barchan {

namespace {

constexpr const char* kRemoved = "sinks.removed";

}  // namespace

Sinks::Sinks(const Scene& scene, Device& device)
    : nodes_(device), regions_(device), selector_(device) {
  std::vector<SdfNode> all;
  std::vector<std::size_t> first;
  for (const Sink& sink : scene.sinks) {
    first.push_back(all.size());
    const std::vector<SdfNode> program =
        compile(sink.shape.shape, natural_origin(sink.shape.shape));
    all.insert(all.end(), program.begin(), program.end());
  }
  first.push_back(all.size());
  nodes_.upload(all);

  std::vector<Region> regions;
  for (std::size_t s = 0; s < scene.sinks.size(); ++s) {
    const Vec3d middle = natural_origin(scene.sinks[s].shape.shape);
    Region region{nodes_.data() + first[s], nodes_.data() + first[s + 1], Vec3(middle), {}};
    region.middle_low = Vec3(middle - Vec3d(region.middle));
    regions.push_back(region);
  }
  regions_.upload(regions);
}

void Sinks::remove(State& state) {
  if (regions_.size() == 0 || state.size() == 0) return;
  const std::size_t before = state.size();
  const View<const std::uint32_t> stay = selector_.outside(state, std::as_const(regions_).view());
  if (stay.size == before) return;
  state.reorder(stay);
  state.scalars[kRemoved] += static_cast<double>(before - stay.size);
}

std::uint64_t removed_particles(const State& state) {
  const auto found = state.scalars.find(kRemoved);
  return found == state.scalars.end() ? 0 : static_cast<std::uint64_t>(found->second);
}

}  // namespace barchan
