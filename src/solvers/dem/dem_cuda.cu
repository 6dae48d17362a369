#include "compute/cuda.cuh"

namespace barchan::dem {

// No blocks of spheres that sum their own pairs: each pair is written down.
inline std::uint32_t block_bits(const Cuda&, std::size_t) {
  return 0;
}

}  // namespace barchan::dem

// After the way pairs are pushed here.
#include "solvers/dem/dem_step.h"

namespace barchan {

namespace dem {

template <bool kHistory>
void push_pairs(Cuda& device, std::int64_t pairs, const PushPairs<kHistory>& kernel,
                const BlockSums&) {
  for_each(device, "contacts", pairs, kernel);
}

}  // namespace dem

template class DemSolver<Cuda>;

}  // namespace barchan
