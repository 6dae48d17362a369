// Forces between two spheres. contact_law.h has the force of one contact.
//
//   x, v, w   position [m], velocity [m/s], angular velocity [rad/s] of a sphere
//   N         from the first sphere of a pair to the second
//   xi        displacement of a contact along its tangent plane [m]
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "base/units.h"
#include "compute/bits.h"
#include "compute/view.h"
#include "solvers/dem/contact_law.h"
#include "solvers/dem/grains.h"

namespace barchan::dem {

// Lists of contacts that are possible until the next search, as kernels see them. On a CPU each
// pair stands with the sphere of the lower grain; `back` has the pairs of the other one, but for
// those that its block sums. On a GPU each pair stands with both.
struct Lists {
  View<const std::uint32_t> sphere_start;  // by grain, one more than there are
  View<const std::uint32_t> pair_start, pair_first, pair_other;
  View<const std::uint32_t> back_start, back_pair;
  View<const std::uint32_t> wall_start, wall_solid, wall_sphere;
};

// One sphere, or eight.
template <class T>
struct SphereOf {
  Vector3<T> x, low, v, w;
  T radius, mass, material;
};
HD inline SphereOf<float> load_sphere(const Sphere& s) {
  const Float4 x = line_of(s, 0), low = line_of(s, 1), v = line_of(s, 2), w = line_of(s, 3);
  return {vector_of(x), vector_of(low), vector_of(v), vector_of(w), x.w, low.w, v.w};
}

// The constants of all pairs.
struct LawTable {
  ContactModel model;
  View<const PairLaw> laws;
  std::uint32_t row = 1, kinds = 1;  // entries a kind, and those of kinds: materials, coverings

  HD Constants<float> at(std::uint32_t entry, float m, float R) const {
    const PairLaw& law = laws[entry];
    if (model.alike) return {{law.k_r, law.k_d}, law.friction, law.rolling};
    const float mass = m * law.inverse_mass, radius = R * law.inverse_radius;
    return {{law.k_r * std::pow(mass, model.kr_m) * std::pow(radius, model.kr_R),
             law.k_d * std::pow(mass, model.kd_m) * std::pow(radius, model.kd_R)},
            law.friction,
            law.rolling};
  }
  HD std::uint32_t entry_of(float a, float b) const {
    return static_cast<std::uint32_t>(a) * row + static_cast<std::uint32_t>(b);
  }
  HD Constants<float> between(float a, float b, float m, float R, float& cohesion) const {
    const std::uint32_t entry = entry_of(a, b);
    cohesion = laws[entry].cohesion;
    return at(entry, m, R);
  }
};

// What a pair did: on its first sphere; on the second the force is the opposite, the torque of the
// shear the same for its own arm.
template <class T>
struct PairPush {
  Vector3<T> force;
  T overlap;  // negative where they do not touch
  Vector3<T> turn, roll;
  T stored;  // [J]
};

template <bool kHistory, class T, class Table>
HD_INLINE inline PairPush<T> pair_push(const Table& table, const SphereOf<T>& A,
                                       const SphereOf<T>& B, float dt, Vector3<T>& xi) {
  const ContactModel& model = table.model;
  const Vector3<T> d = (B.x - A.x) + (B.low - A.low);
  const T distance = square_root(max(dot(d, d), kTiny)), inverse = 1.0f / distance;
  const T touching = A.radius + B.radius, x = touching - distance;
  const Vector3<T> N = inverse * d;
  // One point for both, in the middle of the overlap: no angular momentum comes from it.
  const float within = model.full_radii ? 0.0f : 0.5f;
  const T arm_A = A.radius - within * x, arm_B = B.radius - within * x;
  const Vector3<T> V = (A.v - B.v) + cross(arm_A * A.w + arm_B * B.w, N);
  const T m = A.mass * B.mass / (A.mass + B.mass), R = A.radius * B.radius / touching;
  T cohesion;
  const Constants<T> law = table.between(A.material, B.material, m, R, cohesion);
  Push<T> push = push_of<kHistory, T>(model, law, m, R, N, V, max(x, 0.0f), A.w - B.w, dt, xi);

  const auto touch = x > 0.0f;
  const Vector3<T> none{};
  if constexpr (kHistory) xi = choose(touch, xi, none);
  push.force = choose(touch, push.force, none);
  T stored = choose_number(touch, push.stored, spread<T>(0.0f));
  if (model.coheres) {
    // The pull is constant in contact and falls to 0 over the range beyond it.
    const T smaller = choose_number(A.radius < B.radius, A.radius, B.radius);
    const T range = max(model.cohesion_range * smaller, kTiny);
    const T pull = static_cast<float>(kPi) * cohesion * smaller * smaller;
    const T share = max(1.0f + choose_number(touch, spread<T>(0.0f), x) / range, 0.0f);
    push.force += (pull * share) * N;
    stored -= pull * (0.5f * range * share * share + max(x, 0.0f));
  }
  return {push.force, x, choose(touch, push.turn, none), choose(touch, push.roll, none), stored};
}

// What blocks of 2^bits spheres have summed of their pairs. On a CPU, of those within the block;
// the others are written down, and summed by the later block. On a GPU a sphere is a block, and
// sums all it has.
struct BlockSums {
  View<Float4> force;   // on each sphere [N]; behind it, how many contacts it has
  View<Float4> torque;  // [N m]; behind it the energy of the pairs that stand with it [J]
  View<float> deepest;  // overlap in each block, over the smaller radius
  std::uint32_t bits = 0;

