// Zhu & Bridson, "Animating sand as a fluid", SIGGRAPH 2005, section 5; the cure of its stray
// sheets from Solenthaler, Schlaefli & Pajarola, "A unified particle model for fluid-solid
// interactions", Computer Animation and Virtual Worlds 2007.
//
//   symbol   meaning                                              unit
//   e_i      (x_i - x) / R, a particle as seen from a sample      radii
//   q_i      1 - |e_i|^2, or 0 where that is negative
//   k_i      q_i^3, the kernel
//   m        sum k_i e_i / sum k_i: the mean seen from the sample radii
//   f        1, less where the mean moves faster than the sample
//   phi      R |m| - r f                                          voxels
#include <cmath>

#include "surface/brick_lanes.h"
#include "surface/field.h"

namespace barchan {

namespace {

struct SymmetricLanes {
  Lanes xx, yy, zz, xy, xz, yz;
};

// The largest eigenvalue, by Newton's method on the characteristic polynomial, from above: all
// three roots are real, so the steps never pass the largest. They begin at mean + sqrt(2/3)
// |deviator|, which no eigenvalue exceeds, and which is the answer itself where two or all three
// others are equal.
BARCHAN_INLINE Lanes largest_eigenvalue(const SymmetricLanes& a) {
  const Lanes mean = (a.xx + a.yy + a.zz) * (1.0f / 3.0f);
  const Lanes x = a.xx - mean, y = a.yy - mean, z = a.zz - mean;
  const Lanes off2 = a.xy * a.xy + a.xz * a.xz + a.yz * a.yz;
  // Of the deviator: t^3 - p t - det = 0, with p half its squared norm
  const Lanes p = 0.5f * (x * x + y * y + z * z) + off2;
  const Lanes det =
      x * (y * z - a.yz * a.yz) - a.xy * (a.xy * z - a.yz * a.xz) + a.xz * (a.xy * a.yz - y * a.xz);
  Lanes t = sqrt_of(p) * 1.1547005f;  // sqrt(2/3) sqrt(2 p)
  constexpr int kSteps = 6;
  for (int n = 0; n < kSteps; ++n) {
    const Lanes slope = 3.0f * t * t - p;  // at the start 3 p, at a double root 0
    t -= (t * (t * t - p) - det) / max(slope, 1e-6f);
  }
  return mean + t;
}

class ZhuBridson final : public ParticleField {
 public:
  ZhuBridson(const FieldScale& scale, bool concavity_fix) : scale_(scale), fix_(concavity_fix) {}
  float reach() const override { return scale_.radius; }
  float outside() const override { return scale_.radius - scale_.depth; }
  float inside() const override { return -scale_.depth; }
  void sample(const NearParticles& near, float* phi) const override {
    sample_brick(phi, [&](int z, int part) {
      return fix_ ? sample_part<true>(near, z, part) : sample_part<false>(near, z, part);
    });
  }

 private:
  // d(mean)/dx, from the derivative of k_i along x, 6 q_i^2 e_i / R:
  //   [sum 6 q^2 e e^T - m (sum 6 q^2 e)^T] / sum k.
  // It need not be symmetric. Its symmetric part tells how fast the mean moves along the sample's
  // own way, and its eigenvalues are real.
  struct SlopeSums {
    Lanes gx{}, gy{}, gz{};  // sum q^2 e
    SymmetricLanes ee{};     // sum q^2 e e^T
  };

  template <bool kFix>
  Lanes sample_part(const NearParticles& near, int z, int part) const {
    const float inverse = 1.0f / scale_.radius;
    const Lanes sx = lane_x() * inverse, sy = lane_y(part) * inverse;
    const float sz = static_cast<float>(z) * inverse;
    Lanes k{}, kx{}, ky{}, kz{};
    SlopeSums s;
    for (std::size_t i = 0; i < near.count; ++i) {
      const float ez = near.z[i] * inverse - sz, ez2 = ez * ez;
      if (ez2 >= 1.0f) continue;
      const Lanes ex = near.x[i] * inverse - sx, ey = near.y[i] * inverse - sy;
      const Lanes q = max(1.0f - ez2 - ex * ex - ey * ey, 0.0f), qq = q * q, w = qq * q;
      k += w, kx += w * ex, ky += w * ey, kz += w * ez;
      if constexpr (kFix) {
        const Lanes qx = qq * ex, qy = qq * ey, qz = qq * ez;
        s.gx += qx, s.gy += qy, s.gz += qz;
        s.ee.xx += qx * ex, s.ee.yy += qy * ey, s.ee.zz += qz * ez;
        s.ee.xy += qx * ey, s.ee.xz += qx * ez, s.ee.yz += qy * ez;
      }
    }
    const Lanes one_over_k = 1.0f / max(k, 1e-30f);
    const Lanes mx = kx * one_over_k, my = ky * one_over_k, mz = kz * one_over_k;
    Lanes depth = Lanes{} + scale_.depth;
    if constexpr (kFix) depth *= kept_depth(s, mx, my, mz, one_over_k);
    const Lanes phi = scale_.radius * sqrt_of(mx * mx + my * my + mz * mz) - depth;
    return k > 0.0f ? phi : Lanes{} + outside();
  }

  // f = gamma^3 - 3 gamma^2 + 3 gamma with gamma = (high - lambda) / (high - low), which is
  // 1 - (1 - gamma)^3.
  BARCHAN_INLINE static Lanes kept_depth(const SlopeSums& s, const Lanes& mx, const Lanes& my,
                                         const Lanes& mz, const Lanes& one_over_k) {
    const Lanes c = 6.0f * one_over_k;
    const SymmetricLanes slope = {c * (s.ee.xx - mx * s.gx),
                                  c * (s.ee.yy - my * s.gy),
                                  c * (s.ee.zz - mz * s.gz),
                                  c * (s.ee.xy - 0.5f * (mx * s.gy + my * s.gx)),
                                  c * (s.ee.xz - 0.5f * (mx * s.gz + mz * s.gx)),
                                  c * (s.ee.yz - 0.5f * (my * s.gz + mz * s.gy))};
    constexpr float kLow = 0.4f, kHigh = 3.5f;
    const Lanes above = max((largest_eigenvalue(slope) - kLow) * (1.0f / (kHigh - kLow)), 0.0f);
    const Lanes part = above < 1.0f ? above : Lanes{} + 1.0f;  // 1 - gamma
    return 1.0f - part * part * part;
  }

  FieldScale scale_;
  bool fix_;
};

}  // namespace

std::unique_ptr<ParticleField> make_zhu_bridson(const FieldScale& scale, bool concavity_fix) {
  return std::make_unique<ZhuBridson>(scale, concavity_fix);
}

}  // namespace barchan
