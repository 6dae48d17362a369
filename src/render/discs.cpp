#include "render/discs.h"

#include <algorithm>
#include <cmath>

namespace barchan {

namespace {

constexpr int kTile = 64;             // [pixels]
constexpr std::size_t kBlock = 8192;  // discs counted together

struct TileRange {
  int x0, x1, y0, y1;  // inclusive; empty if x0 > x1
};

struct Tiles {
  int across, down;
  int width, height;  // [pixels]

  std::size_t count() const { return static_cast<std::size_t>(across) * down; }
  TileRange touched(const Disc& disc) const {
    // Asked so that not-a-number is outside
    const bool inside = disc.radius > 0.0f && disc.x + disc.radius >= 0.0f &&
                        disc.y + disc.radius >= 0.0f &&
                        disc.x - disc.radius < static_cast<float>(width) &&
                        disc.y - disc.radius < static_cast<float>(height);
    if (!inside) {
      return {1, 0, 1, 0};
    }
    const auto tile = [](float pixel, int most) {
      const float last = static_cast<float>(most - 1);
      return static_cast<int>(std::clamp(pixel / kTile, 0.0f, last));
    };
    return {tile(disc.x - disc.radius, across), tile(disc.x + disc.radius, across),
            tile(disc.y - disc.radius, down), tile(disc.y + disc.radius, down)};
  }
};

// Which discs touch which tile, in the discs' order: a counting sort over fixed blocks of discs,
// so that the lists are the same however many threads fill them.
struct TileLists {
  std::vector<std::size_t> begin;  // of each tile's list; one more entry: the end
  std::vector<std::uint32_t> disc;
};

TileLists sort_into_tiles(std::span<const Disc> discs, const Tiles& tiles, const ThreadPool& pool) {
  const std::size_t blocks = (discs.size() + kBlock - 1) / kBlock, n = tiles.count();
  std::vector<std::uint32_t> place(blocks * n, 0);
  const auto for_each_touch = [&](std::size_t block, const auto& action) {
    const std::size_t end = std::min(discs.size(), (block + 1) * kBlock);
    for (std::size_t i = block * kBlock; i < end; ++i) {
      const TileRange range = tiles.touched(discs[i]);
      for (int ty = range.y0; ty <= range.y1; ++ty) {
        for (int tx = range.x0; tx <= range.x1; ++tx) {
          action(i, place[block * n + static_cast<std::size_t>(ty * tiles.across + tx)]);
        }
      }
    }
  };
  pool.parallel_blocks(blocks, [&](std::size_t block) {
    for_each_touch(block, [](std::size_t, std::uint32_t& count) { ++count; });
  });

  TileLists lists;
  std::uint32_t total = 0;
  for (std::size_t tile = 0; tile < n; ++tile) {
    lists.begin.push_back(total);
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::uint32_t count = place[block * n + tile];
      place[block * n + tile] = total;
      total += count;
    }
  }
  lists.begin.push_back(total);

  lists.disc.resize(total);
  pool.parallel_blocks(blocks, [&](std::size_t block) {
    for_each_touch(block, [&](std::size_t i, std::uint32_t& next) {
      lists.disc[next++] = static_cast<std::uint32_t>(i);
    });
  });
  return lists;
}

// The part of one disc in the pixels [x0, x1) x [y0, y1).
void draw_disc(const Disc& disc, std::int32_t id, int x0, int x1, int y0, int y1,
               DiscBuffer& buffer) {
  // Pixel centres are at i + 1/2. Clamped as floats: a near sphere's disc may exceed any integer.
  const auto first = [](float edge, int least, int end) {
    const float pixel = std::ceil(edge - 0.5f);
    return static_cast<int>(std::clamp(pixel, static_cast<float>(least), static_cast<float>(end)));
  };
  const auto last = [](float edge, int least, int end) {
    const float pixel = std::floor(edge - 0.5f);
    return static_cast<int>(
        std::clamp(pixel, static_cast<float>(least - 1), static_cast<float>(end - 1)));
  };
  const float r2 = disc.radius * disc.radius, to_unit = 1.0f / r2;
  const int end_y = last(disc.y + disc.radius, y0, y1);
  for (int y = first(disc.y - disc.radius, y0, y1); y <= end_y; ++y) {
    const float dy = static_cast<float>(y) + 0.5f - disc.y;
    const float half = std::sqrt(std::max(0.0f, r2 - dy * dy));
    const std::size_t row = static_cast<std::size_t>(y) * static_cast<std::size_t>(buffer.width);
    const int end_x = last(disc.x + half, x0, x1);
    for (int x = first(disc.x - half, x0, x1); x <= end_x; ++x) {
      const float dx = static_cast<float>(x) + 0.5f - disc.x;
      const float height = std::sqrt(std::max(0.0f, 1.0f - (dx * dx + dy * dy) * to_unit));
      const float value = disc.value + disc.bulge * height;
      const std::size_t pixel = row + static_cast<std::size_t>(x);
      if (value > buffer.value[pixel]) {
        buffer.value[pixel] = value;
        buffer.id[pixel] = id;
      }
    }
  }
}

}  // namespace

DiscBuffer draw_discs(std::span<const Disc> discs, int width, int height, float nothing,
                      const ThreadPool& pool) {
  DiscBuffer buffer{width, height, {}, {}};
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  buffer.value.assign(pixels, nothing);
  buffer.id.assign(pixels, -1);

  const Tiles tiles{(width + kTile - 1) / kTile, (height + kTile - 1) / kTile, width, height};
  const TileLists lists = sort_into_tiles(discs, tiles, pool);
  pool.parallel_blocks(tiles.count(), [&](std::size_t tile) {
    const int x0 = static_cast<int>(tile % static_cast<std::size_t>(tiles.across)) * kTile;
    const int y0 = static_cast<int>(tile / static_cast<std::size_t>(tiles.across)) * kTile;
    const int x1 = std::min(x0 + kTile, width), y1 = std::min(y0 + kTile, height);
    for (std::size_t k = lists.begin[tile]; k < lists.begin[tile + 1]; ++k) {
      const std::uint32_t i = lists.disc[k];
      draw_disc(discs[i], static_cast<std::int32_t>(i), x0, x1, y0, y1, buffer);
    }
  });
  return buffer;
}

}  // namespace barchan
