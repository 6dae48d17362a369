// Bodies of TileGrid, instantiated for each device in tiles_cpu.cpp and tiles_cuda.cu.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "spatial/cells.h"
#include "spatial/tile_grid.h"
#include "spatial/tile_kernels.h"

namespace barchan {

template <class Device>
TileGrid<Device>::TileGrid(Device& device)
    : device_(device),
      order_(device),
      keys32_(device),
      keys64_(device),
      flags_(device),
      first_(device),
      wanted_(device),
      candidates_(device),
      number_(device),
      scratch_(device),
      around_(device),
      tile_start_(device),
      start_(device),
      cell_of_(device) {}

template <class Device>
void TileGrid<Device>::build(View3<const float> x, float size, int reach) {
  if (reach < 0 || reach > kTileEdge) fail("a reach of {} cells is not 0 to {}", reach, kTileEdge);
  frame_ = tile_frame(bounds_of(device_, x), size);
  int bits = 10;
  while (bits < 63 && ((frame_.tiles() * kTileCells) >> bits) != 0) ++bits;
  if (bits <= 32) {
    sort(keys32_, x, bits);
    lay_tiles(keys32_, reach);
  } else {
    sort(keys64_, x, bits);
    lay_tiles(keys64_, reach);
  }
}

template <class Device>
template <class Key>
void TileGrid<Device>::sort(Buffer<Key>& keys, View3<const float> x, int bits) {
  keys.resize(x.size);
  order_.resize(x.size);
  for_each(device_, "tiles: keys", static_cast<std::int64_t>(x.size),
           CellKeys<Key, TileFrame>{x, frame_, keys.view(), order_.view()});
  device_.sort_pairs("tiles: sort", keys.view(), order_.view(), bits);
}

// The numbers of the tiles within reach, where each of the frame's has its place in a table.
template <class Device>
template <class Key>
void TileGrid<Device>::number_in_frame(View<const Key> key, int reach) {
  const auto tiles = static_cast<std::size_t>(frame_.tiles());
  wanted_.resize(tiles);
  flags_.resize(tiles + 1);
  number_.resize(tiles);
  wanted_.clear_to_zero();
  for_each(device_, "tiles: table", static_cast<std::int64_t>(key.size),
           WantInFrame<Key>{key, reach, wanted_.view()});
  in_one_launch(
      device_, "tiles: table", static_cast<std::int64_t>(tiles),
      NumberWanted{{std::as_const(wanted_).view(), frame_, flags_.view()}, number_.view()});
  std::uint32_t flagged = 0;
  device_.download(&flagged, flags_.data() + tiles, sizeof(flagged));
  number_.resize(flagged);
}

// The same by sorting the numbers of all that are wanted.
template <class Device>
template <class Key>
void TileGrid<Device>::number_by_sorting(View<const Key> key, int reach) {
  const auto n = static_cast<std::int64_t>(key.size);
  flags_.resize(key.size);
  for_each(device_, "tiles: table", n, TileBegins<Key>{key, flags_.view()});
  const std::uint32_t filled =
      device_.exclusive_scan("tiles: table", std::as_const(flags_).view(), flags_.view());
  const View<const std::uint32_t> before = std::as_const(flags_).view();
  first_.resize(filled);
  wanted_.resize(filled);
  for_each(device_, "tiles: table", n, TileFirsts<Key>{key, before, first_.view(), wanted_.view()});
  for_each(device_, "tiles: table", n, WantAround<Key>{key, before, reach, wanted_.view()});

  const View<const std::uint32_t> wanted = std::as_const(wanted_).view();
  scratch_.resize(filled);
  for_each(device_, "tiles: table", filled, CountBits{wanted, scratch_.view()});
  const std::uint32_t listed =
      device_.exclusive_scan("tiles: table", std::as_const(scratch_).view(), scratch_.view());
  candidates_.resize(listed);
  around_.resize(listed);
  for_each(device_, "tiles: table", filled,
           ListTiles<Key>{key, std::as_const(first_).view(), wanted, std::as_const(scratch_).view(),
                          frame_, candidates_.view(), around_.view()});
  int bits = 1;
  while (bits < 63 && (frame_.tiles() >> bits) != 0) ++bits;
  device_.sort_pairs("tiles: table", candidates_.view(), around_.view(), bits);
  scratch_.resize(listed);
  const View<const std::uint64_t> sorted = std::as_const(candidates_).view();
  for_each(device_, "tiles: table", listed, DistinctTiles{sorted, scratch_.view()});
  const std::uint32_t tiles =
      device_.exclusive_scan("tiles: table", std::as_const(scratch_).view(), scratch_.view());
  number_.resize(tiles);
  for_each(device_, "tiles: table", listed,
           KeepDistinct{sorted, std::as_const(scratch_).view(), number_.view()});
}

template <class Device>
template <class Key>
void TileGrid<Device>::lay_tiles(const Buffer<Key>& keys, int reach) {
  const View<const Key> key = keys.view();
  // A place for each of the frame's tiles costs 8 bytes: no more than a few a particle.
  constexpr std::uint64_t kFew = 1 << 16;
  if (frame_.tiles() <= std::max(kFew, std::uint64_t{key.size} / 4)) {
    number_in_frame(key, reach);
  } else {
    number_by_sorting(key, reach);
  }
  const View<const std::uint64_t> number = std::as_const(number_).view();
  const std::size_t tiles = number.size;
  if (std::uint64_t{tiles} * kTileCells >= kNoCell) {
    fail("a grid of {} tiles has more cells than can be numbered: use a coarser resolution", tiles);
  }
  around_.resize(tiles * 27);
  tile_start_.resize(tiles + 1);
  start_.resize(tiles * kTileCells + 1);
  cell_of_.resize(keys.size());
  in_one_launch(device_, "tiles: starts", static_cast<std::int64_t>(start_.size()),
                FillTiles<Key>{{number, frame_, around_.view()},
                               {key, number, tile_start_.view()},
                               {key, number, std::as_const(tile_start_).view(), start_.view()},
                               {std::as_const(start_).view(), cell_of_.view()}});
}

template <class Device>
TileView TileGrid<Device>::view() const {
  return {frame_, number_.view(), around_.view(), start_.view(), cell_of_.view()};
}

}  // namespace barchan
