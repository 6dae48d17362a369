// Groups of sand's cells that do not shear, and so move as one rigid body each (Zhu & Bridson 2005,
// section 3.2): their faces, those on their border included, take the motion with the momentum
// that they have.
//
// At walls momentum alone would let a resting pile slide: the friction of a wall stops the cells at
// it, but not the weight above them. So a group is slowed down as a whole, by what its walls can do
// in all: each cell at a wall rubs with up to its limit, mu times what presses on it, against the
// motion of the group. Sand on a slope steeper than the wall's friction slides, and sand that
// friction can hold stays. (A group that takes the wall's velocity wherever friction could hold it
// freezes slopes that should flow.)
//
// What a group carries into a wall stays with it, for the pressure after it to turn: held by walls,
// whole columns would stand like blocks of stone, because hardly a cell in them fails the papers'
// test as long as they stand.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "compute/buffer.h"
#include "compute/device.h"
#include "solvers/flip/group_kernels.h"
#include "spatial/closed_regions.h"

namespace barchan::flip {

template <class Device>
class RigidGroups {
 public:
  explicit RigidGroups(Device& device)
      : device_(device),
        wanted_(device),
        x_(device),
        y_(device),
        z_(device),
        cells_(device),
        start_(device),
        group_(device),
        first_(device),
        group_of_(device),
        sums_(device),
        before_(device),
        motion_(device) {}

  // Cells for which rigid(cell), connected through faces that sand flows through.
  template <class Test>
  void find(const TileView& tiles, View<const std::uint8_t> roles, const Test& rigid) {
    const std::size_t planes = tiles.number.size * 8;
    for (Buffer<std::uint64_t>* board : {&wanted_, &x_, &y_, &z_}) board->resize(planes);
    for_each(device_, "rigid groups", static_cast<std::int64_t>(planes),
             GroupBoards<Test>{rigid, roles, wanted_.view(), x_.view(), y_.view(), z_.view()});
    tiles_ = tiles;
    cut(regions());
    group_of_.resize(tiles.cells());
    for_each(device_, "rigid groups", static_cast<std::int64_t>(tiles.cells()),
             ClearLabels{group_of_.view()});
    for_each(device_, "rigid groups", chunks(), LabelGroups{view(), group_of_.view()});
  }

  std::size_t count() const { return first_.size(); }
  GroupsView view() const {
    return {tiles_, cells_.view(), start_.view(), group_.view(), first_.view(), group_of_.view()};
  }
  std::int64_t cells() const { return static_cast<std::int64_t>(cells_.size()); }

  // The motions that keep momentum, but for the friction of walls; and what these push with, t.
  void move(View<const std::uint8_t> roles, ConstFaceView give, const GroupWalls& walls, FaceView u,
            View3<float> t) {
    if (count() == 0) return;
    for_each(device_, "rigid groups", chunks(),
             GroupSums{view(), roles, give, {{u.of[0], u.of[1], u.of[2]}}, sums_.view()});
    const std::vector<MotionSums> free = sums_by_group();
    set_motions(free, {});
    if (walls.walls.size > 0) slow_down(free, walls, t);
    for_each(device_, "rigid groups", cells(),
             MoveGroups{view(), roles, std::as_const(motion_).view(), u});
  }

 private:
  std::int64_t chunks() const { return static_cast<std::int64_t>(group_.size()); }

  RegionLists regions() const {
    TileBoards boards{wanted_.download(), x_.download(), y_.download(), z_.download()};
    std::vector<std::uint32_t> around(tiles_.around.size);
    device_.download(around.data(), tiles_.around.data, around.size() * sizeof(std::uint32_t));
    // An empty tile stands for all that do not exist.
    const auto none = static_cast<std::uint32_t>(tiles_.number.size);
    for (std::uint32_t& tile : around) tile = tile == kNoCell ? none : tile;
    for (std::vector<std::uint64_t>* board : {&boards.wanted, &boards.x, &boards.y, &boards.z}) {
      board->resize((tiles_.number.size + 1) * 8);
    }
    return connected_regions(boards, around);
  }

  void cut(const RegionLists& lists) {
    constexpr std::uint32_t kChunk = 128;  // cells
    std::vector<std::uint32_t> start, group, first;
    for (std::uint32_t g = 0; g + 1 < lists.start.size(); ++g) {
      first.push_back(lists.cells[lists.start[g]]);
      for (std::uint32_t i = lists.start[g]; i < lists.start[g + 1]; i += kChunk) {
        start.push_back(i);
        group.push_back(g);
      }
    }
    start.push_back(lists.start.back());
    cells_.upload(lists.cells);
    start_.upload(start);
    group_.upload(group);
    first_.upload(first);
    sums_.resize(group.size());
    group_of_chunk_ = std::move(group);
  }

  std::vector<MotionSums> sums_by_group() const {
    const std::vector<MotionSums> chunk = sums_.download();
    std::vector<MotionSums> sums(count());
    for (std::size_t c = 0; c < chunk.size(); ++c) sums[group_of_chunk_[c]] += chunk[c];
    return sums;
  }
  void set_motions(std::vector<MotionSums> sums, const std::vector<MotionSums>& more) {
    std::vector<RigidMotion> motions;
    for (std::size_t g = 0; g < sums.size(); ++g) {
      if (!more.empty()) sums[g] += more[g];
      motions.push_back(rigid_motion(sums[g]));
    }
    motion_.upload(motions);
  }

  // Coulomb's friction on a rigid body by dampers k that follow its slip: V with
  //     (M + sum of k J^T J) V = M V0 + sum of k J^T (velocity of the wall)
  // Slip that friction can stop falls to (momentum / limits) of itself in each round. In the end
  // the group gets back what held it across its walls, but for the couple that keeps it upright.
  void slow_down(const std::vector<MotionSums>& free, const GroupWalls& walls, View3<float> t) {
    constexpr int kRounds = 5;
    const auto round = [&](bool rubs) {
      for_each(device_, "rigid groups", chunks(),
               GroupWallSums{view(), walls, std::as_const(motion_).view(), rubs, sums_.view()});
      before_.swap(motion_);
      set_motions(free, sums_by_group());
    };
    round(false);
    for_each(device_, "rigid groups", cells(),
             RaiseLimits{view(), walls, std::as_const(motion_).view()});
    set_motions(free, {});
    for (int k = 0; k < kRounds; ++k) round(true);
    for_each(device_, "rigid groups", chunks(),
             PushGroups{view(), walls, std::as_const(before_).view(), std::as_const(motion_).view(),
                        t, sums_.view()});
    const std::vector<MotionSums> held = sums_by_group();
    std::vector<RigidMotion> motions = motion_.download();
    for (std::size_t g = 0; g < motions.size(); ++g) {
      const Vec3d mass = free[g].mass(), back = held[g].momentum();
      for (int a = 0; a < 3; ++a) {
        if (mass[a] > 0.0) motions[g].velocity[a] -= back[a] / mass[a];
      }
    }
    motion_.upload(motions);
  }

  Device& device_;
  TileView tiles_{};
  Buffer<std::uint64_t> wanted_, x_, y_, z_;
  Buffer<std::uint32_t> cells_, start_, group_, first_, group_of_;
  std::vector<std::uint32_t> group_of_chunk_;
  Buffer<MotionSums> sums_;  // of chunks
  Buffer<RigidMotion> before_, motion_;
};

}  // namespace barchan::flip
