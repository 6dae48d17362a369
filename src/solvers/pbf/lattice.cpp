#include "solvers/pbf/lattice.h"

#include <cmath>

namespace barchan::pbf {

Kernels lattice_kernels(double spacing, const PbfParams& params) {
  const auto h = static_cast<float>(2.0 * spacing);
  const Poly6 W(h);
  const Spiky G(h);
  const bool paper = params.tension == "paper";
  const float at_zero = paper ? W.w_scale : G.w_scale;
  double count = at_zero, squares = 0.0, slope = 0.0;
  for (int x = -2; x <= 2; ++x) {
    for (int y = -2; y <= 2; ++y) {
      for (int z = -2; z <= 2; ++z) {
        const double r = spacing * std::sqrt(x * x + y * y + z * z);
        if (r == 0.0 || r >= h) continue;
        const double f = G.grad_factor(static_cast<float>(r));
        count += paper ? W.w(static_cast<float>(r)) : G.w(static_cast<float>(r));
        squares += f * f * r * r;
        slope -= f * z * z * spacing * spacing;
      }
    }
  }
  const double V = 1.0 / count;
  return {W,
          G,
          paper,
          at_zero,
          static_cast<float>(V),
          static_cast<float>(V * V * squares),
          static_cast<float>(V * slope),
          static_cast<float>(spacing * spacing * spacing)};
}

ArtificialPressure artificial_pressure(const Kernels& kernels, double spacing,
                                       const PbfParams& params) {
  const Poly6& W = kernels.W;
  const auto relative = [&](double r) {
    return W.w(static_cast<float>(r)) / W.w(static_cast<float>(params.s_corr_distance) * W.h);
  };
  const auto acts = [&](double r) {
    return static_cast<float>(params.s_corr) / kernels.stiffness * std::pow(relative(r), 4.0f);
  };
  return {acts(0.0), params.tension == "clamped" ? acts(spacing) : 0.0f};
}

double safe_s_corr(double s_corr_distance) {
  const Poly6 W(1.0f);
  const float there = W.w(static_cast<float>(s_corr_distance)) / W.w(0.2f);
  return 0.2 * std::pow(static_cast<double>(there), 4.0);
}

float relaxation(int iterations) {
  return iterations == 1 ? 0.45f : 0.6f;
}

double compression(double gravity, double depth, double dt, double spacing,
                   const PbfParams& params) {
  const Kernels k = lattice_kernels(spacing, params);
  const double work = static_cast<double>(relaxation(params.iterations)) * params.iterations;
  return gravity * depth * dt * dt * static_cast<double>(k.stiffness / k.slope) / work;
}

}  // namespace barchan::pbf
