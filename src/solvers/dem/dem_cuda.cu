#include "compute/cuda.cuh"

namespace barchan::dem {

// Each sphere sums all its pairs.
inline std::uint32_t block_bits(const Cuda&, std::size_t) {
  return 0;
}

}  // namespace barchan::dem

// After the way pairs are pushed here.
#include "solvers/dem/dem_step.h"

namespace barchan {

namespace dem {

template <bool kHistory>
void push_pairs(Cuda& device, const PushPairs<kHistory>& pairs, const BlockSums& sums) {
  for_each(device, "contacts", static_cast<std::int64_t>(pairs.spheres.size),
           GatherPairs<kHistory>{pairs, sums});
}

}  // namespace dem

template class DemSolver<Cuda>;

}  // namespace barchan
