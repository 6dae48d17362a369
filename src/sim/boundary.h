// Solids as the particle methods feel them: boundary particles that count in the fluid's density
// (Akinci et al. 2012), so that it does not stack up at walls. One module for all such solvers.
//
// Samples are made once, in each solid's own frame (geometry/boundary.h). In a step those near the
// fluid are placed where the solids are at its end, sorted into the fluid's cells, and each fluid
// particle gets a list of those within the support.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/buffer.h"
#include "geometry/aabb.h"
#include "geometry/solid.h"
#include "sim/state.h"
#include "spatial/cells.h"
#include "spatial/neighbours.h"

namespace barchan {

// What kernels see.
struct BoundaryView {
  Neighbours near;                     // samples within the support of each fluid particle
  Neighbours fluid;                    // fluid particles within the support of each sample
  View<const Float4> points;           // x, y, z [m]; w: volume over spacing^3
  View<const std::uint32_t> solid_of;  // each sample's solid
  // The fluid particles that have samples near, in any order, so that a pass over them alone fills
  // its vectors and warps: how many, and which. slot_of says where one is; ~0: it has none near.
  const std::uint32_t* count = nullptr;
  View<std::uint32_t> touched;
  View<std::uint32_t> slot_of;
};

template <class Device>
class Boundary {
 public:
  Boundary(Device& device, const std::vector<Solid>& solids, double spacing, std::uint64_t seed,
           const Aabb& stage);

  // Samples in the cells of `fluid`, with the solids where `bodies` says, and the lists of those
  // within `support` [m] of the fluid's points x.
  void place(const std::vector<BodyState>& bodies, const CellsView& fluid, View<const Float4> x,
             float support);

  // See NeighbourSearch: false where a GPU's lists had no room. `touched` is what the view's
  // `count` points to, which the caller brings to the host with whatever else it reads.
  bool settled(std::uint32_t touched);

  BoundaryView view() {
    return {search_.view(),
            back_.view(),
            std::as_const(points_).view(),
            std::as_const(solid_of_).view(),
            count_.data() + turn_,
            {touched_.data(), touched_.size()},
            {slot_of_.data(), slot_of_.size()}};
  }
  std::size_t room() const { return touched_.size(); }     // for particles near a solid
  std::size_t size() const { return local_.size(); }       // samples in all
  std::size_t placed() const { return points_.size(); }    // in the fluid's cells
  std::uint64_t pairs() const { return search_.pairs(); }  // in all lists

 private:
  bool unmoved(const std::vector<BodyState>& bodies, const CellFrame& frame);
  void choose_and_sort(const CellFrame& frame, std::size_t fluid);

  Device& device_;
  std::vector<Pose> poses_;  // those that the samples were placed by
  CellFrame frame_{};        // and sorted by
  bool placed_ = false;

  Buffer3 local_;         // in the solids' own frames [m]
  Buffer<float> weight_;  // volume over spacing^3
  Buffer<std::uint32_t> local_solid_of_;
  Buffer<Float4> pose_;                  // position, then orientation, of each solid
  Buffer3 world_;                        // all samples [m]
  Buffer<std::uint32_t> kept_, chosen_;  // 1 for those in the frame; their indices
  Buffer3 near_;                         // those in the frame
  Buffer<Float4> points_;
  Buffer<std::uint32_t> solid_of_;
  CellSort<Device> cells_;
  Buffer<std::uint8_t> marked_;  // the cells around them, where a table has all cells
  NeighbourSearch<Device> search_, back_;
  Buffer<std::uint32_t> count_, touched_, slot_of_;  // of the fluid near solids
  std::ptrdiff_t turn_ = 0;                          // which of two counts is this step's
};

}  // namespace barchan
