// Regions of cells that no anchor ties to a pressure: there the matrix of poisson.h is singular,
// because adding a constant to p changes nothing. This finds them, and takes means off there.
//
// With bodies: a constant in a closed region changes something after all, if it moves one. A body
// that floats in a closed tank is pushed from all sides alike and stays; a piston does not.
// Constants that differ from region to region may hold a body between them: a piston between two
// closed chambers. So what is taken off is the part of a field in the space of those constants, one
// a region, that move no body.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/buffer.h"
#include "spatial/level_tiles.h"
#include "spatial/poisson_bodies.h"

namespace barchan {

struct Balance;
struct PoissonMatrix;

// Bits of the cells of a plane of a tile, bit y * 8 + x; eight planes a tile.
struct TileBoards {
  std::vector<std::uint64_t> wanted;   // cells to be sorted by region
  std::vector<std::uint64_t> x, y, z;  // something flows through the face on the low side
};

// Cells, region by region.
struct RegionLists {
  std::vector<std::uint32_t> cells;
  std::vector<std::uint32_t> start;  // of each region; one more
};
RegionLists connected_regions(const TileBoards& boards, const std::vector<std::uint32_t>& around);

// The part of a field in constants that move no body, from its sums over regions: weight x the sum
// over `region`, for each entry of a region's list.
struct RegionWeights {
  std::vector<std::uint32_t> start;  // of each region's entries; one more
  std::vector<std::uint32_t> region;
  std::vector<double> weight;
};
RegionWeights free_constants(const RegionLists& regions, const BodyEntries& bodies);

template <class Device>
class ClosedRegions {
 public:
  explicit ClosedRegions(Device& device);

  bool none() const { return regions_ == 0; }

  // Tiles of 8^3 cells; inverse: positive for unknowns.
  void find(const LevelTiles& tiles, const PoissonMatrix& matrix, View<const float> inverse,
            const BodyTerm<Device>& bodies);

  Balance balance();

 private:
  void list(const LevelTiles& tiles, const BodyTerm<Device>& bodies);

  Device& device_;
  Buffer<std::uint64_t> unknown_, reached_, next_, x_, y_, z_;
  Buffer<std::uint32_t> left_;
  std::size_t regions_ = 0, chunks_ = 0;
  Buffer<std::uint32_t> cells_, chunk_start_, chunk_region_, region_chunk_;
  Buffer<std::uint32_t> weight_start_, weight_region_;
  Buffer<double> weights_;
  Buffer<double> chunk_sums_, sums_, parts_;  // of chunks, of regions, what is taken off
};

}  // namespace barchan
