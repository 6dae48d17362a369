// Kernels of rigid groups (rigid_groups.h): sand's cells that move as one.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "solvers/flip/rigid_motion.h"
#include "solvers/flip/stress_kernels.h"
#include "solvers/flip/wall_kernels.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

// A plane of 64 cells as bits: those that are rigid, and the low faces that sand flows through.
template <class Test>
struct GroupBoards {
  Test rigid;
  View<const std::uint8_t> roles;
  View<std::uint64_t> wanted, x, y, z;  // out
  HD void operator()(int item) const {
    const auto plane = static_cast<std::size_t>(item);
    std::uint64_t bits[4] = {};
    for (std::uint32_t k = 0; k < 64; ++k) {
      const auto cell = static_cast<std::uint32_t>(plane * 64 + k);
      const auto bit = std::uint64_t{1} << k;
      if (rigid(cell)) bits[3] |= bit;
      for (int a = 0; a < 3; ++a) {
        if (roles[cell] & role::moves(a)) bits[a] |= bit;
      }
    }
    x[plane] = bits[0], y[plane] = bits[1], z[plane] = bits[2];
    wanted[plane] = bits[3];
  }
};

// Cells sorted by group, cut into chunks that lie in one group each.
struct GroupsView {
  TileView tiles;
  View<const std::uint32_t> cells;
  View<const std::uint32_t> start;     // of each chunk; one more
  View<const std::uint32_t> group;     // of each chunk
  View<const std::uint32_t> first;     // cell of each group: r is counted from its low corner
  View<const std::uint32_t> group_of;  // of each cell of the grid; kNoCell: none

  HD Vec3d place(std::uint32_t cell) const {
    int x, y, z;
    tiles.corner(cell / kTileCells, x, y, z);
    const auto at = static_cast<int>(cell % kTileCells);
    return {static_cast<double>(x + at % 8), static_cast<double>(y + at / 8 % 8),
            static_cast<double>(z + at / 64)};
  }
  // Of a cell's middle, in its group.
  HD Vec3d middle(std::uint32_t group_number, std::uint32_t cell) const {
    return place(cell) - place(first[group_number]) + Vec3d(0.5, 0.5, 0.5);
  }
  // f(axis, cell whose low face it is, r) of the faces that a cell of a group sees to: its low
  // ones, and its high ones where no cell of the group follows. A face between two groups does not
  // exist: they would be one.
  template <class F>
  HD void faces(View<const std::uint8_t> roles, std::uint32_t group_number, std::uint32_t cell,
                const F& f) const {
    const Vec3d here = middle(group_number, cell);
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t high = tiles.behind(cell, a);
      Vec3d low_face = here, high_face = here;
      low_face[a] -= 0.5, high_face[a] += 0.5;
      if (roles[cell] & role::moves(a)) f(a, cell, low_face);
      if (high == kNoCell || !(roles[high] & role::moves(a))) continue;
      if (group_of[high] != group_number) f(a, high, high_face);
    }
  }
};

struct LabelGroups {
  GroupsView groups;
  View<std::uint32_t> group_of;  // out; kNoCell elsewhere
  HD void operator()(int item) const {
    const auto chunk = static_cast<std::size_t>(item);
    for (std::size_t i = groups.start[chunk]; i < groups.start[chunk + 1]; ++i) {
      group_of[groups.cells[i]] = groups.group[chunk];
    }
  }
};

struct ClearLabels {
  View<std::uint32_t> group_of;  // out
  HD void operator()(int item) const { group_of[static_cast<std::size_t>(item)] = kNoCell; }
};

// What the faces of each chunk give to the sums of its group.
struct GroupSums {
  GroupsView groups;
  View<const std::uint8_t> roles;
  ConstFaceView give, u;   // 1 / mass of each face; [m/s]
  View<MotionSums> chunk;  // out
  HD void operator()(int item) const {
    const auto at = static_cast<std::size_t>(item);
    MotionSums sums;
    for (std::size_t i = groups.start[at]; i < groups.start[at + 1]; ++i) {
      groups.faces(roles, groups.group[at], groups.cells[i],
                   [&](int a, std::uint32_t face, const Vec3d& r) {
                     sums.add_face(1.0 / static_cast<double>(give.of[a][face]), a, r,
                                   static_cast<double>(u.of[a][face]));
                   });
    }
    chunk[at] = sums;
  }
};

// The walls that cells of groups touch, as dampers between group and wall: stiff ones across the
// wall, where the group would move into it; and along it limit / |slip|, which rubs with the limit.
// With friction those across hold both ways: the sand is pressed on the wall, and would have to
// lift its weight to tip over. Dampers of kMost masses of a cell hold.
struct GroupWalls {
  static constexpr double kMost = 1e3;
  View<const std::uint8_t> roles;
  View<const WallCell> walls;
  View<const std::uint32_t> number;  // of each cell at a wall: its place among them
  View<float> limit;                 // mu times what presses on each [m/s]

