// Animals of ellipsoids and tapered limbs that melt into each other, about 1 m tall, looking along
// +x. Left and right are mirror images in z.
#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/polygonise.h"
#include "geometry/stand_in_makers.h"

namespace barchan::stand_ins {

namespace {

struct Ellipsoid {
  Vec3d center, radii;  // [m]
};
struct Limb {
  Vec3d from, to;       // [m]
  double r_from, r_to;  // [m]
};

// Nearly the distance: exact on the surface and to first order off it.
double distance(const Ellipsoid& e, const Vec3d& p) {
  const Vec3d q = p - e.center;
  const Vec3d u(q.x / e.radii.x, q.y / e.radii.y, q.z / e.radii.z);
  const Vec3d g(u.x / e.radii.x, u.y / e.radii.y, u.z / e.radii.z);
  const double r = length(u), slope = length(g);
  return slope > 0.0 ? r * (r - 1.0) / slope : -std::min({e.radii.x, e.radii.y, e.radii.z});
}

double distance(const Limb& limb, const Vec3d& p) {
  const Vec3d d = limb.to - limb.from;
  const double t = std::min(std::max(dot(p - limb.from, d) / length_squared(d), 0.0), 1.0);
  return length(p - limb.from - t * d) - (limb.r_from + t * (limb.r_to - limb.r_from));
}

class Animal {
 public:
  explicit Animal(double blend) : blend_(blend) {}

  void add(const Ellipsoid& e) { ellipsoids_.push_back(e); }
  void add(const Limb& limb) { limbs_.push_back(limb); }
  // And its mirror image.
  void add_both(Ellipsoid e) {
    add(e);
    e.center.z = -e.center.z;
    add(e);
  }
  void add_both(Limb limb) {
    add(limb);
    limb.from.z = -limb.from.z, limb.to.z = -limb.to.z;
    add(limb);
  }

  Mesh mesh(double cell) const {
    Aabb box;
    for (const Ellipsoid& e : ellipsoids_)
      box = join(box, {e.center - e.radii, e.center + e.radii});
    for (const Limb& limb : limbs_) {
      box = join(box, Aabb{limb.from, limb.from}.grown(limb.r_from));
      box = join(box, Aabb{limb.to, limb.to}.grown(limb.r_to));
    }
    return polygonise([this](const Vec3d& p) { return field(p); }, box.grown(2.0 * blend_), cell);
  }

 private:
  // A soft minimum, -k log(sum exp(-d / k)): the order of the parts does not matter.
  double field(const Vec3d& p) const {
    double sum = 0.0;
    for (const Ellipsoid& e : ellipsoids_) sum += std::exp(-distance(e, p) / blend_);
    for (const Limb& limb : limbs_) sum += std::exp(-distance(limb, p) / blend_);
    // Where all are far the sum is too small for a logarithm; it is outside in any case.
    return sum > 0.0 ? -blend_ * std::log(sum) : 1.0;
  }

