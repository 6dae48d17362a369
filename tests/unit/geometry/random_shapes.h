// Random shapes and points for the property tests of geometry.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include "geometry/pose.h"
#include "geometry/sdf.h"
#include "geometry/shape.h"

namespace barchan::testing {

// RapidCheck chooses the seed, so that a failure can be repeated from what it prints. Any 32 bits
// from the first try on: a smaller seed is no simpler a case.
struct Seed {
  std::uint32_t value;
};
inline void showValue(Seed seed, std::ostream& to) {
  to << "seed " << seed.value;
}

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : generator_(seed) {}
  explicit Dice(Seed seed) : generator_(seed.value) {}

  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator_);
  }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(generator_); }
  Vec3d in_cube(double half) {
    const double x = between(-half, half), y = between(-half, half), z = between(-half, half);
    return {x, y, z};
  }
  Vec3d direction() {
    for (;;) {
      const Vec3d v = in_cube(1.0);
      const double r = length(v);
      if (r > 0.1 && r <= 1.0) return v / r;
    }
  }
  Quatd orientation() {
    const Vec3d axis = direction();
    return from_axis_angle(axis, between(-3.0, 3.0));
  }
  Pose pose(double reach) {
    const Vec3d position = in_cube(reach);
    return {position, orientation()};
  }

 private:
  std::mt19937 generator_;
};

// Of about one metre, anywhere within a metre of the origin, turned.
inline Shape random_primitive(Dice& dice) {
  const Vec3d a = dice.in_cube(0.5), u = dice.direction();
  const double r = dice.between(0.1, 0.5), len = dice.between(0.1, 0.9);
  Shape s;
  switch (dice.below(7)) {
    case 0:
      s = make_box(a, a + Vec3d(r, len, dice.between(0.1, 0.9)));
      break;
    case 1:
      s = make_sphere(a, r);
      break;
    case 2:
      s = make_cylinder(a, a + len * u, r);
      break;
    case 3:
      s = make_capsule(a, a + len * u, r);
      break;
    case 4:
      s = make_cone(a, a + len * u, r, dice.below(2) ? 0.0 : dice.between(0.0, 0.6));
      break;
    case 5:
      s = make_torus(a, u, r, dice.between(0.2, 0.8) * r);
      break;
    default:
      s = make_plane(a, u);
  }
  return dice.below(2) ? placed(s, dice.pose(0.5)) : s;
}

// A sound tree of the given depth at most.
inline Shape random_tree(Dice& dice, int depth) {
  if (depth == 0 || dice.below(5) == 0) return random_primitive(dice);
  Shape s;
  switch (dice.below(4)) {
    case 0: {
      std::vector<Shape> parts;
      for (int i = 0, n = 1 + dice.below(4); i < n; ++i) {
        parts.push_back(random_tree(dice, depth - 1));
      }
      s = make_union(std::move(parts));
      break;
    }
    case 1: {
      Shape first = random_tree(dice, depth - 1);
      Shape second = random_tree(dice, depth - 1);
      s = make_difference(std::move(first), std::move(second));
      break;
    }
    case 2: {
      std::vector<Shape> parts;
      for (int i = 0; i < 2; ++i) parts.push_back(random_tree(dice, depth - 1));
      s = make_intersection(std::move(parts));
      break;
    }
    default:
      s = make_offset(random_tree(dice, depth - 1), dice.between(-0.05, 0.3));
  }
  if (dice.below(2)) s = placed(s, dice.pose(0.3));
  // Parts that miss each other are a fault, not a shape.
  return describe_fault(s).empty() ? s : random_tree(dice, depth - 1);
}

inline Distance distance(const SdfProgram& program, const Vec3& p) {
  return barchan::distance(program.begin(), program.end(), p);
}
inline Distance distance(const Shape& shape, const Vec3d& p) {
  return distance(compile(shape), Vec3(p));
}

}  // namespace barchan::testing

namespace rc {

template <>
struct Arbitrary<barchan::testing::Seed> {
  static Gen<barchan::testing::Seed> arbitrary() {
    return gen::map(gen::noShrink(gen::resize(kNominalSize, gen::arbitrary<std::uint32_t>())),
                    [](std::uint32_t value) { return barchan::testing::Seed{value}; });
  }
};

}  // namespace rc
