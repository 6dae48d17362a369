#include "spatial/poisson_storeys.h"

#include <algorithm>
#include <limits>

namespace barchan {

namespace {

struct Place {
  std::int64_t x, y, z;
};

std::int64_t divided(std::int64_t a) {
  return a >= 0 ? a / kTileEdge : -((kTileEdge - 1 - a) / kTileEdge);
}
std::int64_t rest(std::int64_t a) {
  return a - divided(a) * kTileEdge;
}

// Tiles of 8^3 places, in the order of their numbers in a box with one empty layer around them.
class Tiles {
 public:
  explicit Tiles(const std::vector<Place>& places) {
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
    low_ = {kHuge, kHuge, kHuge};
    Place high{-kHuge, -kHuge, -kHuge};
    for (const Place& p : places) {
      low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y), std::min(low_.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    low_ = {divided(low_.x) - 1, divided(low_.y) - 1, divided(low_.z) - 1};
    nx_ = divided(high.x) - low_.x + 2;
    ny_ = divided(high.y) - low_.y + 2;
    for (const Place& p : places) {
      const std::int64_t number = number_of(p);
      if (numbers_.empty() || numbers_.back() != number) numbers_.push_back(number);
    }
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  }

  std::size_t size() const { return numbers_.size(); }
  // From the lowest one on.
  Place place(std::size_t tile) const {
    const std::int64_t n = numbers_[tile];
    return {n % nx_ - 1, n / nx_ % ny_ - 1, n / nx_ / ny_ - 1};
  }
  // The tile that a place is in, or, of 27, one around it; behind the last one if it is not there.
  std::uint32_t tile_of(const Place& p) const { return find(number_of(p)); }
  std::uint32_t around(std::size_t tile, int of) const {
    return find(numbers_[tile] + ((of / 9 - 1) * ny_ + of / 3 % 3 - 1) * nx_ + of % 3 - 1);
  }

 private:
  std::int64_t number_of(const Place& p) const {
    return ((divided(p.z) - low_.z) * ny_ + divided(p.y) - low_.y) * nx_ + divided(p.x) - low_.x;
  }
  std::uint32_t find(std::int64_t number) const {
    const auto at = std::lower_bound(numbers_.begin(), numbers_.end(), number);
    return static_cast<std::uint32_t>(
        (at != numbers_.end() && *at == number ? at : numbers_.end()) - numbers_.begin());
  }

  Place low_{};
  std::int64_t nx_ = 0, ny_ = 0;
  std::vector<std::int64_t> numbers_;
};

// The next storey's tiles, and which of their cells those of the last one are.
std::vector<Place> climb(const std::vector<Place>& places, StoreyTables& tables) {
  const Tiles tiles(places);
  StoreyTables::Storey& below = tables.storeys.back();
  std::vector<std::uint32_t>& words = tables.words;
  below.tile_of = words.size();
  below.cell_of = below.tile_of + tiles.size() * kTileCells;
  words.resize(below.cell_of, static_cast<std::uint32_t>(places.size()));
  words.resize(below.cell_of + places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& p = places[i];
    const auto in_tile = (rest(p.z) * kTileEdge + rest(p.y)) * kTileEdge + rest(p.x);
    const auto cell = tiles.tile_of(p) * kTileCells + static_cast<std::uint32_t>(in_tile);
    words[below.tile_of + cell] = static_cast<std::uint32_t>(i);
    words[below.cell_of + i] = cell;
  }
  tables.storeys.push_back({tiles.size(), words.size(), 0, 0});
  std::vector<Place> next(tiles.size());
  for (std::size_t t = 0; t < tiles.size(); ++t) {
    for (int of = 0; of < 27; ++of) words.push_back(tiles.around(t, of));
    next[t] = tiles.place(t);
  }
  return next;
}

int extent_of(const std::vector<Place>& places) {
  if (places.empty()) return 0;
  Place low = places.front(), high = low;
  for (const Place& p : places) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  return static_cast<int>(std::max({high.x - low.x, high.y - low.y, high.z - low.z})) + 1;
}

}  // namespace

StoreyTables storey_tables(const TileFrame& frame, const std::vector<std::uint64_t>& found) {
  StoreyTables tables;
  std::vector<std::uint32_t> list;
  std::vector<Place> places;
  const auto nx = static_cast<std::uint64_t>(frame.nx), ny = static_cast<std::uint64_t>(frame.ny);
  for (std::size_t i = 0; i < found.size(); ++i) {
    tables.words.push_back(static_cast<std::uint32_t>(list.size()));
    if (found[i] % 2 == 0) continue;
    const std::uint64_t n = found[i] / 2;
    list.push_back(static_cast<std::uint32_t>(i));
    // The frame's first layer of tiles is empty.
    places.push_back({static_cast<std::int64_t>(n % nx) - 1,
                      static_cast<std::int64_t>(n / nx % ny) - 1,
                      static_cast<std::int64_t>(n / nx / ny) - 1});
  }
  tables.list = tables.words.size();
  tables.words.insert(tables.words.end(), list.begin(), list.end());
  tables.storeys.push_back({list.size(), 0, 0, 0});
  while (places.size() > kLastCells) places = climb(places, tables);
  tables.extent = extent_of(places);
  return tables;
}

}  // namespace barchan
