#include "compute/cuda.cuh"
#include "solvers/dem/dem_step.h"

namespace barchan {

namespace dem {

template <bool kHistory>
void push_pairs(Cuda& device, std::int64_t pairs, const PushPairs<kHistory>& kernel) {
  for_each(device, "contacts", pairs, kernel);
}

}  // namespace dem

template class DemSolver<Cuda>;

}  // namespace barchan
