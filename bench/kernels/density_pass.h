// One SPH density pass over neighbour lists: the work that lists are built for.
#pragma once

#include "base/hd.h"
#include "compute/view.h"
#include "math/sph_kernels.h"
#include "spatial/neighbours.h"

namespace barchan {

struct DensityPass {
  Neighbours near;
  View3<const float> x;
  Poly6 W;
  View<float> density;  // out, per unit mass [1/m^3]

  HD void operator()(int i) const {
    const Vec3 p = x[static_cast<std::size_t>(i)];
    const int n = near.count(i);
    float sum = W.w_r2(0.0f);
#pragma omp simd reduction(+ : sum)
    for (int k = 0; k < n; ++k) {
      const auto j = static_cast<std::size_t>(near(i, k));
      const Vec3 d = x[j] - p;
      sum += W.w_r2(dot(d, d));
    }
    density[static_cast<std::size_t>(i)] = sum;
  }
};

// Compiled in density_pass_cpu.cpp and density_pass_cuda.cu.
template <class Device>
void density_pass(Device& device, const DensityPass& pass);

}  // namespace barchan