  double blend_;  // width of the fillets [m]
  std::vector<Ellipsoid> ellipsoids_;
  std::vector<Limb> limbs_;
};

constexpr double kCell = 0.018;  // [m]

}  // namespace

Mesh make_bunny() {
  Animal bunny(0.016);
  bunny.add(Ellipsoid{{-0.12, 0.30, 0.0}, {0.29, 0.25, 0.22}});                 // body
  bunny.add(Ellipsoid{{0.10, 0.36, 0.0}, {0.17, 0.21, 0.16}});                  // chest
  bunny.add_both(Ellipsoid{{-0.17, 0.19, 0.17}, {0.18, 0.17, 0.10}});           // haunches
  bunny.add_both(Limb{{-0.16, 0.05, 0.20}, {0.07, 0.045, 0.21}, 0.05, 0.045});  // hind feet
  bunny.add_both(Limb{{0.16, 0.26, 0.10}, {0.23, 0.05, 0.10}, 0.065, 0.045});   // fore legs
  bunny.add_both(Limb{{0.23, 0.045, 0.10}, {0.29, 0.04, 0.10}, 0.045, 0.038});  // paws
  bunny.add(Ellipsoid{{0.23, 0.60, 0.0}, {0.16, 0.13, 0.13}});                  // head
  bunny.add(Ellipsoid{{0.35, 0.56, 0.0}, {0.07, 0.06, 0.07}});                  // muzzle
  bunny.add_both(Ellipsoid{{0.25, 0.55, 0.09}, {0.07, 0.06, 0.05}});            // cheeks
  bunny.add_both(Limb{{0.16, 0.68, 0.06}, {0.07, 0.85, 0.10}, 0.040, 0.055});   // ears
  bunny.add_both(Limb{{0.07, 0.85, 0.10}, {-0.01, 0.98, 0.12}, 0.055, 0.025});
  bunny.add(Ellipsoid{{-0.42, 0.21, 0.0}, {0.08, 0.08, 0.08}});  // tail
  return bunny.mesh(kCell);
}

Mesh make_armadillo() {
  Animal armadillo(0.014);
  armadillo.add(Ellipsoid{{0.02, 0.48, 0.0}, {0.15, 0.22, 0.17}});   // belly
  armadillo.add(Ellipsoid{{-0.07, 0.53, 0.0}, {0.14, 0.25, 0.20}});  // shell
  for (int band = 0; band < 4; ++band) {                             // ridges on the back
    const double y = 0.40 + 0.09 * band;
    armadillo.add(Ellipsoid{{-0.10, y, 0.0}, {0.125, 0.040, 0.195}});
  }
  armadillo.add(Ellipsoid{{0.06, 0.80, 0.0}, {0.10, 0.09, 0.09}});                  // head
  armadillo.add(Limb{{0.10, 0.79, 0.0}, {0.27, 0.73, 0.0}, 0.060, 0.026});          // snout
  armadillo.add(Limb{{0.0, 0.66, 0.0}, {0.04, 0.76, 0.0}, 0.10, 0.08});             // neck
  armadillo.add_both(Limb{{0.02, 0.86, 0.05}, {-0.03, 0.97, 0.10}, 0.025, 0.034});  // ears
  armadillo.add_both(Limb{{-0.01, 0.63, 0.16}, {0.04, 0.54, 0.33}, 0.070, 0.052});  // arms
  armadillo.add_both(Limb{{0.04, 0.54, 0.33}, {0.17, 0.69, 0.38}, 0.052, 0.042});
  armadillo.add_both(Limb{{0.17, 0.69, 0.38}, {0.24, 0.77, 0.35}, 0.030, 0.014});  // claws
  armadillo.add_both(Limb{{0.17, 0.69, 0.38}, {0.22, 0.79, 0.40}, 0.030, 0.014});
  armadillo.add_both(Limb{{0.17, 0.69, 0.38}, {0.18, 0.80, 0.44}, 0.030, 0.014});
  armadillo.add_both(Limb{{0.0, 0.34, 0.11}, {0.06, 0.20, 0.18}, 0.100, 0.075});  // legs
  armadillo.add_both(Limb{{0.06, 0.20, 0.18}, {0.0, 0.05, 0.19}, 0.070, 0.055});
  armadillo.add_both(Limb{{0.0, 0.045, 0.19}, {0.15, 0.035, 0.24}, 0.055, 0.038});  // feet
  armadillo.add(Limb{{-0.10, 0.33, 0.0}, {-0.28, 0.13, 0.0}, 0.085, 0.055});        // tail
  armadillo.add(Limb{{-0.28, 0.13, 0.0}, {-0.50, 0.06, 0.0}, 0.055, 0.020});
  return armadillo.mesh(kCell);
}

Mesh make_camel() {
  Animal camel(0.014);
  camel.add(Ellipsoid{{0.0, 0.58, 0.0}, {0.33, 0.14, 0.135}});  // body
  for (const double x : {-0.14, 0.14}) {
    camel.add(Limb{{x, 0.66, 0.0}, {x - 0.01, 0.81, 0.0}, 0.105, 0.045});  // humps
  }
  camel.add(Limb{{0.27, 0.58, 0.0}, {0.42, 0.54, 0.0}, 0.105, 0.075});  // neck, down and up again
  camel.add(Limb{{0.42, 0.54, 0.0}, {0.53, 0.66, 0.0}, 0.075, 0.060});
  camel.add(Limb{{0.53, 0.66, 0.0}, {0.56, 0.90, 0.0}, 0.060, 0.052});
  camel.add(Ellipsoid{{0.59, 0.92, 0.0}, {0.085, 0.065, 0.058}});              // head
  camel.add(Limb{{0.62, 0.91, 0.0}, {0.75, 0.86, 0.0}, 0.050, 0.040});         // muzzle
  camel.add_both(Limb{{0.54, 0.96, 0.04}, {0.52, 1.01, 0.07}, 0.020, 0.014});  // ears
  for (const double x : {-0.24, 0.24}) {
    const double knee = x < 0.0 ? x - 0.03 : x + 0.01;
    camel.add_both(Limb{{x, 0.52, 0.085}, {knee, 0.28, 0.09}, 0.080, 0.042});  // legs
    camel.add_both(Limb{{knee, 0.28, 0.09}, {x, 0.05, 0.09}, 0.044, 0.034});
    camel.add_both(Ellipsoid{{x + 0.015, 0.025, 0.09}, {0.060, 0.032, 0.050}});  // feet
  }
  camel.add(Limb{{-0.31, 0.60, 0.0}, {-0.37, 0.42, 0.0}, 0.030, 0.020});  // tail
  camel.add(Limb{{-0.37, 0.42, 0.0}, {-0.37, 0.35, 0.0}, 0.020, 0.030});
  return camel.mesh(kCell);
}

}  // namespace barchan::stand_ins
