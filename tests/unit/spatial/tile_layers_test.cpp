#include "spatial/tile_layers.h"

#include <set>
#include <vector>

#include "compute/cpu.h"
#include "unit/devices.h"

namespace barchan {
namespace {

struct IsFilled {
  TileView tiles;
  HD bool operator()(std::uint32_t cell) const {
    return tiles.start[cell] != tiles.start[cell + 1];
  }
};

// Layers around scattered cells, some at borders of tiles, against walking from cell to cell.
TEST(TileLayers, AreWhatWalkingFindsWithFacesAndWithCorners) {
  Cpu device(2);
  const std::vector<Vec3> points{{0.5f, 0.5f, 0.5f},
                                 {7.5f, 7.5f, 7.5f},
                                 {8.5f, 3.5f, 15.5f},
                                 {-0.5f, 12.5f, 4.5f},
                                 {20.5f, 1.5f, 1.5f}};
  Buffer3 x(device);
  x.upload(points);
  TileGrid<Cpu> grid(device);
  grid.build(std::as_const(x).view(), 1.0f, 4);
  const TileView tiles = grid.view();
  for (const bool corners : {false, true}) {
    TileLayers<Cpu> layers(device);
    if (corners) {
      layers.build<GrowSetAround>("test", tiles, IsFilled{tiles}, 3);
    } else {
      layers.build("test", tiles, IsFilled{tiles}, 3);
    }
    std::set<std::uint32_t> inside;
    for (std::uint32_t c = 0; c < tiles.cells(); ++c) {
      if (IsFilled{tiles}(c)) inside.insert(c);
    }
    for (int k = 1; k <= 3; ++k) {
      std::set<std::uint32_t> next;
      for (const std::uint32_t c : inside) {
        for (int n = 0; n < 27; ++n) {
          const int dx = n % 3 - 1, dy = n / 3 % 3 - 1, dz = n / 9 - 1;
          if (!corners && dx * dx + dy * dy + dz * dz != 1) continue;
          const std::uint32_t at = tiles.beside(c, dx, dy, dz);
          if (at != kNoCell && !inside.contains(at)) next.insert(at);
        }
      }
      std::set<std::uint32_t> found;
      for (std::uint32_t c = 0; c < tiles.cells(); ++c) {
        if (layers.layer(k).has(c)) found.insert(c);
      }
      EXPECT_EQ(found, next) << k;
      inside.insert(next.begin(), next.end());
      for (std::uint32_t c = 0; c < tiles.cells(); ++c) {
        EXPECT_EQ(layers.within(k).has(c), inside.contains(c));
      }
    }
  }
}

}  // namespace
}  // namespace barchan
