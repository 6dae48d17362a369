// Bodies of Boundary, instantiated for each device in boundary_cpu.cpp and boundary_cuda.cu.
#pragma once

#include <algorithm>

#include "geometry/boundary.h"
#include "sim/boundary.h"
#include "sim/boundary_kernels.h"

namespace barchan {

template <class Device>
Boundary<Device>::Boundary(Device& device, const std::vector<Solid>& solids, double spacing,
                           std::uint64_t seed, const Aabb& stage)
    : device_(device),
      local_(device),
      weight_(device),
      local_solid_of_(device),
      pose_(device),
      world_(device),
      kept_(device),
      chosen_(device),
      near_(device),
      points_(device),
      solid_of_(device),
      cells_(device),
      marked_(device),
      search_(device),
      back_(device),
      count_(device, 2),
      touched_(device),
      slot_of_(device) {
  std::vector<Vec3> points;
  std::vector<float> weights;
  std::vector<std::uint32_t> solid_of;
  for (std::size_t s = 0; s < solids.size(); ++s) {
    const BoundarySamples samples =
        sample_boundary(solids[s].shape, solids[s].inside_out, spacing, seed, stage);
    for (const Vec3d& p : samples.points) points.emplace_back(p);
    weights.insert(weights.end(), samples.weight.begin(), samples.weight.end());
    solid_of.resize(points.size(), static_cast<std::uint32_t>(s));
  }
  count_.clear_to_zero();
  local_.upload(points);
  weight_.upload(weights);
  local_solid_of_.upload(solid_of);
}

// Nothing has moved since the last step, and the fluid's cells are the same.
template <class Device>
bool Boundary<Device>::unmoved(const std::vector<BodyState>& bodies, const CellFrame& frame) {
  std::vector<Pose> poses;
  for (const BodyState& body : bodies) poses.push_back({body.position, body.orientation});
  const bool same = placed_ && poses == poses_ && frame == frame_;
  poses_ = std::move(poses);
  frame_ = frame;
  placed_ = true;
  return same;
}

template <class Device>
void Boundary<Device>::choose_and_sort(const CellFrame& frame, std::size_t fluid) {
  std::vector<Float4> poses;
  for (const Pose& pose : poses_) {
    const Vec3 p(pose.position);
    const Quat q(pose.orientation);
    poses.push_back({p.x, p.y, p.z, 0.0f});
    poses.push_back({q.x, q.y, q.z, q.w});
  }
  pose_.upload(poses);
  const auto all = static_cast<std::int64_t>(local_.size());
  world_.resize(local_.size());
  kept_.resize(local_.size());
  for_each(device_, "boundary: place", all,
           PlaceSamples{std::as_const(local_).view(), std::as_const(local_solid_of_).view(),
                        std::as_const(pose_).view(), frame, world_.view(), kept_.view()});
  const std::uint32_t total = device_.exclusive_scan("boundary: place", kept_.view(), kept_.view());
  chosen_.resize(total);
  near_.resize(total);
  for_each(device_, "boundary: place", all,
           ChooseSamples{std::as_const(kept_).view(), std::as_const(world_).view(), total,
                         chosen_.view(), near_.view()});
  cells_.sort(std::as_const(near_).view(), frame, fluid);
  points_.resize(total);
  solid_of_.resize(total);
  for_each(device_, "boundary: place", total,
           SortSamples{cells_.order(), std::as_const(chosen_).view(), std::as_const(near_).view(),
                       std::as_const(weight_).view(), std::as_const(local_solid_of_).view(),
                       points_.view(), solid_of_.view()});
  marked_.resize(cells_.cells().whole ? frame.cells() : 0);
  marked_.clear_to_zero();
  if (marked_.size() > 0) {
    for_each(device_, "boundary: place", 9 * std::int64_t{total},
             MarkCells{cells_.cells().cell_of, frame, marked_.view()});
  }
}

template <class Device>
void Boundary<Device>::place(const std::vector<BodyState>& bodies, const CellsView& fluid,
                             View<const Float4> x, float support) {
  if (!unmoved(bodies, fluid.frame)) choose_and_sort(fluid.frame, x.size);
  const View<const std::uint8_t> all{}, marked = std::as_const(marked_).view();
  slot_of_.resize(x.size);
  touched_.resize(std::max(touched_.size(), std::min<std::size_t>(x.size, 1024)));
  // Two counts take turns: each search clears that of the next.
  turn_ = 1 - turn_;
  if (x.size == 0) count_.clear_to_zero();
  search_.build_both_later(
      back_, fluid, x, cells_.cells(), std::as_const(points_).view(), support,
      fluid.whole ? marked : all,
      {count_.data() + turn_, count_.data() + (1 - turn_), touched_.view(), slot_of_.view()});
}

template <class Device>
bool Boundary<Device>::settled(std::uint32_t touched) {
  const bool there = search_.settled(), back = back_.settled();
  const bool fits = touched <= touched_.size();
  if (!fits) touched_.resize(touched + touched / 4);
  return there && back && fits;
}

}  // namespace barchan
