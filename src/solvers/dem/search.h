// The search for contacts: when it is due, and which kernel of list_kernels.h runs over what.
#pragma once

#include <algorithm>
#include <cmath>

#include "solvers/dem/dem_solver.h"
#include "solvers/dem/kept.h"
#include "spatial/kernels.h"

namespace barchan {

// Nobody was born or left since the lists were made.
template <class Device>
bool DemSolver<Device>::same_grains(const State& now) const {
  return dem::kept_numbers(now, dem::kSphereStart).size == now.size() + 1 &&
         now.scalars.contains(dem::kSpheres) &&
         now.scalars.at(dem::kBornBefore) == static_cast<double>(now.next_id);
}

// A bound on how far any point of any solid goes in this step [m].
template <class Device>
double DemSolver<Device>::solids_moved(const State& now, const State& next) const {
  double farthest = 0.0;
  for (std::size_t s = 0; s < setup_.solids.size(); ++s) {
    if (setup_.solids[s].drive == SolidDrive::fixed) continue;
    const BodyState &from = now.bodies[s], &to = next.bodies[s];
    const double turn = length(rotation_vector(from.orientation, to.orientation));
    double way = length(to.position - from.position);
    if (turn > 0.0) way += turn * known_[s].reach;
    farthest = std::max(farthest, way);
  }
  return farthest;
}

// The same grains on the same kind of device, and none will come farther than the lists look. In a
// shorter step than the last one grains go less far, but for what gravity and contacts bend their
// ways: far less than the hundredth of the skin that is kept back.
template <class Device>
bool DemSolver<Device>::lists_hold(const State& now, double dt, State& next) const {
  double& path = next.scalars[dem::kSolidPath];
  path += solids_moved(now, next);
  if (!same_grains(now)) return false;
  const auto spheres = static_cast<std::size_t>(dem::scalar(now, dem::kSpheres));
  if (dem::scalar(now, dem::kBlockBits) !=
      dem::block_bits(device_, spheres + covered_.spheres.size())) {
    return false;
  }
  const double longer = std::max(0.0, dt - dem::scalar(now, dem::kLastStep));
  const double moved =
      dem::scalar(now, dem::kAhead) + 2.0 * longer * dem::scalar(now, dem::kPace) + 0.005 * skin_;
  return 2.0 * moved < skin_ && moved + path < skin_ && !(covered_.meet && 2.0 * path >= skin_);
}

// From counts in counts_ to where each list starts.
template <class Device>
View<const std::uint32_t> DemSolver<Device>::count_list(const char* label, State& next,
                                                        const char* name, std::size_t spheres,
                                                        std::uint32_t& total) {
  const View<std::uint32_t> start = dem::keep_numbers(next, name, spheres + 1);
  total = device_.exclusive_scan(label, std::as_const(counts_).view(), start);
  return start;
}

// Who is near whom: rows sorted by cells, grains near grains, and spheres of coverings near both.
// One frame holds them all.
template <class Device>
dem::NearCovering DemSolver<Device>::find_near(State& next) {
  const double bridges = laws_.model.coheres ? params_.cohesion_range * sphere_radius_ : 0.0;
  const double largest = std::max(grain_radius_ + 0.5 * bridges, covered_.largest);
  const auto radius = static_cast<float>(2.0 * largest + skin_);
  if (covered_.parts.empty()) {
    cells_.sort(next.position(), radius);
    next.reorder(cells_.order());
    near_.build(cells_.cells(), next.position(), radius);
    return {};
  }
  const std::size_t spheres = covered_.spheres.size();
  cover_x_.resize(spheres);
  for_each(device_, "lists: coverings", static_cast<std::int64_t>(spheres),
           dem::CoveringCentres{cover_offsets_.view(), cover_part_.view(), poses_.view(),
                                cover_x_.view()});
  const View3<const float> cover_x = std::as_const(cover_x_).view();
  const Bounds all =
      JoinBounds::combine(bounds_of(device_, next.position()), bounds_of(device_, cover_x));
  const CellFrame frame = frame_around({all, 0.5 * (Vec3d(all.lo) + Vec3d(all.hi))}, radius);
  cells_.sort(next.position(), frame, spheres);
  next.reorder(cells_.order());
  near_.build(cells_.cells(), next.position(), radius);
  cover_cells_.sort(cover_x, frame, next.size());
  permute(device_, cover_x, cover_cells_.order(), cover_sorted_);
  const View3<const float> sorted = std::as_const(cover_sorted_).view();
  near_covering_.build(cells_.cells(), next.position(), cover_cells_.cells(), sorted, radius);
  near_grains_.build(cover_cells_.cells(), sorted, cells_.cells(), next.position(), radius);
  if (covered_.meet) near_each_other_.build(cover_cells_.cells(), sorted, radius);
  cover_place_.resize(spheres);
  for_each(device_, "lists: coverings", static_cast<std::int64_t>(spheres),
           dem::Invert{cover_cells_.order(), cover_place_.view()});
  return {near_covering_.view(),
          near_grains_.view(),
          covered_.meet ? near_each_other_.view() : Neighbours{},
          cover_cells_.order(),
          std::as_const(cover_place_).view(),
          std::as_const(poses_).view(),
          static_cast<std::uint32_t>(next.size()),
          0,
          covered_.meet};
}

template <class Device>
void DemSolver<Device>::find_contacts(const State& now, const SolidsView& solids, State& next) {
  next.scalars[dem::kSolidPath] = 0.0;
  next.scalars[dem::kBornBefore] = static_cast<double>(next.next_id);
  dem::NearCovering covering = find_near(next);

  const auto n = static_cast<std::int64_t>(next.size());
  counts_.resize(next.size() + 1);
  for_each(device_, "lists", n + 1,
           dem::CountSpheres{next.material(), types().types, counts_.view()});
  std::uint32_t of_grains = 0;
  count_list("lists", next, dem::kSphereStart, next.size(), of_grains);
  next.scalars[dem::kSpheres] = of_grains;
  block_bits_ = dem::block_bits(device_, of_grains + covered_.spheres.size());
  next.scalars[dem::kBlockBits] = block_bits_;
  covering.first = of_grains;
  spheres_.resize(of_grains + covered_.spheres.size());
  for_each(device_, "lists", n, placing(next));
  if (by_spheres()) {
    for_each(device_, "lists", static_cast<std::int64_t>(of_grains),
             dem::NoteGrains{std::as_const(spheres_).view(),
                             dem::keep_numbers(next, dem::kSphereGrain, of_grains)});
  }
  place_covering(next, false);
  list_pairs(covering, next);
  list_walls(solids, next);
  if (history_) remember(now, next);
  for_each(device_, "lists", n,
           dem::NoteRows{next.position(), next.write_vectors("listed_position"),
                         next.write_numbers<std::uint32_t>("listed_row"),
                         compound_ ? next.write_numbers<float>("turned") : View<float>{}});
}

// Counts what `search` finds for each sphere, and writes it down: in kept arrays named `start`,
// `found` and, where it is to be known whose list an entry is in, `sphere`.
template <class Device>
template <class Search>
View<const std::uint32_t> DemSolver<Device>::list(const char* label, const Search& search,
                                                  const char* start, const char* found,
                                                  const char* sphere, State& next) {
  const std::size_t spheres = spheres_.size();
  counts_.resize(spheres + 1);
  for_each(device_, label, static_cast<std::int64_t>(spheres + 1),
           dem::CountFound<Search>{search, counts_.view()});
  std::uint32_t total = 0;
  const auto starts = count_list(label, next, start, spheres, total);
  for_each(device_, label, static_cast<std::int64_t>(spheres),
           dem::WriteFound<Search>{
               search, starts, dem::keep_numbers(next, found, total),
               sphere != nullptr ? dem::keep_numbers(next, sphere, total) : View<std::uint32_t>{}});
  return starts;
}

template <class Device>
void DemSolver<Device>::list_pairs(const dem::NearCovering& covering, State& next) {
  const double bridges = laws_.model.coheres ? params_.cohesion_range : 0.0;
  const dem::PairSearch pairs{std::as_const(spheres_).view(),
                              near_.view(),
                              covering,
                              {next.position(), next.numbers<float>("scale")},
                              dem::kept_numbers(next, dem::kSphereStart),
                              static_cast<float>(skin_),
                              static_cast<float>(bridges),
                              block_bits_ == 0};
  const char* first = block_bits_ > 0 ? dem::kPairFirst : nullptr;
  const auto start = list("lists", pairs, dem::kPairStart, dem::kPairOther, first, next);
  if (block_bits_ == 0) return;
  // A little more than any pair has, so that rounding never loses one of its two sides
  const auto farthest = static_cast<float>(1.01 * skin_ + bridges * sphere_radius_);
  list("lists",
       dem::BackSearch{pairs, farthest, block_bits_, start,
                       dem::kept_numbers(next, dem::kPairOther)},
       dem::kBackStart, dem::kBackPair, nullptr, next);
}

template <class Device>
void DemSolver<Device>::list_walls(const SolidsView& solids, State& next) {
  const View<const std::uint8_t> covered = std::as_const(is_covered_).view();
  const auto reach = static_cast<float>(skin_);
  near_wall_.resize(next.size());
  for_each(device_, "lists: walls", static_cast<std::int64_t>(next.size()),
           dem::NearWalls{next.position(), next.numbers<float>("scale"), solids, covered, reach,
                          near_wall_.view()});
  list("lists: walls",
       dem::WallSearch{std::as_const(spheres_).view(), solids, covered,
                       std::as_const(poses_).view(), std::as_const(near_wall_).view(), reach},
       dem::kWallStart, dem::kWallSolid, dem::kWallSphere, next);
}

template <class Device>
dem::Lists DemSolver<Device>::lists(const State& state) const {
  const auto kept = [&](const char* name) { return dem::kept_numbers(state, name); };
  return {kept(dem::kSphereStart), kept(dem::kPairStart), kept(dem::kPairFirst),
          kept(dem::kPairOther),   kept(dem::kBackStart), kept(dem::kBackPair),
          kept(dem::kWallStart),   kept(dem::kWallSolid), kept(dem::kWallSphere)};
}

template <class Device>
dem::OldLists DemSolver<Device>::old_lists(const State& now) const {
  return {lists(now), dem::kept_vectors(now, dem::kShear), dem::kept_slots(now)};
}

template <class Device>
void DemSolver<Device>::remember(const State& now, State& next) {
  const dem::Lists fresh = lists(next);
  const dem::OldLists old = old_lists(now);
  const View<const dem::Sphere> spheres = std::as_const(spheres_).view();
  const dem::OldPlace place{next.numbers<std::uint32_t>("listed_row"), fresh.sphere_start,
                            old.lists.sphere_start};
  const auto m = static_cast<std::int64_t>(spheres.size);
  remembered_.resize(fresh.pair_other.size);
  for_each(device_, "lists: memory", m,
           dem::RememberPairs{spheres, fresh.pair_start, fresh.pair_other, place, old,
                              remembered_.view()});
  const std::size_t entries = fresh.wall_solid.size;
  wall_memory_.resize(static_cast<std::size_t>(dem::kPlaces * dem::kSlot) * entries);
  for_each(
      device_, "lists: memory", m,
      dem::RememberWalls{
          spheres, fresh.wall_start, fresh.wall_solid, place, old, {wall_memory_.data(), entries}});
}

}  // namespace barchan
