// Bodies of TileGrid, instantiated for each device in tiles_cpu.cpp and tiles_cuda.cu.
#pragma once

#include <algorithm>
#include <cmath>

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

template <class Device>
template <class Key>
void TileGrid<Device>::lay_tiles(const Buffer<Key>& keys, int reach) {
  const auto n = static_cast<std::int64_t>(keys.size());
  const View<const Key> key = keys.view();
  flags_.resize(keys.size());
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

  const View<const std::uint64_t> number = std::as_const(number_).view();
  if (std::uint64_t{tiles} * kTileCells >= kNoCell) {
    fail("a grid of {} tiles has more cells than can be numbered: use a coarser resolution", tiles);
  }
  around_.resize(std::size_t{tiles} * 27);
  for_each(device_, "tiles: around", std::int64_t{tiles} * 27,
           FindAround{number, frame_, around_.view()});
  tile_start_.resize(std::size_t{tiles} + 1);
  for_each(device_, "tiles: starts", std::int64_t{tiles} + 1,
           FindTileStarts<Key>{key, number, tile_start_.view()});
  start_.resize(std::size_t{tiles} * kTileCells + 1);
  for_each(device_, "tiles: starts", std::int64_t{tiles} * kTileCells + 1,
           FindStarts<Key>{key, number, std::as_const(tile_start_).view(), start_.view()});
  cell_of_.resize(keys.size());
  for_each(device_, "tiles: starts", std::int64_t{tiles} * kTileCells,
           FindCells{std::as_const(start_).view(), cell_of_.view()});
}

template <class Device>
TileView TileGrid<Device>::view() const {
  return {frame_, number_.view(), around_.view(), start_.view(), cell_of_.view()};
}

}  // namespace barchan
