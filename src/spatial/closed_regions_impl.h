// Bodies of ClosedRegions, instantiated with PoissonSolver.
#pragma once

#include <utility>

#include "compute/reduce_ops.h"
#include "spatial/closed_region_kernels.h"
#include "spatial/closed_regions.h"

namespace barchan {

template <class Device>
ClosedRegions<Device>::ClosedRegions(Device& device)
    : device_(device),
      unknown_(device),
      reached_(device),
      next_(device),
      x_(device),
      y_(device),
      z_(device),
      changed_(device, 1),
      cells_(device),
      chunk_start_(device),
      chunk_region_(device),
      region_chunk_(device),
      weight_start_(device),
      weight_region_(device),
      weights_(device),
      chunk_sums_(device),
      sums_(device),
      parts_(device) {}

template <class Device>
void ClosedRegions<Device>::find(const LevelTiles& tiles, const PoissonMatrix& matrix,
                                 View<const float> inverse, const BodyTerm<Device>& bodies) {
  regions_ = chunks_ = 0;
  for (Buffer<std::uint64_t>* board : {&unknown_, &reached_, &next_, &x_, &y_, &z_}) {
    board->resize((tiles.tiles + 1) * 8);
  }
  for_each(device_, "poisson: closed", static_cast<std::int64_t>(unknown_.size()),
           MakeBoards{matrix, inverse, unknown_.view(), reached_.view(), x_.view(), y_.view(),
                      z_.view()});
  if (flood(tiles)) list(tiles, bodies);
}

// From the anchors over all open faces. Whether there are cells left.
template <class Device>
bool ClosedRegions<Device>::flood(const LevelTiles& tiles) {
  const auto pass = [&] {
    return FloodTile{tiles,
                     std::as_const(unknown_).view(),
                     std::as_const(x_).view(),
                     std::as_const(y_).view(),
                     std::as_const(z_).view(),
                     std::as_const(reached_).view(),
                     next_.view()};
  };
  device_.copy(next_.data(), reached_.data(), reached_.size() * sizeof(std::uint64_t));
  bool again = true;
  if constexpr (kFewTiles < Device >> 0) {
    if (tiles.tiles <= kFewTiles<Device>) {
      const FloodTile there = pass();
      reached_.swap(next_);
      flood_few(device_, "poisson: closed", tiles.tiles, there, pass());
      reached_.swap(next_);
      again = false;
    }
  }
  while (again) {
    constexpr int kPasses = 4;  // before the host looks
    changed_.clear_to_zero();
    for (int i = 0; i < kPasses; ++i) {
      for_each(device_, "poisson: closed", static_cast<std::int64_t>(tiles.tiles),
               FloodTiles{pass(), changed_.view()});
      reached_.swap(next_);
    }
    again = changed_.download()[0] != 0;
  }
  return reduce<Largest<bool>>(
      device_, "poisson: closed", static_cast<std::int64_t>(unknown_.size()),
      NotReached{std::as_const(unknown_).view(), std::as_const(reached_).view()});
}

// Closed regions are few and rare: the host sorts their cells.
template <class Device>
void ClosedRegions<Device>::list(const LevelTiles& tiles, const BodyTerm<Device>& bodies) {
  constexpr std::uint32_t kChunk = 1024;  // cells
  TileBoards boards{unknown_.download(), x_.download(), y_.download(), z_.download()};
  const std::vector<std::uint64_t> reached = reached_.download();
  for (std::size_t i = 0; i < reached.size(); ++i) boards.wanted[i] &= ~reached[i];
  std::vector<std::uint32_t> around(tiles.tiles * 27);
  device_.download(around.data(), tiles.around.data, around.size() * sizeof(std::uint32_t));
  const RegionLists lists = connected_regions(boards, around);

  std::vector<std::uint32_t> start, region, first;
  regions_ = lists.start.size() - 1;
  for (std::uint32_t r = 0; r < regions_; ++r) {
    first.push_back(static_cast<std::uint32_t>(start.size()));
    for (std::uint32_t i = lists.start[r]; i < lists.start[r + 1]; i += kChunk) {
      start.push_back(i);
      region.push_back(r);
    }
  }
  chunks_ = start.size();
  first.push_back(static_cast<std::uint32_t>(chunks_));
  start.push_back(lists.start.back());
  cells_.upload(lists.cells);
  chunk_start_.upload(start);
  chunk_region_.upload(region);
  region_chunk_.upload(first);
  chunk_sums_.resize(chunks_);
  sums_.resize(regions_);
  parts_.resize(regions_);

  const RegionWeights weights = free_constants(lists, bodies.download());
  weight_start_.upload(weights.start);
  weight_region_.upload(weights.region);
  weights_.upload(weights.weight);
}

template <class Device>
void ClosedRegions<Device>::balance(View<float> field) {
  if (regions_ == 0) return;
  const View<const std::uint32_t> cells = std::as_const(cells_).view();
  const View<const std::uint32_t> start = std::as_const(chunk_start_).view();
  for_each(device_, "poisson: closed", static_cast<std::int64_t>(chunks_),
           ChunkSums{cells, start, field, chunk_sums_.view()});
  for_each(device_, "poisson: closed", static_cast<std::int64_t>(regions_),
           RegionSums{std::as_const(region_chunk_).view(), std::as_const(chunk_sums_).view(),
                      sums_.view()});
  for_each(device_, "poisson: closed", static_cast<std::int64_t>(regions_),
           RegionParts{std::as_const(weight_start_).view(), std::as_const(weight_region_).view(),
                       std::as_const(weights_).view(), std::as_const(sums_).view(), parts_.view()});
  for_each(device_, "poisson: closed", static_cast<std::int64_t>(chunks_),
           TakeOffParts{cells, start, std::as_const(chunk_region_).view(),
                        std::as_const(parts_).view(), field});
}

}  // namespace barchan
