// Blinn, "A generalization of algebraic surface drawing", ACM Transactions on Graphics 1982, with
// the kernel of zhu_bridson.cpp instead of a Gaussian: the baseline of Zhu & Bridson's figure 4.
#include <algorithm>
#include <cmath>

#include "params/field.h"
#include "surface/brick_lanes.h"
#include "surface/field.h"

namespace barchan {

namespace {

class Blobby final : public ParticleField {
 public:
  Blobby(const FieldScale& scale, double level) : scale_(scale) {
    // Around a lone particle the sum is (1 - (d/R)^2)^3. Its value and slope at d = r:
    const double s = scale.depth / scale.radius, q = 1.0 - s * s;
    level_ = static_cast<float>(is_set(level) ? level : q * q * q);
    voxels_ = static_cast<float>(scale.radius / (6.0 * q * q * s));
  }
  float reach() const override { return scale_.radius; }
  float outside() const override { return std::min(scale_.radius, voxels_ * level_); }
  float inside() const override { return -scale_.radius; }

  void sample(const NearParticles& near, float* phi) const override {
    const float inverse = 1.0f / scale_.radius;
    const Lanes sx = lane_x() * inverse;
    sample_brick(phi, [&](int z, int part) -> Lanes {
      const Lanes sy = lane_y(part) * inverse;
      Lanes sum{};
      for (std::size_t i = 0; i < near.count; ++i) {
        const float ez = (near.z[i] - static_cast<float>(z)) * inverse;
        const Lanes ex = near.x[i] * inverse - sx, ey = near.y[i] * inverse - sy;
        const Lanes q = max(1.0f - ez * ez - ex * ex - ey * ey, 0.0f);
        sum += q * q * q;
      }
      const Lanes d = max(voxels_ * (level_ - sum), inside());
      return d < outside() ? d : Lanes{} + outside();
    });
  }

 private:
  FieldScale scale_;
  float level_;   // of the sum on the surface
  float voxels_;  // for a change of the sum by one, near the surface of a lone particle [voxels]
};

}  // namespace

std::unique_ptr<ParticleField> make_blobby(const FieldScale& scale, double level) {
  return std::make_unique<Blobby>(scale, level);
}

}  // namespace barchan
