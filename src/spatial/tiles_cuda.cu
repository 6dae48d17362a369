#include "compute/grid.cuh"
#include "spatial/tile_grid_impl.h"

namespace barchan {

template class TileGrid<Cuda>;

}  // namespace barchan
