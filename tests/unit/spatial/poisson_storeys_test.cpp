#include "spatial/poisson_storeys.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

namespace barchan {
namespace {

// The place of each tile of a storey, found by going up from the finest one's.
std::vector<std::array<int, 3>> places_above(const StoreyTables& tables, std::size_t storey,
                                             const std::vector<std::array<int, 3>>& below) {
  std::vector<std::array<int, 3>> places(tables.storeys[storey + 1].tiles, {-1, -1, -1});
  for (std::size_t t = 0; t < below.size(); ++t) {
    const std::uint32_t cell = tables.words[tables.storeys[storey].cell_of + t];
    const int in_tile[3] = {int(cell % 8), int(cell / 8 % 8), int(cell / 64 % 8)};
    std::array<int, 3>& place = places[cell / kTileCells];
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_EQ((below[t][a] - in_tile[a]) % 8, 0);
      const int here = (below[t][a] - in_tile[a]) / 8;
      if (place[a] >= 0) {
        EXPECT_EQ(place[a], here);
      }  // all cells of a tile agree where it is
      place[a] = here;
    }
  }
  // Counted from the lowest one.
  for (std::size_t a = 0; a < 3; ++a) {
    int low = places[0][a];
    for (const auto& p : places) low = std::min(low, p[a]);
    for (auto& p : places) p[a] -= low;
  }
  return places;
}

// Two clouds of tiles far apart: in each storey tiles and cells are the same thing, and tiles know
// those around them.
TEST(PoissonStoreys, TilesAreTheCellsOfTheNextStorey) {
  const TileFrame frame{{}, 1.0f, 1.0f, 600, 500, 700};
  std::mt19937 random(3);
  std::set<std::uint64_t> numbers;
  while (numbers.size() < 6000) {
    const bool far = random() % 2 == 0;
    const auto at = [&](std::uint64_t middle) { return middle + random() % 120; };
    const std::uint64_t x = at(far ? 450 : 1), y = at(far ? 350 : 20), z = at(far ? 500 : 1);
    numbers.insert((z * 500 + y) * 600 + x);
  }
  std::vector<std::uint64_t> found;
  std::vector<std::array<int, 3>> places;
  std::size_t flagged = 0;
  for (const std::uint64_t n : numbers) {
    const bool has = random() % 5 != 0;
    found.push_back(2 * n + (has ? 1 : 0));
    if (!has) continue;
    places.push_back({int(n % 600) - 1, int(n / 600 % 500) - 1, int(n / 300000) - 1});
    ++flagged;
  }

  const StoreyTables tables = storey_tables(frame, found);
  ASSERT_EQ(tables.storeys[0].tiles, flagged);
  std::uint32_t before = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(tables.words[tables.before + i], before);
    if (found[i] % 2 == 1) {
      EXPECT_EQ(tables.words[tables.list + before++], i);
    }
  }
  ASSERT_EQ(tables.storeys.size(), 3u);
  EXPECT_LE(tables.storeys.back().tiles, kLastCells);
  EXPECT_GT(tables.storeys[tables.storeys.size() - 2].tiles, kLastCells);
  for (std::size_t s = 0; s + 1 < tables.storeys.size(); ++s) {
    const StoreyTables::Storey &below = tables.storeys[s], &above = tables.storeys[s + 1];
    std::size_t cells = 0;
    for (std::size_t c = 0; c < above.tiles * kTileCells; ++c) {
      const std::uint32_t tile = tables.words[below.tile_of + c];
      if (tile == below.tiles) continue;
      EXPECT_EQ(tables.words[below.cell_of + tile], c);
      ++cells;
    }
    EXPECT_EQ(cells, below.tiles);
    places = places_above(tables, s, places);
    for (std::size_t t = 0; t < above.tiles; ++t) {
      for (int of = 0; of < 27; ++of) {
        const std::array<int, 3> wanted{places[t][0] + of % 3 - 1, places[t][1] + of / 3 % 3 - 1,
                                        places[t][2] + of / 9 - 1};
        const auto there = std::find(places.begin(), places.end(), wanted) - places.begin();
        EXPECT_EQ(tables.words[above.around + t * 27 + std::size_t(of)], there);
      }
    }
  }
  int longest = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    int low = places[0][a], high = low;
    for (const auto& p : places) low = std::min(low, p[a]), high = std::max(high, p[a]);
    longest = std::max(longest, high - low + 1);
  }
  EXPECT_EQ(tables.extent, longest);
}

TEST(PoissonStoreys, NothingAndOneTile) {
  const TileFrame frame{{}, 1.0f, 1.0f, 4, 4, 4};
  const StoreyTables none = storey_tables(frame, {2 * 21, 2 * 22});
  ASSERT_EQ(none.storeys.size(), 1u);
  EXPECT_EQ(none.storeys[0].tiles, 0u);
  const StoreyTables one = storey_tables(frame, {2 * 21, 2 * 22 + 1});
  ASSERT_EQ(one.storeys.size(), 1u);
  EXPECT_EQ(one.storeys[0].tiles, 1u);
  EXPECT_EQ(one.words[one.list], 1u);
  EXPECT_EQ(one.extent, 1);
}

}  // namespace
}  // namespace barchan
