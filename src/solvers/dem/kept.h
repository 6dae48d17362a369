// What the solver keeps in the State beside columns: the lists of contacts and what contacts
// remember, as kept arrays, because sums follow their order: a resumed or repeated step has to find
// them as they were; and scalars.
#pragma once

#include <cstdint>
#include <string>

#include "sim/state.h"
#include "solvers/dem/wall_kernels.h"

namespace barchan::dem {

inline constexpr const char* kSphereStart = "dem.sphere_start";
inline constexpr const char* kSphereGrain = "dem.sphere_grain";
inline constexpr const char* kPairStart = "dem.pair_start";
inline constexpr const char* kPairFirst = "dem.pair_first";
inline constexpr const char* kPairOther = "dem.pair_other";
inline constexpr const char* kBackStart = "dem.back_start";
inline constexpr const char* kBackPair = "dem.back_pair";
inline constexpr const char* kWallStart = "dem.wall_start";
inline constexpr const char* kWallSolid = "dem.wall_solid";
inline constexpr const char* kWallSphere = "dem.wall_sphere";
inline constexpr const char* kShear = "dem.shear";
inline constexpr const char* kWallShear = "dem.wall_shear";
inline constexpr const char* kSolidPath = "dem.solid_path";    // of any solid since the search [m]
inline constexpr const char* kBornBefore = "dem.born_before";  // next_id at the search
inline constexpr const char* kSpheres = "dem.spheres";         // of the grains
inline constexpr const char* kBlockBits = "dem.block_bits";    // that the lists were made for
// What Kick foresees (Summary), for a step as long as the last one.
inline constexpr const char* kAhead = "dem.ahead";
inline constexpr const char* kPace = "dem.pace";
inline constexpr const char* kLastStep = "dem.last_step";  // [s]
inline constexpr const char* kRkfPart = "dem.rkf_part";    // length of the next part of a step [s]

inline double scalar(const State& state, const std::string& name) {
  const auto found = state.scalars.find(name);
  return found == state.scalars.end() ? 0.0 : found->second;
}

inline View<const std::uint32_t> kept_numbers(const State& state, const char* name) {
  const Column* column = state.kept(name);
  if (column == nullptr) return {};
  return {column->component<std::uint32_t>(0), column->size()};
}
inline View<std::uint32_t> keep_numbers(State& state, const char* name, std::size_t size) {
  Column& column = state.keep({name, Type::u32, 1, false}, size);
  return {const_cast<std::uint32_t*>(column.component<std::uint32_t>(0)), size};
}
inline View3<const float> kept_vectors(const State& state, const char* name) {
  const Column* c = state.kept(name);
  if (c == nullptr) return {};
  return {c->component<float>(0), c->component<float>(1), c->component<float>(2), c->size()};
}
inline View3<float> keep_vectors(State& state, const char* name, std::size_t size) {
  const Column& c = state.keep({name, Type::f32, 3, false}, size);
  const auto part = [&](int k) { return const_cast<float*>(c.component<float>(k)); };
  return {part(0), part(1), part(2), size};
}
inline Slots kept_slots(const State& state) {
  const Column* c = state.kept(kWallShear);
  if (c == nullptr) return {};
  return {const_cast<float*>(c->component<float>(0)), c->stride()};
}
inline Slots keep_slots(State& state, std::size_t size) {
  state.keep({kWallShear, Type::f32, kPlaces * kSlot, false}, size);
  return kept_slots(state);
}

}  // namespace barchan::dem
