// How the CPU runs friction_schedule.h: cells in rows of eight, then the wall cells.
#pragma once

#include "solvers/flip/friction_schedule.h"
#include "spatial/tile_rows_cpu.h"

namespace barchan::flip {

template <class Kernel, class AtWalls>
void cells_then_walls(Cpu& device, const char* label, const CellSet& cells, const Kernel& kernel,
                      const WallList& walls, const AtWalls& at_walls) {
  for_each_cell(device, label, cells, kernel);
  for_each(device, "friction: walls", static_cast<std::int64_t>(walls.cells.size), at_walls);
}

template <class Kernel, class AtWalls>
CellSums<Kernel::kSums> sum_cells_then_walls(Cpu& device, const char* label, const CellSet& cells,
                                             const Kernel& kernel, const WallList& walls,
                                             const AtWalls& at_walls) {
  const CellSums<Kernel::kSums> sums = sum_cells(device, label, cells, kernel);
  for_each(device, "friction: walls", static_cast<std::int64_t>(walls.cells.size), at_walls);
  return sums;
}

inline void shove_cells(Cpu& device, const char* label, const CellSet& cells, const Shove& shove,
                        const ShoveAtWalls& at_walls) {
  for_each_cell(device, label, cells, shove);
  for_each(device, "friction: walls", static_cast<std::int64_t>(at_walls.walls.size), at_walls);
}

}  // namespace barchan::flip
