#include "spatial/tile_grid.h"

#include <cmath>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "compute/buffer.h"
#include "compute/dispatch.h"
#include "spatial/cells.h"
#include "unit/devices.h"

namespace barchan {
namespace {

using Cell = std::tuple<long, long, long>;

struct Built {
  TileFrame frame;
  std::vector<std::uint64_t> number;
  std::vector<std::uint32_t> around, start, order, cell_of;

  TileView view() const {
    return {frame,
            {number.data(), number.size()},
            {around.data(), around.size()},
            {start.data(), start.size()},
            {cell_of.data(), cell_of.size()}};
  }
  // World coordinates of a cell, in cells.
  Cell coordinates(std::uint32_t cell) const {
    int x, y, z;
    view().corner(cell / kTileCells, x, y, z);
    const auto place = static_cast<int>(cell % kTileCells);
    const auto first = [&](float origin) { return std::lround(origin / frame.size); };
    return {first(frame.origin.x) + x + place % 8, first(frame.origin.y) + y + place / 8 % 8,
            first(frame.origin.z) + z + place / 64};
  }
};

template <class T>
std::vector<T> host(Device& device, View<const T> view) {
  std::vector<T> out(view.size);
  if (!out.empty()) device.download(out.data(), view.data, out.size() * sizeof(T));
  return out;
}

Built build(Device& any, const std::vector<Vec3>& points, float size, int reach) {
  return on_device(any, [&]<class D>(D& device) {
    Buffer3 x(any);
    x.upload(points);
    TileGrid<D> grid(device);
    grid.build(std::as_const(x).view(), size, reach);
    const TileView v = grid.view();
    return Built{v.frame,
                 host(any, v.number),
                 host(any, v.around),
                 host(any, v.start),
                 host(any, grid.order()),
                 host(any, v.cell_of)};
  });
}

std::vector<Vec3> cloud(std::size_t n, float extent, Vec3 middle, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> in(-extent, extent);
  std::vector<Vec3> points(n);
  for (Vec3& p : points) p = middle + Vec3(in(random), in(random), in(random));
  return points;
}

class Tiles : public OnDevice {};

TEST_P(Tiles, EveryCellInReachIsThereAndKnowsItsParticles) {
  for (const int reach : {0, 2, 8}) {
    const float size = 0.03f;
    const auto points = cloud(700, 0.4f, {1.0f, -2.0f, 0.2f}, 3);
    const Built grid = build(*device, points, size, reach);
    std::map<Cell, std::uint32_t> cells;
    for (std::uint32_t c = 0; c < grid.view().cells(); ++c) cells[grid.coordinates(c)] = c;
    EXPECT_EQ(cells.size(), grid.view().cells());
    std::size_t held = 0;
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      const auto of = [&](float x) { return static_cast<long>(std::floor(x / size)); };
      const Vec3 p = points[i];
      for (const long d : {-long{reach}, 0L, long{reach}}) {
        EXPECT_TRUE(cells.count({of(p.x) + d, of(p.y) - d, of(p.z) + d}));
        EXPECT_TRUE(cells.count({of(p.x) + d, of(p.y), of(p.z)}));
      }
    }
    for (const auto& [at, c] : cells) {
      for (std::uint32_t i = grid.start[c]; i < grid.start[c + 1]; ++i, ++held) {
        const Vec3 p = points[grid.order[i]];
        EXPECT_EQ(grid.cell_of[i], c);
        const auto near = [&](float x, long k) { return std::abs(x / size - k - 0.5f) < 0.501f; };
        EXPECT_TRUE(near(p.x, std::get<0>(at)) && near(p.y, std::get<1>(at)) &&
                    near(p.z, std::get<2>(at)));
        if (i > grid.start[c]) {
          EXPECT_LT(grid.order[i - 1], grid.order[i]);
        }
      }
    }
    EXPECT_EQ(held, points.size());
  }
}

TEST_P(Tiles, TilesAreThoseInReachAndNoMore) {
  const float size = 0.1f;
  const auto tiles = [&](Vec3 p, int reach) {
    return build(*device, {p}, size, reach).number.size();
  };
  const Vec3 middle(0.45f, 0.45f, 0.45f), corner(0.05f, 0.05f, 0.05f);
  EXPECT_EQ(tiles(middle, 3), 1u);
  EXPECT_EQ(tiles(middle, 4), 8u);
  EXPECT_EQ(tiles(corner, 0), 1u);
  EXPECT_EQ(tiles(corner, 1), 8u);
  EXPECT_EQ(tiles(corner, 8), 27u);
}

TEST_P(Tiles, NeighboursAreThoseOfTheLattice) {
  const Built grid = build(*device, cloud(500, 0.6f, {0, 0, 0}, 5), 0.03f, 4);
  std::map<Cell, std::uint32_t> cells;
  for (std::uint32_t c = 0; c < grid.view().cells(); ++c) cells[grid.coordinates(c)] = c;
  std::mt19937 random(7);
  for (int k = 0; k < 3000; ++k) {
    const auto c = static_cast<std::uint32_t>(random() % grid.view().cells());
    const auto any = [&] { return static_cast<int>(random() % 17) - 8; };
    const int dx = any(), dy = any(), dz = any();
    const auto [x, y, z] = grid.coordinates(c);
    const auto there = cells.find({x + dx, y + dy, z + dz});
    EXPECT_EQ(grid.view().beside(c, dx, dy, dz), there == cells.end() ? kNoCell : there->second);
  }
}

// Thrown apart, two blobs have the tiles of two blobs.
TEST_P(Tiles, CostFollowsTheParticlesNotTheBoxAroundThem) {
  const float size = 0.0625f;  // tiles of half a metre
  auto points = cloud(3000, 0.3f, {0.25f, 0.25f, 0.25f}, 11);
  const std::size_t one = build(*device, points, size, 3).number.size();
  for (const Vec3& p : cloud(3000, 0.3f, {100.25f, 50.25f, -70.25f}, 11)) points.push_back(p);
  const Built both = build(*device, points, size, 3);
  EXPECT_EQ(both.number.size(), 2 * one);
  EXPECT_EQ(both.start.back(), points.size());
}

TEST_P(Tiles, NoParticlesAndWhatIsNoNumber) {
  EXPECT_EQ(build(*device, {}, 0.1f, 2).number.size(), 0u);
  auto points = cloud(100, 0.2f, {0, 0, 0}, 13);
  points[7] = {std::nanf(""), 0, 0};
  points[8] = {0, INFINITY, 0};
  EXPECT_EQ(build(*device, points, 0.05f, 2).start.back(), points.size());
}

// The lattice does not move with the particles.
TEST_P(Tiles, CellsAreTheWorlds) {
  for (const float shift : {0.0f, 0.013f, 0.4f, -3.7f}) {
    const auto points = cloud(50, 0.2f, {shift, 0, 0}, 17);
    const Built grid = build(*device, points, 0.05f, 1);
    const float tiles = grid.frame.origin.x / (kTileEdge * 0.05f);
    EXPECT_NEAR(tiles, std::round(tiles), 1e-4f);
  }
}

BARCHAN_ON_EACH_DEVICE(Tiles);

}  // namespace
}  // namespace barchan
