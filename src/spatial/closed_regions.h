// Regions of cells that no anchor ties to a pressure: there the matrix of poisson.h is singular,
// because adding a constant to p changes nothing. This finds them, and takes means off there.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/buffer.h"
#include "spatial/level_tiles.h"

namespace barchan {

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

template <class Device>
class ClosedRegions {
 public:
  explicit ClosedRegions(Device& device);

  // Tiles of 8^3 cells; inverse: positive for unknowns.
  void find(const LevelTiles& tiles, const PoissonMatrix& matrix, View<const float> inverse);

  // Takes the field's mean off in each closed region.
  void balance(View<float> field);

 private:
  bool flood(const LevelTiles& tiles);
  void list(const LevelTiles& tiles);

  Device& device_;
  Buffer<std::uint64_t> unknown_, reached_, next_, x_, y_, z_;
  Buffer<std::uint32_t> changed_;
  std::size_t regions_ = 0, chunks_ = 0;
  Buffer<std::uint32_t> cells_, chunk_start_, chunk_region_, region_chunk_;
  Buffer<double> sums_, means_;  // of chunks, of regions
};

}  // namespace barchan
