// What is made once: tables of grains, laws and coverings; the columns of the State; newborn
// grains, and what frames hold of them.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include "solvers/dem/dem_solver.h"

namespace barchan {

template <class Device>
DemSolver<Device>::DemSolver(Device& device, const SolverSetup& setup, const DemParams& params)
    : device_(device),
      setup_(setup),
      params_(params),
      cells_(device),
      near_(device),
      types_(device),
      offsets_(device),
      pair_laws_(device),
      spheres_(device),
      counts_(device),
      near_wall_(device),
      remembered_(device),
      wall_memory_(device),
      pair_force_(device),
      pair_turn_(device),
      wall_force_(device),
      wall_torque_(device),
      pair_roll_(device),
      block_force_(device),
      block_torque_(device),
      block_deepest_(device),
      rkf_(device),
      cover_offsets_(device),
      cover_part_(device),
      cover_place_(device),
      is_covered_(device),
      poses_(device),
      pieces_(device),
      groups_(device),
      piece_sums_(device),
      group_sums_(device),
      cover_x_(device),
      cover_sorted_(device),
      cover_cells_(device),
      near_covering_(device),
      near_grains_(device),
      near_each_other_(device) {
  std::vector<dem::GrainType> types;
  std::vector<Float4> offsets;
  for (std::size_t m = 0; m < setup.materials.size(); ++m) {
    const GrainShape& shape = setup.grains[m];
    const auto [smallest, largest] = setup.grain_radii(m);
    dem::GrainType type;
    type.first = static_cast<std::uint32_t>(offsets.size());
    type.count = static_cast<std::uint32_t>(shape.spheres.size());
    type.smallest = static_cast<float>(smallest);
    type.largest = static_cast<float>(largest);
    type.mass = static_cast<float>(setup.materials[m].density * shape.volume);
    type.reach = static_cast<float>(shape.reach);
    type.inertia = Vec3(shape.moments / shape.volume);
    type.kind = type.count > 1 ? type.count : 0;
    types.push_back(type);
    compound_ = compound_ || shape.compound();
    most_spheres_ = std::max(most_spheres_, static_cast<double>(type.count));
    lopsided_ = lopsided_ || !dem::all_alike(type.inertia);
    grain_radius_ = std::max(grain_radius_, largest);
    for (const GrainSphere& s : shape.spheres) {
      offsets.push_back({static_cast<float>(s.center.x), static_cast<float>(s.center.y),
                         static_cast<float>(s.center.z), static_cast<float>(s.radius)});
      sphere_radius_ = std::max(sphere_radius_, s.radius * largest);
    }
  }
  types_.upload(types);
  offsets_.upload(offsets);
  covered_ = dem::cover_solids(setup, params, sphere_radius_);
  laws_ = dem::make_laws(setup, params, covered_.parts);
  pair_laws_.upload(laws_.pairs);
  upload_covering();
  history_ = params.shear == "history" || (params.shear == "auto" && !compound_);
  skin_ = params.skin * sphere_radius_;
}

// The spheres that cover solids, the pieces that sums over them are taken by, and what is asked of
// solids in each step.
template <class Device>
void DemSolver<Device>::upload_covering() {
  cover_offsets_.upload(covered_.spheres);
  cover_part_.upload(covered_.part_of);
  is_covered_.upload(covered_.is_covered);
  for (std::size_t s = 0; s < setup_.solids.size(); ++s) {
    const std::string name = "dem.solid." + std::to_string(s);
    const Aabb box = bounds(setup_.solids[s].shape);
    const double reach =
        box.is_bounded() ? length(max(box.hi, -box.lo)) : std::numeric_limits<double>::infinity();
    known_.push_back({{name + ".force_x", name + ".force_y", name + ".force_z"},
                      {name + ".torque_x", name + ".torque_y", name + ".torque_z"},
                      name + ".contacts",
                      reach});
  }
  std::vector<dem::Piece> pieces, groups;
  const auto cut = [](std::vector<dem::Piece>& to, std::size_t part, std::uint32_t first,
                      std::uint32_t end, std::uint32_t most) {
    for (std::uint32_t at = first; at < end; at += most) {
      to.push_back({static_cast<std::uint32_t>(part), at, std::min(at + most, end)});
    }
  };
  for (std::size_t p = 0; p < covered_.parts.size(); ++p) {
    const auto first = static_cast<std::uint32_t>(covered_.parts[p].first);
    const auto first_piece = static_cast<std::uint32_t>(pieces.size());
    cut(pieces, p, first, first + static_cast<std::uint32_t>(covered_.parts[p].count),
        dem::kPieceSpheres);
    cut(groups, p, first_piece, static_cast<std::uint32_t>(pieces.size()), dem::kGroupPieces);
  }
  pieces_.upload(pieces);
  piece_sums_.resize(pieces.size());
  groups_.upload(groups);
  group_sums_.resize(groups.size());
  for (const dem::Piece& group : groups) group_part_.push_back(group.part);
  for (std::size_t k = 0; k < setup_.solids.size(); ++k) {
    if (covered_.is_covered[k] == 0) walls_.push_back(static_cast<std::uint32_t>(k));
  }
}

template <class Device>
std::vector<ColumnSpec> DemSolver<Device>::columns() const {
  std::vector<ColumnSpec> columns = {
      {"angular_velocity", Type::f32, 3, true},  // [rad/s]
      {"scale", Type::f32, 1, true},             // radius of the grain [m]
      {"shape", Type::u8, 1, true},              // spheres of a compound grain, 0 for a sphere
      {"mass", Type::f32, 1, false},             // [kg]
      {"position_low", Type::f32, 3, false},     // what `position` leaves of the position [m]
      {"force", Type::f32, 3, false},            // of contacts [N]
      {"torque", Type::f32, 3, false},           // [N m]
      {"listed_position", Type::f32, 3, false},  // where the lists were made [m]
      {"listed_row", Type::u32, 1, false},       // the row there, plus 1
  };
  if (compound_) {
    columns.push_back({"orientation", Type::f32, 4, true});
    columns.push_back({"turned", Type::f32, 1, false});
    columns.push_back({"contacts", Type::f32, 1, false});
  }
  if (lopsided_) columns.push_back({"angular_momentum", Type::f32, 3, false});  // [kg m^2/s]
  return columns;
}

template <class Device>
dem::GrainTypes DemSolver<Device>::types() const {
  return {types_.view(), offsets_.view()};
}

template <class Device>
View4<const float> DemSolver<Device>::turns(const State& state) const {
  return compound_ ? state.orientations("orientation") : View4<const float>{};
}

template <class Device>
void DemSolver<Device>::complete(State& state) {
  for_each(
      device_, "newborn", static_cast<std::int64_t>(state.size()),
      dem::Complete{state.id(), state.material(), types().types, Random{setup_.seed},
                    state.rewrite_numbers<float>("scale"), state.rewrite_numbers<float>("mass"),
                    state.rewrite_numbers<std::uint8_t>("shape"),
                    compound_ ? state.rewrite_orientations("orientation") : View4<float>{},
                    state.vectors("angular_velocity"),
                    lopsided_ ? state.rewrite_vectors("angular_momentum") : View3<float>{}});
}

// spheres/position, radius and grain, for whoever draws them.
template <class Device>
void DemSolver<Device>::add_to_frame(const State& now, Frame& frame) const {
  const HostColumn x = download(device_, now.column("position"));
  const HostColumn scale = download(device_, now.column("scale"));
  const HostColumn material = download(device_, now.column("material"));
  HostColumn q;
  if (compound_) q = download(device_, now.column("orientation"));
  std::size_t count = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    count += setup_.grains[material.component<std::uint8_t>(0)[i]].spheres.size();
  }
  HostColumn position = make_host_column({"spheres/position", Type::f32, 3, true}, count);
  HostColumn radius = make_host_column({"spheres/radius", Type::f32, 1, true}, count);
  HostColumn grain = make_host_column({"spheres/grain", Type::u32, 1, true}, count);
  std::size_t s = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Quat turn = compound_ ? Quat(q.component<float>(0)[i], q.component<float>(1)[i],
                                       q.component<float>(2)[i], q.component<float>(3)[i])
                                : Quat();
    const float r = scale.component<float>(0)[i];
    for (const GrainSphere& of : setup_.grains[material.component<std::uint8_t>(0)[i]].spheres) {
      const Vec3 arm = rotate(turn, r * Vec3(of.center));
      for (int axis = 0; axis < 3; ++axis) {
        position.component<float>(axis)[s] = x.component<float>(axis)[i] + arm[axis];
      }
      radius.component<float>(0)[s] = r * static_cast<float>(of.radius);
      grain.component<std::uint32_t>(0)[s] = static_cast<std::uint32_t>(i);
      ++s;
    }
  }
  for (HostColumn* column : {&position, &radius, &grain}) {
    frame.columns.push_back(std::move(*column));
  }
}

// State read and written once, spheres written and read by four neighbours, and for each of some
// three pairs a grain an entry of the lists, its memory, and what it does to the other sphere.
template <class Device>
double DemSolver<Device>::floor_bytes(std::size_t particles) const {
  constexpr double kState = 2.0 * 76.0, kSphere = 2.0 * 64.0, kPair = 8.0 + 24.0 + 64.0;
  return static_cast<double>(particles) * (kState + kSphere + 3.0 * kPair);
}

}  // namespace barchan
