// The smoothing kernels of the particle methods. For all of them h is the support radius: W = 0 at
// r >= h. No early returns and no divisions by zero, so that loops over neighbours vectorise.
//
//   symbol  meaning                                       unit
//   h       support radius                                m
//   q       r / h                                         -
//   W       kernel, its integral over space is 1          1/m^3
//   grad    gradient of W with regard to x_i,             1/m^4
//           of r_ij = x_i - x_j; zero at r = 0
//   factor  (dW/dr) / r, so that grad = factor r_ij       1/m^5
//
// Each term takes its scale first: g++ makes a branch of a plain number times max(..., 0). What
// takes a root, grad, vectorises with -fno-math-errno.
#pragma once

#include "base/hd.h"
#include "base/units.h"
#include "math/scalar.h"
#include "math/vec3.h"

namespace barchan {

// Constants are kept as powers of 1/h times functions of q: h^9 itself leaves the range of float
// below h = 0.05 mm. W = w_scale * shape(q), factor = g_scale * shape'(q) / q.
struct KernelScale {
  float h;        // support radius [m]
  float inv_h;    // [1/m], larger by 4 roundings so that W(h) is 0 to the bit for every h
  float w_scale;  // [1/m^3]
  float g_scale;  // [1/m^5]

  // W is c / h^3 times the shape.
  HD constexpr KernelScale(float h_, double c)
      : h(h_),
        inv_h(static_cast<float>((1.0 + 2.4e-7) / h_)),
        w_scale(static_cast<float>(c / (double(h_) * h_ * h_))),
        g_scale(static_cast<float>(c / (double(h_) * h_ * h_ * h_ * h_))) {}
};

// W = 315 / (64 pi h^9) (h^2 - r^2)^3                                Mueller et al. 2003, eq. 20
struct Poly6 : KernelScale {
  HD constexpr explicit Poly6(float h_) : KernelScale(h_, 315.0 / (64.0 * kPi)) {}

  HD float w(float r) const { return w_r2(r * r); }
  // From the squared distance, which saves the root.
  template <class T>
  HD T w_r2(T r2) const {
    const T a = max(1.0f - r2 * (inv_h * inv_h), 0.0f);
    return w_scale * a * a * a;
  }
  HD float grad_factor(float r) const { return grad_factor_r2(r * r); }
  HD float grad_factor_r2(float r2) const {
    const float a = max(1.0f - r2 * inv_h * inv_h, 0.0f);
    return -6.0f * g_scale * a * a;
  }
  HD Vec3 grad(const Vec3& r_ij) const { return grad_factor_r2(length_squared(r_ij)) * r_ij; }
};

// W = 15 / (pi h^6) (h - r)^3                                        Mueller et al. 2003, eq. 21
// The slope does not vanish towards r = 0, so that near particles still push each other apart.
struct Spiky : KernelScale {
  HD constexpr explicit Spiky(float h_) : KernelScale(h_, 15.0 / kPi) {}

  template <class T>
  HD T w(T r) const {
    const T a = max(1.0f - r * inv_h, 0.0f);
    return w_scale * a * a * a;
  }
  // 1/q is written q / q^2, which fades to 0 within h/10^6 of r = 0, where the direction is noise.
  HD float grad_factor(float r) const {
    const float q = r * inv_h, a = max(1.0f - q, 0.0f);
    return -3.0f * g_scale * a * a * (q / max(q * q, 1e-12f));
  }
  HD float slope() const { return -3.0f * g_scale * h; }  // dW/dr at r = 0 [1/m^4]
  HD Vec3 grad(const Vec3& r_ij) const { return grad_factor(length(r_ij)) * r_ij; }
};

// W = 8 / (pi h^3) { 6 (q^3 - q^2) + 1  for q <= 1/2;  2 (1 - q)^3  for q <= 1 }   Monaghan 1992
struct CubicSpline : KernelScale {
  HD constexpr explicit CubicSpline(float h_) : KernelScale(h_, 8.0 / kPi) {}

  // Both pieces in one: 2 (1 - q)^3 - 8 (1/2 - q)^3 = 6 (q^3 - q^2) + 1.
  HD float w(float r) const {
    const float q = r * inv_h, a = max(1.0f - q, 0.0f), b = max(0.5f - q, 0.0f);
    const float k = 2.0f * w_scale;
    return k * a * a * a - 4.0f * k * b * b * b;
  }
  // shape'(q)/q is -6 (1 - q)^2 / q outside and 18 q - 12 inside, both -3 where they meet: the
  // outer piece, held at -3, plus the rest of the inner one.
  HD float grad_factor(float r) const {
    const float q = r * inv_h, b = max(0.5f - q, 0.0f), c = q + b, a = max(1.0f - c, 0.0f);
    const float k = -6.0f * g_scale;
    return k * a * a / c + 3.0f * k * b;
  }
  HD Vec3 grad(const Vec3& r_ij) const { return grad_factor(length(r_ij)) * r_ij; }
};

}  // namespace barchan
