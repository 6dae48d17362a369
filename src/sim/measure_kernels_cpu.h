// Volumes on the CPU, a cell at a time: the particles of a cell share their candidates, which lie
// side by side for the vector units (spatial/kernels_cpu.h). bench/kernels measures it beside the
// generic kernel; tests/unit/sim compares the two.
#pragma once

#include <cmath>

#include "math/sph_kernels.h"
#include "spatial/kernels_cpu.h"

namespace barchan {

struct VolumesByCell {
  CellsView cells;
  View3<const float> x;
  CubicSpline W;
  float lattice_sum;
  View<float> volume;  // out

  void range(int begin, int end) const {
    static thread_local Candidates candidates;
    CellWalk walk(cells, cells, begin);
    for (int c = begin; c < end; ++c) {
      walk.gather(c, x, candidates);
      const auto cell = static_cast<std::size_t>(c);
      for (std::uint32_t i = cells.start[cell]; i < cells.start[cell + 1]; ++i) {
        volume[i] = lattice_sum / kernel_sum(candidates, x[i]);
      }
    }
  }

 private:
  float kernel_sum(const Candidates& candidates, const Vec3& p) const {
    const float *cx = candidates.x.data(), *cy = candidates.y.data(), *cz = candidates.z.data();
    const CubicSpline kernel = W;
    const float px = p.x, py = p.y, pz = p.z;
    const auto count = static_cast<int>(candidates.count);
    float sum = 0.0f;
    BARCHAN_SUM_LOOP(sum)
    for (int k = 0; k < count; ++k) {
      const float dx = cx[k] - px, dy = cy[k] - py, dz = cz[k] - pz;
      sum += kernel.w(std::sqrt(dx * dx + dy * dy + dz * dz));
    }
    return sum;
  }
};

}  // namespace barchan