  // f(axis, direction) across the wall, along each axis on which the group moves into it at v, or
  // on all. What is left of the axes along a wall spans its plane, and what was taken off its
  // normal; or normals, where walls of several directions meet.
  template <class F>
  HD void across(const WallCell& wall, const Vec3d& v, bool all, const F& f) const {
    for (int a = 0; a < 3; ++a) {
      const Vec3 e = unit(a) - WallFlow::along(wall, unit(a));
      if (all || dot(e, Vec3(v) - wall.velocity) * wall.normal[a] <= 0.0f) f(a, Vec3d(e));
    }
  }
  // f(direction, damper) of all of them.
  template <class F>
  HD void dampers(std::uint32_t cell, const Vec3d& v, bool rubs, const F& f) const {
    const WallCell& wall = walls[number[cell]];
    const double most = rubs ? static_cast<double>(limit[number[cell]]) : 0.0;
    across(wall, v, most > 0.0, [&](int, const Vec3d& e) { f(e, kMost); });
    if (!(most > 0.0)) return;
    const Vec3 slip = WallFlow::along(wall, Vec3(v) - wall.velocity);
    const double k = most / max(static_cast<double>(length(slip)), most / kMost);
    for (int a = 0; a < 3; ++a) f(Vec3d(WallFlow::along(wall, unit(a))), k);
  }
};

struct GroupWallSums {
  GroupsView groups;
  GroupWalls at;
  View<const RigidMotion> motion;  // of each group, as far as it is known
  bool rubs;                       // with friction
  View<MotionSums> chunk;          // out
  HD void operator()(int item) const {
    const auto one = static_cast<std::size_t>(item);
    const std::uint32_t group = groups.group[one];
    MotionSums sums;
    for (std::size_t i = groups.start[one]; i < groups.start[one + 1]; ++i) {
      const std::uint32_t cell = groups.cells[i];
      if (!(at.roles[cell] & role::kTouches)) continue;
      const Vec3d r = groups.middle(group, cell), wall(at.walls[at.number[cell]].velocity);
      at.dampers(cell, motion[group].at(r), rubs,
                 [&](const Vec3d& e, double k) { sums.add_along(k, e, r, dot(e, wall)); });
    }
    chunk[one] = sums;
  }
};

// The stiff dampers press, too.
struct RaiseLimits {
  GroupsView groups;
  GroupWalls at;
  View<const RigidMotion> motion;  // with them alone
  HD void operator()(int item) const {
    const std::uint32_t cell = groups.cells[static_cast<std::size_t>(item)];
    if (!(at.roles[cell] & role::kTouches)) return;
    const std::uint32_t group = groups.group_of[cell];
    const WallCell& wall = at.walls[at.number[cell]];
    const Vec3d v = motion[group].at(groups.middle(group, cell));
    at.across(wall, v, false, [&](int a, const Vec3d& e) {
      const double push = GroupWalls::kMost * length(dot(e, v - Vec3d(wall.velocity)) * e);
      const float mu = wall.aligned ? wall.friction[a] : wall.friction.x;
      at.limit[at.number[cell]] += mu * static_cast<float>(push);
    });
  }
};

// And what comes of it: friction on each wall cell, and what holds the group across walls in all.
struct PushGroups {
  GroupsView groups;
  GroupWalls at;
  View<const RigidMotion> before, motion;  // the last two rounds
  View3<float> t;                          // out
  View<MotionSums> chunk;                  // out
  HD void operator()(int item) const {
    const auto one = static_cast<std::size_t>(item);
    const std::uint32_t group = groups.group[one];
    MotionSums held;
    for (std::size_t i = groups.start[one]; i < groups.start[one + 1]; ++i) {
      const std::uint32_t cell = groups.cells[i];
      if (!(at.roles[cell] & role::kTouches)) continue;
      const WallCell& wall = at.walls[at.number[cell]];
      const Vec3d r = groups.middle(group, cell), v = motion[group].at(r) - Vec3d(wall.velocity);
      Vec3d push;
      at.dampers(cell, before[group].at(r), true,
                 [&](const Vec3d& e, double k) { push -= k * dot(e, v) * e; });
      const Vec3 along = WallFlow::along(wall, Vec3(push));
      t[at.number[cell]] = along;
      held.push(push - Vec3d(along));
    }
    chunk[one] = held;
  }
};

struct MoveGroups {
  GroupsView groups;
  View<const std::uint8_t> roles;
  View<const RigidMotion> motion;
  FaceView u;  // out, on the groups' faces
  HD void operator()(int item) const {
    const std::uint32_t cell = groups.cells[static_cast<std::size_t>(item)];
    const std::uint32_t group = groups.group_of[cell];
    groups.faces(roles, group, cell, [&](int a, std::uint32_t face, const Vec3d& r) {
      u.of[a][face] = static_cast<float>(motion[group].at(r)[a]);
    });
  }
};

// Within a group there is nothing left for stresses to do; walls are seen to group by group.
struct RelieveGroups {
  GroupsView groups;
  View<const std::uint8_t> roles;
  View<const std::uint32_t> number;  // of cells at walls
  StressView s;                      // out, in the groups' cells
  View3<float> t;                    // and at their walls
  HD void operator()(int item) const {
    const std::uint32_t cell = groups.cells[static_cast<std::size_t>(item)];
    for (int a = 0; a < 3; ++a) s.normal[a][cell] = 0.0f;
    if (roles[cell] & role::kTouches) t[number[cell]] = Vec3();
  }
};

}  // namespace barchan::flip
