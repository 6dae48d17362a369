// How a GPU runs friction_schedule.h: the thread of a cell sees to its walls as well, so that no
// stage has to wait for another in between.
#pragma once

#include "solvers/flip/friction_schedule.h"
#include "spatial/tile_cells.cuh"

namespace barchan::flip {

// Asked for before a cell's kernel stores anything, so that nothing waits for it afterwards.
inline constexpr int kNoWall = -1;
__device__ inline int wall_of(const WallList& walls, std::uint32_t cell) {
  if (walls.number.size == 0) return kNoWall;
  const auto number = static_cast<int>(walls.number[cell]);
  return walls.roles[cell] & role::kTouches ? number : kNoWall;
}

template <class Kernel, class AtWalls>
__device__ void cells_then_walls(Grid& grid, const char*, const ThreadCells& cells,
                                 const Kernel& kernel, const WallList& walls,
                                 const AtWalls& at_walls) {
  cells.each([&](std::uint32_t cell) {
    const int wall = wall_of(walls, cell);
    kernel(CellOfTile(cells.tiles, cell));
    if (wall != kNoWall) at_walls(wall);
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
    const int wall = wall_of(walls, cell);
    add_sums(kernel, CellOfTile(cells.tiles, cell), mine);
    if (wall != kNoWall) at_walls(wall);
  });
  return reduce_of_all<Sum<CellSums<Kernel::kSums>>>(grid, mine);
}

// Each face takes what the walls of both its cells do to it.
__device__ inline void shove_cells(Grid& grid, const char*, const ThreadCells& cells,
                                   const Shove& shove, const ShoveAtWalls& at_walls) {
  cells.each([&](std::uint32_t cell) {
    bool walls = at_walls.shares.touches(cell);
    for (int a = 0; a < 3; ++a) {
      if (at_walls.shares.touches(cells.tiles.before(cell, a))) walls = true;
    }
    shove(CellOfTile(cells.tiles, cell));
    for (int a = 0; walls && a < 3; ++a) at_walls.shove(a, cell);
  });
  grid.wait();
}

}  // namespace barchan::flip
