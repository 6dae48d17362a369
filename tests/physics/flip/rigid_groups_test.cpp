// Rigid groups of sand's cells: momentum, linear and angular, before and after.
#include "solvers/flip/rigid_groups.h"

#include <array>
#include <cmath>

#include "compute/cpu.h"
#include "solvers/flip/face_buffer.h"
#include "unit/devices.h"

namespace barchan::flip {
namespace {

using Cell = std::array<int, 3>;
using Cells = std::vector<Cell>;

Cells box(const Cell& from, const Cell& to) {
  Cells cells;
  for (int z = from[2]; z < to[2]; ++z) {
    for (int y = from[1]; y < to[1]; ++y) {
      for (int x = from[0]; x < to[0]; ++x) cells.push_back({x, y, z});
    }
  }
  return cells;
}
Cells operator+(Cells a, const Cells& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct IsRigid {
  View<const bool> rigid;
  HD bool operator()(std::uint32_t cell) const { return rigid[cell]; }
};

// Cells full of sand in empty space, some of them rigid, with masses and velocities on their faces.
struct Clump {
  Clump(Cpu& cpu, const Cells& cells, const Cells& soft = {})
      : device(cpu), grid(cpu), roles(cpu), kind(cpu), rigid(cpu), give(cpu), u(cpu), groups(cpu) {
    std::vector<Vec3> points;
    for (const Cell& c : cells) points.push_back(middle(c));
    for (const Cell& c : soft) points.push_back(middle(c));
    Buffer3 x(cpu);
    x.upload(points);
    grid.build(std::as_const(x).view(), 1.0f, 2);
    const std::size_t all = grid.view().cells();
    kind.resize(all), kind.clear_to_zero();
    rigid.resize(all), rigid.clear_to_zero();
    roles.resize(all), give.resize(all), u.resize(all);
    for (std::uint32_t c = 0; c < all; ++c) {
      if (grid.view().start[c] != grid.view().start[c + 1]) kind.view()[c] = kLiquid;
      for (const Cell& hard : cells) {
        if (grid.view().corner_of(c) == middle(hard) - Vec3(0.5f, 0.5f, 0.5f)) {
          rigid.view()[c] = true;
        }
      }
    }
    for_each(cpu, "test", static_cast<std::int64_t>(all),
             FindRoles{grid.view(), std::as_const(kind).view(), {}, {}, roles.view()});
    std::uint32_t random = 1;
    const auto next = [&] {
      random = random * 1664525u + 1013904223u;
      return static_cast<float>(random >> 8) / 16777216.0f;
    };
    for (int a = 0; a < 3; ++a) {
      for (std::size_t c = 0; c < all; ++c) {
        give.of[a].view()[c] = 1.0f / (0.25f + next());
        u.of[a].view()[c] = 3.0f * next() - 1.0f;
      }
    }
    groups.find(grid.view(), std::as_const(roles).view(), IsRigid{std::as_const(rigid).view()});
  }
  static Vec3 middle(const Cell& c) {
    return {static_cast<float>(c[0]) + 0.5f, static_cast<float>(c[1]) + 0.5f,
            static_cast<float>(c[2]) + 0.5f};
  }

  // f(axis, low cell's number, place, mass) of the faces of a group; ~0: of none.
  template <class F>
  void faces(std::uint32_t group, const F& f) const {
    const TileView tiles = grid.view();
    const auto group_of = groups.view().group_of;
    for (std::uint32_t c = 0; c < tiles.cells(); ++c) {
      for (int a = 0; a < 3; ++a) {
        if (!(roles.view()[c] & role::moves(a))) continue;
        const std::uint32_t low = tiles.before(c, a);
        const bool here = group_of[c] == group, there = low != kNoCell && group_of[low] == group;
        const bool none = group_of[c] == kNoCell && (low == kNoCell || group_of[low] == kNoCell);
        if (group == kNoCell ? none : here || there) {
          f(a, c, Vec3d(middle_of_face(tiles, c, a)),
            1.0 / static_cast<double>(give.of[a].view()[c]));
        }
      }
    }
  }
  struct Sums {
    Vec3d linear, angular;
    double size = 0.0, energy = 0.0;
  };
  Sums sums(std::uint32_t group) const {
    Sums sums;
    faces(group, [&](int a, std::uint32_t c, const Vec3d& x, double mass) {
      Vec3d momentum;
      momentum[a] = mass * static_cast<double>(u.of[a].view()[c]);
      sums.linear += momentum;
      sums.angular += cross(x, momentum);
      sums.size += length(momentum);
      sums.energy += 0.5 * dot(momentum, momentum) / mass;
    });
    return sums;
  }
  template <class Field>
  void set(const Field& field) {
    for (std::uint32_t g = 0; g < groups.count(); ++g) {
      faces(g, [&](int a, std::uint32_t c, const Vec3d& x, double) {
        u.of[a].view()[c] = static_cast<float>(field(x)[a]);
      });
    }
  }
  void move() { groups.move(std::as_const(roles).view(), give.read(), {}, u.view(), {}); }

  Cpu& device;
  TileGrid<Cpu> grid;
  Buffer<std::uint8_t> roles, kind;
  Buffer<bool> rigid;
  FaceBuffer give, u;
  RigidGroups<Cpu> groups;
};

// One cell, lines, a plate and a block; two blocks with a bridge, at a corner where tiles meet.
const std::vector<Cells> kShapes = {
    {{3, 4, 5}},
    box({0, 0, 0}, {12, 1, 1}),
    box({5, -3, 2}, {6, 30, 3}),
    box({0, 0, 0}, {9, 1, 9}),
    box({-3, -3, -3}, {3, 4, 5}),
    box({0, 0, 0}, {5, 5, 5}) + box({5, 2, 2}, {6, 3, 3}) + box({6, 0, 0}, {11, 5, 5}),
};

TEST(RigidGroups, KeepTheirMomentumAndLoseEnergy) {
  Cpu device(2);
  for (std::size_t s = 0; s < kShapes.size(); ++s) {
    Clump clump(device, kShapes[s]);
    ASSERT_EQ(clump.groups.count(), 1u) << s;
    const Clump::Sums before = clump.sums(0);
    clump.move();
    const Clump::Sums after = clump.sums(0);
    EXPECT_LT(length(after.linear - before.linear), 1e-6 * before.size) << s;
    EXPECT_LT(length(after.angular - before.angular), 1e-6 * before.size * 30.0) << s;
    EXPECT_LT(after.energy, 0.9 * before.energy) << s;
    // Once rigid, it stays as it is.
    clump.move();
    EXPECT_NEAR(clump.sums(0).energy, after.energy, 1e-5 * after.energy) << s;
  }
}

TEST(RigidGroups, RigidMotionsStayAsTheyAre) {
  Cpu device(2);
  const Vec3d v(0.3, -1.0, 0.2), w(0.05, 0.2, -0.1);
  for (std::size_t s = 0; s < kShapes.size(); ++s) {
    Clump clump(device, kShapes[s]);
    const auto field = [&](const Vec3d& x) { return v + cross(w, x); };
    clump.set(field);
    clump.move();
    double error = 0.0;
    clump.faces(0, [&](int a, std::uint32_t c, const Vec3d& x, double) {
      error = std::max(error, std::abs(static_cast<double>(clump.u.of[a].view()[c]) - field(x)[a]));
    });
    EXPECT_LT(error, 1e-5) << s;
  }
}

// Shear u_x = S y is half a strain and half a spin, and a cube of equal faces takes the spin: -S/2.
TEST(RigidGroups, ACubeTakesTheSpinOfAShear) {
  Cpu device(2);
  Clump clump(device, box({0, 0, 0}, {6, 6, 6}));
  for (int a = 0; a < 3; ++a) {
    for (std::size_t c = 0; c < clump.give.of[a].size(); ++c) clump.give.of[a].view()[c] = 1.0f;
  }
  clump.set([](const Vec3d& x) { return Vec3d(0.8 * (x.y - 3.0), 0.0, 0.0); });
  clump.move();
  clump.faces(0, [&](int a, std::uint32_t c, const Vec3d& x, double) {
    const Vec3d expected = cross(Vec3d(0.0, 0.0, -0.4), x - Vec3d(3.0, 3.0, 3.0));
    EXPECT_NEAR(static_cast<double>(clump.u.of[a].view()[c]), expected[a], 1e-5);
  });
}

// Two blocks that touch through a cell that is not rigid move on their own, and all faces that
// belong to neither stay as they are.
TEST(RigidGroups, ABridgeThatGivesDoesNotWeld) {
  Cpu device(2);
  const Cells bridge{{5, 2, 2}};
  Clump clump(device, box({0, 0, 0}, {5, 5, 5}) + box({6, 0, 0}, {11, 5, 5}), bridge);
  ASSERT_EQ(clump.groups.count(), 2u);
  const std::array<Clump::Sums, 2> before{clump.sums(0), clump.sums(1)};
  const Clump::Sums rest = clump.sums(kNoCell);
  EXPECT_GT(rest.energy, 0.0);
  clump.move();
  for (std::uint32_t g = 0; g < 2; ++g) {
    const Clump::Sums after = clump.sums(g);
    EXPECT_LT(length(after.linear - before[g].linear), 1e-6 * before[g].size);
    EXPECT_LT(length(after.angular - before[g].angular), 1e-6 * before[g].size * 11.0);
  }
  EXPECT_EQ(clump.sums(kNoCell).energy, rest.energy);

  // Control: welded, they would not keep what each of them had.
  Clump welded(device, box({0, 0, 0}, {5, 5, 5}) + box({6, 0, 0}, {11, 5, 5}) + bridge);
  ASSERT_EQ(welded.groups.count(), 1u);
}

// A block on a floor that rubs: with mu times its weight as long as it slides, and not at all once
// it stands.
TEST(RigidGroups, AWallSlowsTheWholeGroupDown) {
  Cpu device(2);
  const int height = 4;
  const auto after = [&](float speed, float limit) {
    Clump clump(device, box({0, 0, 0}, {8, height, 8}));
    std::vector<WallCell> walls;
    std::vector<std::uint32_t> number(clump.grid.view().cells());
    for (std::uint32_t c = 0; c < clump.grid.view().cells(); ++c) {
      for (int a = 0; a < 3; ++a) clump.give.of[a].view()[c] = 1.0f;
      if (!clump.rigid.view()[c] || clump.grid.view().corner_of(c).y != 0.0f) continue;
      clump.roles.view()[c] |= role::kTouches;
      clump.roles.view()[c] &= static_cast<std::uint8_t>(~role::moves(1));
      number[c] = static_cast<std::uint32_t>(walls.size());
      WallCell wall{};
      wall.cell = c;
      wall.aligned = wall.free[0] = wall.free[2] = true;
      wall.normal = {0.0f, 1.0f, 0.0f};
      wall.friction = {0.0f, 0.5f, 0.0f};
      walls.push_back(wall);
    }
    clump.set([&](const Vec3d&) { return Vec3d(static_cast<double>(speed), 0.0, 0.0); });
    Buffer3 t(device);
    t.resize(walls.size());
    std::vector<float> limits(walls.size(), limit);
    const GroupWalls at{clump.roles.view(),
                        {walls.data(), walls.size()},
                        {number.data(), number.size()},
                        {limits.data(), limits.size()}};
    clump.groups.move(clump.roles.view(), clump.give.read(), at, clump.u.view(), t.view());
    // The friction is what the group has lost.
    double mass = 0.0, lost = 0.0, friction = 0.0, mean = 0.0;
    clump.faces(0, [&](int a, std::uint32_t c, const Vec3d&, double) {
      if (a != 0) return;
      mass += 1.0;
      mean += static_cast<double>(clump.u.of[0].view()[c]);
      lost += static_cast<double>(speed - clump.u.of[0].view()[c]);
    });
    for (const Vec3& push : t.download()) friction -= static_cast<double>(push.x);
    EXPECT_NEAR(friction, lost, 1e-4 * mass * static_cast<double>(speed));
    return mean / mass;
  };
  // 64 cells rub on the floor; 9 x 4 x 8 faces move.
  EXPECT_NEAR(after(2.0f, 0.5f), 2.0 - 0.5 * 64.0 / (9.0 * height * 8.0), 0.01);
  EXPECT_NEAR(after(0.1f, 2.0f), 0.0, 1e-3);
  EXPECT_NEAR(after(2.0f, 0.0f), 2.0, 1e-5);
}

}  // namespace
}  // namespace barchan::flip
