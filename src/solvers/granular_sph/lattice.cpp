#include "solvers/granular_sph/lattice.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace barchan::gsph {

namespace {

// The kernel's shape and its slope, at q = r / h.
double shape(double q) {
  const double a = std::max(1.0 - q, 0.0), b = std::max(0.5 - q, 0.0);
  return 2.0 * a * a * a - 8.0 * b * b * b;
}
double slope(double q) {
  const double a = std::max(1.0 - q, 0.0), b = std::max(0.5 - q, 0.0);
  return 24.0 * b * b - 6.0 * a * a;
}

// int shape dA over a plane at the distance z = d = h / 2, over d^2: of 2 pi r dr from d to 2 d.
double sheet() {
  constexpr int kSteps = 1000;
  double sum = 0.0;
  for (int k = 0; k < kSteps; ++k) {
    const double r = 1.0 + (k + 0.5) / kSteps;  // in spacings
    sum += 2.0 * kPi * r * shape(0.5 * r) / kSteps;
  }
  return sum;
}

}  // namespace

Kernels lattice_kernels(double spacing) {
  double count = 0.0, squares = 0.0, along = 0.0, layer = 0.0, layer_slope = 0.0;
  double layer_along = 0.0;
  for (int x = -1; x <= 1; ++x) {
    for (int y = -1; y <= 1; ++y) {
      for (int z = -1; z <= 1; ++z) {
        const double r = std::sqrt(x * x + y * y + z * z), q = 0.5 * r;  // r in spacings
        count += shape(q);
        if (r == 0.0) continue;
        squares += slope(q) * slope(q);
        along -= slope(q) * z * z / r;  // times d / h: what a gradient of 1 gives
        if (x == -1) layer_along -= slope(q) * z * z / r;
        if (z != -1) continue;
        layer += shape(q);
        layer_slope -= slope(q) / r;
      }
    }
  }
  constexpr double kDensity = 28.0 / 9.0 / kPi;  // of samples, see lattice.h
  const CubicSpline W(static_cast<float>(2.0 * spacing));
  const double steep = 1.0 / (count * 2.0 * spacing);
  const double gradient_of_one = 0.5 * along / count;
  return {W, static_cast<float>(1.0 / count), static_cast<float>(steep),
          static_cast<float>(steep / gradient_of_one), static_cast<float>(squares),
          static_cast<float>(layer / (kDensity * sheet())),
          // The sheet's slope: d shape / dr z / r over 2 pi r dr is z [shape] = shape(1/2), with q.
          static_cast<float>(layer_slope / (kDensity * 2.0 * kPi * 2.0 * shape(0.5))),
          // Of a gradient along it a layer has `layer_along`, that between two such the rest.
          static_cast<float>(layer_along / (along - 2.0 * layer_along) / layer)};
}

double pressure_step(const Kernels& k, double dt) {
  return 1.0 / (2.0 * dt * dt * static_cast<double>(k.steep * k.grad * k.squares));
}

double stress_step(const Kernels& k, double dt) {
  return 3.0 / (2.0 * dt * static_cast<double>(k.grad * k.grad * k.squares));
}

double softness(double gravity, double depth, double dt, double spacing, int iterations) {
  return 2.0 * depth / spacing * gravity * dt * dt / spacing / iterations;
}

}  // namespace barchan::gsph
