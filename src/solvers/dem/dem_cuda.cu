#include "compute/cuda.cuh"

namespace barchan::dem {

// Each sphere sums all its pairs.
inline std::uint32_t block_bits(const Cuda&, std::size_t) {
  return 0;
}

}  // namespace barchan::dem

// After what is done in a way of its own here.
#include "solvers/dem/dem_step.h"

namespace barchan {

namespace dem {

template <bool kHistory>
void push_pairs(Cuda& device, const PushPairs<kHistory>& pairs, const BlockSums& sums) {
  for_each(device, "contacts", static_cast<std::int64_t>(pairs.spheres.size),
           GatherPairs<kHistory>{pairs, sums});
}

inline void drift_grains(Cuda& device, std::size_t n, const Drift& drift) {
  for_each(device, "drift", static_cast<std::int64_t>(n), drift);
}

inline void kick_grains(Cuda& device, std::size_t n, const Kick& kick, Summary* result) {
  reduce_to<JoinSummary>(device, "kick", static_cast<std::int64_t>(n), kick, result);
}

}  // namespace dem

template class DemSolver<Cuda>;

}  // namespace barchan