  HD bool all() const { return bits == 0; }
};

// The pairs of a step. Of those that are apart only that is written down: nobody reads their `turn`
// and `roll`.
template <bool kHistory>
struct PushPairs {
  LawTable table;
  View<const Sphere> spheres;
  Lists lists;
  float dt;
  View3<const float> shear;  // xi of each pair; empty without history
  View3<float> next_shear;
  View<Float4> force, turn;  // out, of pairs of two blocks; behind the force the overlap
  View3<float> roll;         // out, likewise, where some pair has rolling resistance
};

// All pairs of a sphere, for a GPU. Each pair is worked on for both of its spheres, in the same
// way, so that what acts on one is the opposite of what acts on the other to the last bit.
template <bool kHistory>
struct GatherPairs {
  PushPairs<kHistory> pairs;
  BlockSums sums;  // out

  HD void operator()(int at) const {
    const auto s = static_cast<std::uint32_t>(at);
    Sums sum{};
    const std::uint32_t end = pairs.lists.pair_start[s + 1];
    for (std::uint32_t p = pairs.lists.pair_start[s]; p < end; p += kAtOnce) {
      push_some(s, p, end - p < kAtOnce ? end - p : kAtOnce, sum);
    }
    sums.force[s] = {sum.force.x, sum.force.y, sum.force.z, sum.contacts};
    sums.torque[s] = {sum.torque.x, sum.torque.y, sum.torque.z, sum.stored};
    sums.deepest[s] = sum.deepest;
  }

 private:
  static constexpr std::uint32_t kAtOnce = 32;
  struct Sums {
    Vec3 force, torque;
    float contacts, stored, deepest;
  };

  // First a look at who touches: the threads of a warp go together through short work, and then
  // through as many long ones as one of them has.
  HD void push_some(std::uint32_t s, std::uint32_t first, std::uint32_t count, Sums& sum) const {
    const Float4 x = line_of(pairs.spheres[s], 0), low = line_of(pairs.spheres[s], 1);
    std::uint32_t near = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      const Sphere& other = pairs.spheres[pairs.lists.pair_other[first + k]];
      const Float4 there = line_of(other, 0), rest = line_of(other, 1);
      const float reach = x.w + there.w;
      const Vec3 d = (vector_of(there) - vector_of(x)) + (vector_of(rest) - vector_of(low));
      if (pairs.table.model.coheres || dot(d, d) < reach * reach) near |= 1u << k;
      if constexpr (kHistory) pairs.next_shear[first + k] = Vec3();
    }
    for (; near != 0; near &= near - 1) push_one(s, first + lowest_bit(near), sum);
  }
  HD void push_one(std::uint32_t s, std::uint32_t p, Sums& sum) const {
    const std::uint32_t other = pairs.lists.pair_other[p];
    const bool leads = s < other;
    const SphereOf<float> A = load_sphere(pairs.spheres[leads ? s : other]);
    const SphereOf<float> B = load_sphere(pairs.spheres[leads ? other : s]);
    Vec3 xi;
    if constexpr (kHistory) xi = pairs.shear[p];
    const PairPush<float> push = pair_push<kHistory, float>(pairs.table, A, B, pairs.dt, xi);
    if constexpr (kHistory) pairs.next_shear[p] = xi;
    const float sign = leads ? 1.0f : -1.0f;
    sum.force += sign * push.force;
    sum.stored += 0.5f * push.stored;
    if (!(push.overlap > 0.0f)) return;  // apart: at most a bridge between them
    sum.torque += ((leads ? A : B).radius - 0.5f * push.overlap) * push.turn + sign * push.roll;
    sum.contacts += 1.0f;
    sum.deepest = max(sum.deepest, push.overlap / min(A.radius, B.radius));
  }
};

}  // namespace barchan::dem
