// What solids leave open, and how deep a cell lies, against closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "compute/cpu.h"
#include "solvers/flip/fractions.h"
#include "solvers/flip/liquid_kernels.h"

namespace barchan::flip {
namespace {

// The part of the unit square beyond a line, by counting points.
double counted(double nx, double ny, double at) {
  int open = 0;
  constexpr int kPoints = 400;
  for (int i = 0; i < kPoints; ++i) {
    for (int j = 0; j < kPoints; ++j) {
      const double x = (i + 0.5) / kPoints, y = (j + 0.5) / kPoints;
      open += nx * x + ny * y > at ? 1 : 0;
    }
  }
  return static_cast<double>(open) / (kPoints * kPoints);
}

TEST(FlipFractions, OpenAreaIsExactForLines) {
  for (const double angle : {0.0, 0.3, 1.0, 2.0, 3.5, 5.0}) {
    const double nx = std::cos(angle), ny = std::sin(angle);
    for (const double at : {-0.9, -0.3, 0.1, 0.4, 0.8, 1.2}) {
      const auto d = [&](double x, double y) { return static_cast<float>(nx * x + ny * y - at); };
      EXPECT_NEAR(static_cast<double>(open_area(d(0, 0), d(1, 0), d(1, 1), d(0, 1))),
                  counted(nx, ny, at), 4e-3);
    }
  }
}

// Fill of a hat about the middle of a cell under a level surface s cells above it.
TEST(FlipFractions, DepthIsTheFillTurnedRound) {
  for (double s = -0.95; s < 1.0; s += 0.1) {
    double fill = 0.0;
    constexpr int kSteps = 20000;
    for (int i = 0; i < kSteps; ++i) {
      const double z = -1.0 + 2.0 * (i + 0.5) / kSteps;
      if (z < s) fill += (1.0 - std::abs(z)) * 2.0 / kSteps;
    }
    EXPECT_NEAR(static_cast<double>(depth_of_fill(static_cast<float>(fill))), s, 1e-3);
  }
  EXPECT_EQ(depth_of_fill(1.3f), 1.0f);
  EXPECT_EQ(depth_of_fill(0.0f), -1.0f);
}

// One look at a ball of points among solids, by a memory that may have seen earlier ones.
struct Look {
  std::vector<float> open[3], wall;
  std::vector<Octants> octants;
  bool operator==(const Look&) const = default;
};
Look look_at(Cpu& device, SolidSet& set, double time, const Vec3& middle, std::uint64_t moving,
             Fractions<Cpu>& fractions, Buffer<Octants>& octants, Buffer<float>& wall) {
  std::vector<Vec3> points;
  for (int k = 0; k < 4000; ++k) {
    const Vec3 p(static_cast<float>(k % 20), static_cast<float>(k / 20 % 10),
                 static_cast<float>(k / 200));
    points.push_back(middle + 0.02f * p);
  }
  Buffer3 x(device);
  x.upload(points);
  TileGrid<Cpu> grid(device);
  grid.build(std::as_const(x).view(), 0.04f, 3);
  const TileView tiles = grid.view();
  fractions.turn_page(octants, wall);
  octants.upload(std::vector<Octants>(tiles.cells(), kAllOpen));
  wall.upload(std::vector<float>(tiles.cells(), ClearGrid::kFar));
  TileLayers<Cpu> near(device);
  near.build<GrowSetAround>("test", tiles, HasParticles{tiles}, 2);

  const SolidsView solids = set.moving(time, time + 0.01);
  Buffer<std::uint8_t> side(device, tiles.number.size);
  Buffer<std::uint64_t> solids_near(device, tiles.number.size);
  for_each(device, "test", static_cast<std::int64_t>(tiles.number.size),
           SideOfTiles{tiles, solids, side.view(), solids_near.view()});
  const ConstFaceView open = fractions.find(tiles, {solids, {}, std::as_const(solids_near).view()},
                                            std::as_const(side).view(), moving, near.within(2),
                                            octants.view(), wall.view());
  Look look{{}, wall.download(), octants.download()};
  for (std::uint32_t c = 0; c < tiles.cells(); ++c) {
    const bool told = near.within(2).has(c) && side.view()[c / kTileCells] != kOpenTile;
    for (int a = 0; a < 3; ++a) look.open[a].push_back(told ? open.of[a][c] : 1.0f);
  }
  return look;
}

// What is copied from the last step is what a first look sees, bit by bit: with tiles that come and
// go, frames that change, and a solid that moves by.
TEST(FlipFractions, WhatIsRememberedIsWhatIsThere) {
  Cpu device(2);
  Solid bowl;
  bowl.name = "bowl";
  bowl.inside_out = true;
  bowl.shape = make_sphere({0.2, 0.3, 0.2}, 0.71);
  Solid ball;
  ball.name = "ball";
  ball.shape = make_sphere({0, 0, 0}, 0.13);
  ball.drive = SolidDrive::keyframes;
  ball.motion = Motion({{0.0, {0, 0, 0}, {0, 0, 1}, 0.0}, {1.0, {0.8, 0.4, 0.4}, {0, 0, 1}, 0.0}});
  SolidSet set({bowl, ball}, device);

  Fractions<Cpu> old_hand(device);
  Buffer<Octants> octants(device);
  Buffer<float> wall(device);
  Look last;
  for (int step = 0; step < 12; ++step) {
    const Vec3 middle(0.03f * static_cast<float>(step), 0.0f, 0.011f * static_cast<float>(step));
    const double time = 0.08 * step;
    const Look seen = look_at(device, set, time, middle, 2, old_hand, octants, wall);
    Fractions<Cpu> newcomer(device);
    Buffer<Octants> new_octants(device);
    Buffer<float> new_wall(device);
    EXPECT_TRUE(seen == look_at(device, set, time, middle, 2, newcomer, new_octants, new_wall))
        << step;
    EXPECT_FALSE(seen == last);
    last = seen;
  }
}

// Control: a solid that moves while it is said to stand still is remembered where it was.
TEST(FlipFractions, ControlASolidThatIsSaidToStandStillIsNotLookedAtAgain) {
  Cpu device(2);
  Solid ball;
  ball.name = "ball";
  ball.shape = make_sphere({0, 0, 0}, 0.13);
  ball.drive = SolidDrive::keyframes;
  ball.motion = Motion({{0.0, {0, 0, 0}, {0, 0, 1}, 0.0}, {1.0, {0.8, 0.4, 0.4}, {0, 0, 1}, 0.0}});
  SolidSet set({ball}, device);
  for (const std::uint64_t moving : {0, 1}) {
    Fractions<Cpu> fractions(device);
    Buffer<Octants> octants(device);
    Buffer<float> wall(device);
    const Look first = look_at(device, set, 0.0, {}, moving, fractions, octants, wall);
    const Look second = look_at(device, set, 0.02, {}, moving, fractions, octants, wall);
    EXPECT_EQ(first == second, moving == 0);
  }
}

}  // namespace
}  // namespace barchan::flip
