// How a GPU runs friction_schedule.h: the thread of a cell sees to its walls as well, so that no
// stage has to wait for another in between.
#pragma once

#include "solvers/flip/friction_schedule.h"
#include "spatial/tile_cells.cuh"

namespace barchan::flip {

template <class AtWalls>
__device__ void see_to_walls(const WallList& walls, std::uint32_t cell, const AtWalls& at_walls) {
  if (walls.roles[cell] & role::kTouches) at_walls(static_cast<int>(walls.number[cell]));
}

template <class Kernel, class AtWalls>
__device__ void cells_then_walls(Grid& grid, const char*, const ThreadCells& cells,
                                 const Kernel& kernel, const WallList& walls,
                                 const AtWalls& at_walls) {
  cells.each([&](std::uint32_t cell) {
    kernel(CellOfTile(cells.tiles, cell));
    see_to_walls(walls, cell, at_walls);
  });
  grid.wait();
}

template <class Kernel, class AtWalls>
__device__ CellSums<Kernel::kSums> sum_cells_then_walls(Grid& grid, const char*,
                                                        const ThreadCells& cells,
                                                        const Kernel& kernel, const WallList& walls,
                                                        const AtWalls& at_walls) {
  CellSums<Kernel::kSums> mine;
  cells.each([&](std::uint32_t cell) {
    add_sums(kernel, CellOfTile(cells.tiles, cell), mine);
    see_to_walls(walls, cell, at_walls);
  });
  return reduce_of_all<Sum<CellSums<Kernel::kSums>>>(grid, mine);
}

// Each face takes what its walls do to it.
__device__ inline void shove_cells(Grid& grid, const char*, const ThreadCells& cells,
                                   const Shove& shove, const ShoveAtWalls& at_walls) {
  cells.each([&](std::uint32_t cell) {
    shove(CellOfTile(cells.tiles, cell));
    for (int a = 0; a < 3; ++a) at_walls.shove(a, cell);
  });
  grid.wait();
}

}  // namespace barchan::flip
