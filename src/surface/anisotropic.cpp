// Yu & Turk, "Reconstructing surfaces of particle-based fluids using anisotropic kernels", ACM
// Transactions on Graphics 2013.
//
//   symbol    meaning                                                     unit
//   w_ij      1 - (|x_j - x_i| / reach)^3, within the reach
//   x_w       mean of the neighbours by w_ij: particles move towards it   voxels
//   C         covariance of the neighbours by w_ij                        voxels^2
//   G_i       takes the kernel's ellipsoid to the unit ball               1/voxel
//   c_i       one over the sum of (1 - (d/R)^2)^3 over the neighbours: a particle's share of space
//   F         sum of c_i (1 - |G_i (x - x_i)|^2)^3
//   phi       R (level^(1/4) - F^(1/4))                                   voxels
//
// What differs from the paper. The axes are scaled to an ellipsoid of the ball's volume, not by a
// constant that fits one support and one spacing. No axis is longer than that of a sheet, so that
// threads, too, have short kernels. Where there are fewer neighbours than below a plane, kernels
// are smaller, down to a lone particle's, which is the sphere it has with the other methods.
//
// Above a plane F falls like (1 - (d/a)^2)^4: its fourth root is nearly straight, so that linear
// interpolation between samples finds the surface. Moved particles lie deeper by up to 0.65
// spacings below a plane; so the level is not a half but low, near the kernels' rim, where a flat
// bed has its height back to 0.2 spacings.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/units.h"
#include "compute/lanes.h"
#include "math/eigen3.h"
#include "math/sym3.h"
#include "surface/brick_lanes.h"
#include "surface/field.h"

namespace barchan {

namespace {

constexpr float kLevel = 0.02f;      // of F on the surface
constexpr float kLookAround = 1.5f;  // reach of w_ij [kernel radii]
constexpr int kFewNeighbours = 4;    // with fewer, itself counted, a particle is a ball

struct Ellipsoid {
  Sym3 g;              // [1/voxel]
  float share = 0.0f;  // c_i
  float reach = 0.0f;  // the longest half axis [voxels]
};

BARCHAN_INLINE Lanes load(const float* from) {
  Lanes a;
  std::memcpy(&a, from, sizeof(a));
  return a;
}

// Sums over the neighbours of a particle, itself included. Places are relative to it.
struct Moments {
  int count = 0;
  float share = 0.0f;   // sum of (1 - (d/R)^2)^3
  float weight = 0.0f;  // sum of w
  Vec3 mean;            // of w [voxels]
  Sym3 covariance;      // about the mean [voxels^2]
};

Moments moments_about(const Vec3& p, const NearParticles& near, float radius) {
  const float reach2 = kLookAround * kLookAround * radius * radius;
  const float per_reach2 = 1.0f / reach2, per_radius2 = 1.0f / (radius * radius);
  Lanes k{}, n{}, w0{}, wx{}, wy{}, wz{}, xx{}, yy{}, zz{}, xy{}, xz{}, yz{};
  for (std::size_t i = 0; i < near.count; i += kLanes) {
    const Lanes dx = load(&near.x[i]) - p.x, dy = load(&near.y[i]) - p.y,
                dz = load(&near.z[i]) - p.z;
    const Lanes d2 =
        keep_first(dx * dx + dy * dy + dz * dz, static_cast<int>(near.count - i), 2.0f * reach2);
    const Lanes q = max(1.0f - d2 * per_radius2, 0.0f);
    k += q * q * q;
    const Lanes s2 = d2 * per_reach2;
    n += s2 < 1.0f ? Lanes{} + 1.0f : Lanes{};
    const Lanes w = max(1.0f - s2 * sqrt_of(s2), 0.0f);
    const Lanes ax = w * dx, ay = w * dy, az = w * dz;
    w0 += w, wx += ax, wy += ay, wz += az;
    xx += ax * dx, yy += ay * dy, zz += az * dz;
    xy += ax * dy, xz += ax * dz, yz += ay * dz;
  }
  Moments m;
  m.count = static_cast<int>(sum_of(n));
  m.share = sum_of(k);
  m.weight = sum_of(w0);
  m.mean = Vec3(sum_of(wx), sum_of(wy), sum_of(wz)) / m.weight;
  const Vec3 c = m.mean;
  m.covariance =
      Sym3(sum_of(xx), sum_of(yy), sum_of(zz), sum_of(xy), sum_of(xz), sum_of(yz)) / m.weight -
      Sym3(c.x * c.x, c.y * c.y, c.z * c.z, c.x * c.y, c.x * c.z, c.y * c.z);
  return m;
}

class Anisotropic final : public ParticleField {
 public:
  Anisotropic(const FieldScale& scale, const SurfaceParams& params, SortedParticles& particles,
              Cpu& device)
      : scale_(scale),
        stretch_(static_cast<float>(params.max_stretch)),
        blend_(static_cast<float>(params.position_blend)),
        ellipsoid_(particles.size()) {
    const HostTimer timer(device.profiler(), "surface: anisotropy");
    std::vector<Vec3> moved(particles.size());
    const std::size_t blocks = particles.blocks().size();
    device.pool().parallel_blocks(blocks, [&](std::size_t b) {
      NearParticles near;
      for (int n = 0; n < 8; ++n) {
        shape_brick(particles, static_cast<std::uint32_t>(b), n, near, moved);
      }
    });
    float longest = 0.0f, furthest = 0.0f;
    for (std::uint32_t i = 0; i < particles.size(); ++i) {
      longest = std::max(longest, ellipsoid_[i].reach);
      furthest = std::max(furthest, length(moved[i] - particles.place(i)));
      particles.move(i, moved[i]);
    }
    // Particles are looked up where they were
    reach_ = longest + furthest;
  }

