// Bodies of ClosedRegions, instantiated with PoissonSolver.
#pragma once

#include <utility>

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
      left_(device, 1),
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
  const auto way = [&](Buffer<std::uint64_t>& from, Buffer<std::uint64_t>& to) {
    return FloodTile{tiles,
                     std::as_const(unknown_).view(),
                     std::as_const(x_).view(),
                     std::as_const(y_).view(),
                     std::as_const(z_).view(),
                     std::as_const(from).view(),
                     to.view()};
  };
  const MakeBoards boards{matrix,       inverse,   unknown_.view(), reached_.view(),
                          next_.view(), x_.view(), y_.view(),       z_.view()};
  in_one_launch(device_, "poisson: closed", static_cast<std::int64_t>(unknown_.size()) * 8,
                FloodAll{boards, way(reached_, next_), way(next_, reached_), left_.view()});
  if (left_.download()[0] != 0) list(tiles, bodies);
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
Balance ClosedRegions<Device>::balance() {
  return {static_cast<std::int64_t>(regions_),
          static_cast<std::int64_t>(chunks_),
          std::as_const(cells_).view(),
          std::as_const(chunk_start_).view(),
          std::as_const(chunk_region_).view(),
          std::as_const(region_chunk_).view(),
          std::as_const(weight_start_).view(),
          std::as_const(weight_region_).view(),
          std::as_const(weights_).view(),
          chunk_sums_.view(),
          sums_.view(),
          parts_.view()};
}

}  // namespace barchan
