#include "solvers/pbf/lattice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/units.h"

namespace barchan::pbf {

Kernels lattice_kernels(double spacing) {
  const auto h = static_cast<float>(2.0 * spacing);
  const Poly6 W(h);
  const Spiky G(h);
  double count = W.w_r2(0.0f), squares = 0.0, slope = 0.0;
  for (int x = -2; x <= 2; ++x) {
    for (int y = -2; y <= 2; ++y) {
      for (int z = -2; z <= 2; ++z) {
        const double r = spacing * std::sqrt(x * x + y * y + z * z);
        if (r == 0.0 || r >= h) continue;
        const double f = G.grad_factor(static_cast<float>(r));
        count += W.w(static_cast<float>(r));
        squares += f * f * r * r;
        slope -= f * z * z * spacing * spacing;
      }
    }
  }
  const double V = 1.0 / count;
  return {W, G, static_cast<float>(V), static_cast<float>(V * V * squares),
          static_cast<float>(1.0 / (V * slope))};
}

ArtificialPressure artificial_pressure(const Kernels& kernels, double spacing,
                                       const PbfParams& params) {
  const auto dq = static_cast<float>(params.s_corr_distance) * kernels.W.h;
  const float reference = kernels.W.w(dq);
  const float rest = kernels.W.w(static_cast<float>(spacing)) / reference;
  return {static_cast<float>(params.s_corr) / kernels.stiffness, 1.0f / reference,
          params.tension == "clamped" ? rest * rest * rest * rest : 0.0f};
}

std::vector<float> relaxation(int iterations) {
  const char* mode = std::getenv("PBF_RELAX");
  const double A = std::getenv("PBF_A") ? std::atof(std::getenv("PBF_A")) : 2.82;
  const double bound = std::getenv("PBF_BOUND") ? std::atof(std::getenv("PBF_BOUND")) : 0.33;
  std::vector<float> omega;
  if (mode && mode[0] != 'c') {
    omega.assign(static_cast<std::size_t>(iterations), static_cast<float>(std::atof(mode)));
    return omega;
  }
  const double z0 = std::cosh(std::acosh(1.0 / bound) / iterations);
  const double a0 = A * (z0 - 1.0) / (z0 + 1.0);
  for (int k = 0; k < iterations; ++k) {
    const double a = 0.5 * (A + a0) - 0.5 * (A - a0) * std::cos(kPi * (2 * k + 1) / (2.0 * iterations));
    omega.push_back(static_cast<float>(1.0 / a));
  }
  if (mode && mode[1] == 'r') std::reverse(omega.begin(), omega.end());
  return omega;
}

}  // namespace barchan::pbf
