// What solids leave open of each cell. Where all solids near a tile stand still, its cells are
// looked at once and copied from step to step for as long as they are there.
#pragma once

#include <utility>

#include "compute/buffer.h"
#include "solvers/flip/face_buffer.h"
#include "solvers/flip/solid_kernels.h"
#include "spatial/tile_layers.h"

namespace barchan::flip {

template <class Device>
class Fractions {
 public:
  explicit Fractions(Device& device)
      : device_(device),
        open_(device),
        last_open_(device),
        octants_(device),
        wall_(device),
        number_(device),
        looked_at_(device),
        solids_near_(device),
        known_(device),
        place_(device) {}

  // Before the grid is laid: what these two hold is the last step's from here on.
  void turn_page(Buffer<Octants>& octants, Buffer<float>& wall) {
    octants_.swap(octants);
    wall_.swap(wall);
    open_.swap(last_open_);
  }

  // The cells of `near`, of which the octants are all open and the walls far before; `moving`: the
  // solids that are not fixed, as the bits of SolidsNow::near. Returns the open fractions of faces,
  // which are there for cells of tiles that are not open only.
  ConstFaceView find(const TileView& tiles, const SolidsNow& solids, View<const std::uint8_t> side,
                     std::uint64_t moving, const LayerView& near, View<Octants> octants,
                     View<float> wall) {
    open_.resize(tiles.cells());
    known_.resize(near.all.size);
    place_.resize(tiles.number.size);
    const bool same_frame = frame_ == tiles.frame;
    const View<const std::uint64_t> last_number = std::as_const(number_).view();
    for_each(device_, "solids", static_cast<std::int64_t>(near.all.size),
             FindKnown{tiles, side, solids.near, near, moving,
                       same_frame ? last_number : View<const std::uint64_t>{},
                       std::as_const(solids_near_).view(), std::as_const(looked_at_).view(),
                       place_.view(), known_.view()});
    const FractionsView now{open_.view(), octants, wall};
    const View<const std::uint64_t> known = std::as_const(known_).view();
    for_each_of(device_, "solids", LayerView{known, {}},
                CopyFractions{std::as_const(place_).view(), last_open_.read(),
                              std::as_const(octants_).view(), std::as_const(wall_).view(), now});
    for_each_part_of(device_, "solids", LayerView{near.all, known},
                     OpenFractions{tiles, solids, side, now});
    keep(tiles, solids.near, near);
    return open_.read();
  }

 private:
  void keep(const TileView& tiles, View<const std::uint64_t> solids_near, const LayerView& near) {
    frame_ = tiles.frame;
    const auto copy = [&](View<const std::uint64_t> from, Buffer<std::uint64_t>& to) {
      to.resize(from.size);
      device_.copy(to.data(), from.data, from.size * sizeof(std::uint64_t));
    };
    copy(tiles.number, number_);
    copy(solids_near, solids_near_);
    copy(near.all, looked_at_);
  }

  Device& device_;
  FaceBuffer open_;  // before slivers are closed

  // Of the last step; octants_ and wall_ are all that it had.
  FaceBuffer last_open_;
  Buffer<Octants> octants_;
  Buffer<float> wall_;
  TileFrame frame_{};
  Buffer<std::uint64_t> number_, looked_at_, solids_near_;

  Buffer<std::uint64_t> known_;
  Buffer<std::uint32_t> place_;
};

}  // namespace barchan::flip
