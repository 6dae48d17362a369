#include "compute/cpu.h"
#include "spatial/tile_grid_impl.h"

namespace barchan {

template class TileGrid<Cpu>;

}  // namespace barchan
