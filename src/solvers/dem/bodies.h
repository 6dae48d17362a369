// Solids: where the spheres are that cover them, and what the grains did to each.
#pragma once

#include <algorithm>
#include <memory>

#include "compute/reduce_ops.h"
#include "solvers/dem/dem_solver.h"
#include "solvers/dem/kept.h"

namespace barchan {

// Where covered solids are at the end of the step; the driver has moved them. Velocities are means
// over the step, as those of grains are. A contact moves the whole body; where there are many, each
// has its share, or their friction together would throw the body back.
template <class Device>
void DemSolver<Device>::move_covering(const State& now, double dt, const State& next) {
  const auto stands = [&](const dem::CoveredPart& part) {
    return setup_.solids[part.solid].drive == SolidDrive::fixed;
  };
  const std::vector<dem::CoveredPart>& parts = covered_.parts;
  const bool known = poses_.size() == parts.size() && covering_placed_ && same_grains(now);
  if (known && std::all_of(parts.begin(), parts.end(), stands)) return;
  std::vector<dem::PartPose> poses;
  for (const dem::CoveredPart& part : parts) {
    const BodyState &from = now.bodies[part.solid], &to = next.bodies[part.solid];
    dem::PartPose pose{};
    pose.x = Vec3(to.position);
    pose.low = Vec3(to.position - Vec3d(pose.x));
    pose.v = Vec3((to.position - from.position) / dt);
    pose.w = Vec3(rotation_vector(from.orientation, to.orientation) / dt);
    pose.q = Quat(to.orientation);
    const double contacts = dem::scalar(now, known_[part.solid].contacts);
    pose.mass = part.dynamic() ? static_cast<float>(part.mass / std::max(1.0, contacts)) : 1e20f;
    pose.solid = static_cast<std::uint32_t>(part.solid);
    pose.dynamic = part.dynamic();
    pose.moves = !stands(part);
    poses.push_back(pose);
  }
  poses_.upload(poses);
  if (!fresh_) place_covering(next, covering_placed_);
}

template <class Device>
void DemSolver<Device>::place_covering(const State& next, bool moving_only) {
  const std::size_t spheres = covered_.spheres.size();
  const auto first = static_cast<std::uint32_t>(spheres_.size() - spheres);
  for_each(device_, "coverings", static_cast<std::int64_t>(spheres),
           dem::PlaceCovering{cover_offsets_.view(), cover_part_.view(), poses_.view(),
                              static_cast<std::uint32_t>(next.size()),
                              static_cast<std::uint32_t>(setup_.materials.size()), first,
                              moving_only, spheres_.view()});
  covering_placed_ = true;
}

// What the device has summed for the host lies in the host's memory. Solids are summed by passes.
template <class Device>
dem::Outcome* DemSolver<Device>::outcomes() {
  if (outcomes_ == nullptr) {
    const std::size_t passes = walls_.size() / dem::kSolidsPerPass + 1;
    outcomes_ = device_.host_memory(passes * sizeof(dem::Outcome));
    std::uninitialized_value_construct_n(static_cast<dem::Outcome*>(outcomes_.get()), passes);
  }
  return static_cast<dem::Outcome*>(outcomes_.get());
}

// Forces on the solids that are met by their distance, and their moments about the world's origin:
// a few solids a pass.
template <class Device>
void DemSolver<Device>::sum_walls(const State& next) {
  const dem::Lists lists = this->lists(next);
  for (std::size_t pass = 0; pass * dem::kSolidsPerPass < walls_.size(); ++pass) {
    dem::PushSolids push{std::as_const(spheres_).view(),
                         lists,
                         std::as_const(wall_force_).view(),
                         std::as_const(wall_torque_).view(),
                         {}};
    for (std::size_t k = 0; k < dem::kSolidsPerPass; ++k) {
      const std::size_t wall = pass * dem::kSolidsPerPass + k;
      push.solids[k] = wall < walls_.size() ? walls_[wall] : ~0u;
    }
    reduce_to<dem::JoinSolidSums>(device_, "push solids",
                                  static_cast<std::int64_t>(lists.wall_solid.size), push,
                                  &outcomes()[pass].solids);
  }
}

// What the device has summed, once it has.
template <class Device>
dem::Summary DemSolver<Device>::fetch(std::vector<dem::Wrench>& wrenches) {
  device_.wait();
  const dem::Outcome* passes = outcomes();
  for (std::size_t k = 0; k < walls_.size(); ++k) {
    const dem::SolidSums& sums = passes[k / dem::kSolidsPerPass].solids;
    const std::size_t place = k % dem::kSolidsPerPass;
    wrenches[walls_[k]] = {sums.force[place], sums.moment[place]};
  }
  dem::Summary met = passes->met;
  if (block_bits_ > 0) {
    for (const float deepest : block_deepest_.download()) {
      met.deepest = std::max(met.deepest, deepest);
    }
  }
  return met;
}

// The same of those that are covered, and how many contacts they have.
template <class Device>
void DemSolver<Device>::sum_coverings(State& next, dem::Summary& met,
                                      std::vector<dem::Wrench>& wrenches) {
  const std::vector<dem::PieceSums> sums = group_sums_.download();
  std::vector<double> contacts(wrenches.size(), 0.0);
  for (std::size_t g = 0; g < sums.size(); ++g) {
    const std::size_t solid = covered_.parts[group_part_[g]].solid;
    wrenches[solid].force += sums[g].force;
    wrenches[solid].moment += sums[g].moment;
    contacts[solid] += sums[g].contacts;
    met.deepest = std::max(met.deepest, sums[g].deepest);
  }
  for (const dem::CoveredPart& part : covered_.parts) {
    if (part.dynamic()) next.scalars[known_[part.solid].contacts] = contacts[part.solid];
  }
}

// Over a step of velocity Verlet grains get dt/2 times the forces at its beginning and at its end;
// so do bodies: at the end here, and at the next step's beginning by push_first(). Solids that do
// not give way are told of it all at once.
template <class Device>
dem::Summary DemSolver<Device>::push_solids(double dt, State& next, BodyImpulses& out) {
  std::vector<dem::Wrench> wrenches(out.linear.size());
  for_each(device_, "push solids", static_cast<std::int64_t>(pieces_.size()),
           dem::PushCovering{forces(next), std::as_const(pieces_).view(),
                             static_cast<std::uint32_t>(spheres_.size() - covered_.spheres.size()),
                             piece_sums_.view()});
  for_each(device_, "push solids", static_cast<std::int64_t>(groups_.size()),
           dem::SumPieces{std::as_const(piece_sums_).view(), std::as_const(groups_).view(),
                          group_sums_.view()});
  dem::Summary met = fetch(wrenches);
  if (!covered_.parts.empty()) sum_coverings(next, met, wrenches);
  for (std::size_t s = 0; s < wrenches.size(); ++s) {
    const Vec3d force = wrenches[s].force;
    const Vec3d torque = wrenches[s].moment - cross(next.bodies[s].position, force);
    const bool free = setup_.solids[s].drive == SolidDrive::dynamic;
    out.linear[s] = (free ? 0.5 * dt : dt) * force;
    out.angular[s] = (free ? 0.5 * dt : dt) * torque;
    for (int axis = 0; free && axis < 3; ++axis) {
      next.scalars[known_[s].force[static_cast<std::size_t>(axis)]] = force[axis];
      next.scalars[known_[s].torque[static_cast<std::size_t>(axis)]] = torque[axis];
    }
  }
  return met;
}

template <class Device>
void DemSolver<Device>::push_first(const State& now, double dt, BodyImpulses& out) const {
  for (std::size_t s = 0; s < out.linear.size(); ++s) {
    if (setup_.solids[s].drive != SolidDrive::dynamic) continue;
    for (int axis = 0; axis < 3; ++axis) {
      out.linear[s][axis] =
          0.5 * dt * dem::scalar(now, known_[s].force[static_cast<std::size_t>(axis)]);
      out.angular[s][axis] =
          0.5 * dt * dem::scalar(now, known_[s].torque[static_cast<std::size_t>(axis)]);
    }
  }
}

}  // namespace barchan
