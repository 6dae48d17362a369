// One SPH density pass over neighbour lists: the work that lists are built for.
#pragma once

#include "base/hd.h"
#include "compute/view.h"
#include "math/sph_kernels.h"
#include "spatial/neighbours.h"

namespace barchan {

template <class Points>
struct DensityPass {
  Neighbours near;
  Points x;
  Poly6 W;
  View<float> density;  // out, per unit mass [1/m^3]

  HD void operator()(int i) const {
    const Vec3 p = point(x, static_cast<std::size_t>(i));
    const int n = near.count(i);
    // In locals, so that the loop below is known to read nothing else.
    const Neighbours lists = near;
    const Points points = x;
    const Poly6 kernel = W;
    float sum = W.w_r2(0.0f);
    BARCHAN_SUM_LOOP(sum)
    for (int k = 0; k < n; ++k) {
      sum += kernel.w_r2(distance_squared(points, lists(i, k), p));
    }
    density[static_cast<std::size_t>(i)] = sum;
  }
};

// The pass on each device, over the layout that suits it: separate coordinates on the CPU, packed
// points on a GPU. Compiled in density_pass_cpu.cpp and density_pass_cuda.cu.
void density_pass(Cpu& device, const DensityPass<View3<const float>>& pass);
void density_pass(Cuda& device, const DensityPass<View<const Float4>>& pass);

}  // namespace barchan