  float reach() const override { return reach_; }
  float outside() const override { return root_ * scale_.radius; }
  float inside() const override { return -0.5f * scale_.radius; }

  void sample(const NearParticles& near, float* phi) const override {
    sample_brick(phi, [&](int z, int part) {
      const Lanes y = lane_y(part);
      Lanes sum{};
      for (std::size_t i = 0; i < near.count; ++i) {
        const Ellipsoid& e = ellipsoid_[near.index[i]];
        const float dz = near.z[i] - static_cast<float>(z);
        if (std::abs(dz) >= e.reach) continue;
        const Lanes dx = near.x[i] - lane_x(), dy = near.y[i] - y;
        const Lanes gx = e.g.xx * dx + e.g.xy * dy + e.g.xz * dz,
                    gy = e.g.xy * dx + e.g.yy * dy + e.g.yz * dz,
                    gz = e.g.xz * dx + e.g.yz * dy + e.g.zz * dz;
        const Lanes q = max(1.0f - gx * gx - gy * gy - gz * gz, 0.0f);
        sum += e.share * q * q * q;
      }
      const Lanes d = scale_.radius * (root_ - sqrt_of(sqrt_of(sum)));
      return max(d, inside());
    });
  }

 private:
  void shape_brick(const SortedParticles& particles, std::uint32_t block, int n,
                   NearParticles& near, std::vector<Vec3>& moved) {
    const std::uint32_t begin = particles.start(block, n), end = particles.start(block, n + 1);
    if (begin == end) return;
    const Index3 in_block = brick_in_block(n), corner = kBrick * in_block;
    particles.gather(2 * particles.blocks().blocks()[block] + in_block, kLookAround * scale_.radius,
                     near, 1.0f);
    for (std::uint32_t i = begin; i < end; ++i) {
      const Vec3 place = particles.place(i);
      const Vec3 in_brick = place - Vec3(static_cast<float>(corner.x), static_cast<float>(corner.y),
                                         static_cast<float>(corner.z));
      const Moments m = moments_about(in_brick, near, scale_.radius);
      ellipsoid_[i] = m.count < kFewNeighbours ? ball() : ellipsoid(m);
      ellipsoid_[i].share = 1.0f / m.share;
      const Vec3 step = m.count < kFewNeighbours ? Vec3() : blend_ * m.mean;
      moved[i] = place + step * std::min(1.0f, scale_.spacing / std::max(length(step), 1e-6f));
    }
  }

  // Whose sum passes the level at the depth: 1 - (r/a)^2 = level^(1/3).
  Ellipsoid ball() const {
    const float a = scale_.depth / std::sqrt(1.0f - std::cbrt(kLevel));
    return {Sym3::identity() / a, 0.0f, a};
  }

  // Axes as the eigenvalues of C, none less than the largest / stretch, with the volume of the
  // ball. Corners, threads and drops have fewer neighbours than a plane, and kernels as much
  // smaller: those of full size would swell there.
  Ellipsoid ellipsoid(const Moments& m) const {
    const Eigen3<float> e = eigen_symmetric(m.covariance);
    const float least = e.values.x / stretch_;
    const Vec3 raw(e.values.x, std::max(e.values.y, least), std::max(e.values.z, least));
    const float reach = kLookAround * scale_.radius / scale_.spacing;
    const float of_plane = static_cast<float>(2.0 / 3.0 * kPi) * reach * reach * reach;
    const float part = std::min(std::cbrt(static_cast<float>(m.count) / of_plane), 1.0f);
    const float size = std::max(part * scale_.radius, ball().reach);
    const float longest = size * std::cbrt(stretch_);
    const Vec3 axes = std::min(size / std::cbrt(raw.x * raw.y * raw.z), longest / raw.x) * raw;
    Sym3 g;
    for (int k = 0; k < 3; ++k) {
      const Vec3 v(e.vectors(0, k), e.vectors(1, k), e.vectors(2, k));
      g += Sym3(v.x * v.x, v.y * v.y, v.z * v.z, v.x * v.y, v.x * v.z, v.y * v.z) / axes[k];
    }
    return {g, 0.0f, axes.x};
  }

  FieldScale scale_;
  float stretch_, blend_;
  float root_ = std::sqrt(std::sqrt(kLevel));
  float reach_ = 0.0f;
  std::vector<Ellipsoid> ellipsoid_;  // of each sorted particle
};

}  // namespace

std::unique_ptr<ParticleField> make_anisotropic(const FieldScale& scale,
                                                const SurfaceParams& params,
                                                SortedParticles& particles, Cpu& device) {
  return std::make_unique<Anisotropic>(scale, params, particles, device);
}

}  // namespace barchan
