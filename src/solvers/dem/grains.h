// What grains are like: their kinds and spheres, how they turn, and what newborn ones are given.
//
//   x, v, w   position [m], velocity [m/s], angular velocity [rad/s] of a grain or a sphere
//   q, I      orientation, moments of inertia about the principal axes [kg m^2]
//   L         angular momentum [kg m^2/s]
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "base/units.h"
#include "compute/view.h"
#include "math/quat.h"
#include "math/random.h"

namespace barchan::dem {

inline constexpr std::uint32_t kSizeStream = 0x64656d73,
                               kTurnStream = 0x64656d71;  // "dems", "demq"

// What grains of one material are like.
struct GrainType {
  std::uint32_t first = 0, count = 1;     // of its spheres in the table of offsets
  float smallest = 0.0f, largest = 0.0f;  // radii [m]
  float mass = 0.0f;                      // of a grain of radius 1 [kg/m^3]
  float reach = 0.0f;                     // of sphere centres, radius 1
  Vec3 inertia;                           // over mass and radius squared
  std::uint32_t kind = 0;                 // for frames: 0 sphere, 1 + number of spheres
};

// One sphere, in the cache line that a contact reads.
struct alignas(64) Sphere {
  Vec3 x;
  float radius;
  Vec3 low;    // what x leaves of the position
  float mass;  // that one contact moves: of its grain, or a share of it [kg]
  Vec3 v;
  float material;  // its number; behind the materials those of coverings
  Vec3 w;
  std::uint32_t grain;  // row
};
static_assert(sizeof(Sphere) == 4 * sizeof(Float4));

// One of its four lines of four numbers, in one load: of a struct behind a reference nvcc reads
// each member by itself.
HD inline Float4 line_of(const Sphere& sphere, int k) {
  return reinterpret_cast<const Float4*>(&sphere)[k];
}
HD inline Vec3 vector_of(const Float4& line) {
  return {line.x, line.y, line.z};
}

// The tables of grains.
struct GrainTypes {
  View<const GrainType> types;  // by material
  View<const Float4> offsets;   // centre, radius
};

// Tetrahedra and cubes resist turning alike about all axes.
HD inline bool all_alike(const Vec3& I) {
  return I.x == I.y && I.y == I.z;
}
HD inline Vec3 with_inertia(const Quat& q, const Vec3& I, const Vec3& w) {
  if (all_alike(I)) return I.x * w;
  return rotate(q, multiply(I, inverse_rotate(q, w)));
}
HD inline Vec3 without_inertia(const Quat& q, const Vec3& I, const Vec3& L) {
  if (all_alike(I)) return (1.0f / I.x) * L;
  const Vec3 l = inverse_rotate(q, L);
  return rotate(q, {l.x / I.x, l.y / I.y, l.z / I.z});
}
// The orientation after a turn by v [rad]. Steps turn by little: cos(a/2) and sin(a/2)/a by the
// first terms of their series, which leave less than rounding below a tenth.
HD inline Quat turned_by(const Quat& q, const Vec3& v) {
  const float a2 = length_squared(v);
  if (a2 > 0.01f) return integrate(q, v, 1.0f);
  const float cosine = 1.0f - a2 * (0.125f - a2 * (1.0f / 384.0f));
  return normalized(Quat(cosine, (0.5f - a2 * (1.0f / 48.0f)) * v) * q);
}
// Free rotation of a body with unequal moments I for dt: from its orientation q and angular
// momentum L, which the world sees stand still, to the orientation afterwards. Its energy is a sum
// of three, l1^2/2I1 + l2^2/2I2 + l3^2/2I3; under each alone the body turns about one of its axes
// at the steady rate l_k/I_k. The three in turn and back again: second order, symplectic (Reich
// 1994).
struct FreeTurn {
  Quat q;
  Vec3 l;  // L in the body's axes

  HD void about(int k, float angle) {
    const float half = 0.5f * angle, s = std::sin(half), c = std::cos(half);
    Vec3 axis;
    axis[k] = s;
    q = q * Quat(c, axis);
    // l goes back by what the axes went forth
    const float cosine = 1.0f - 2.0f * s * s, sine = 2.0f * s * c;
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const float a = l[i], b = l[j];
    l[i] = cosine * a + sine * b;
    l[j] = cosine * b - sine * a;
  }
};
HD inline Quat turned_freely(const Quat& q, const Vec3& I, const Vec3& L, float dt) {
  FreeTurn turn{q, inverse_rotate(q, L)};
  turn.about(0, 0.5f * dt * turn.l.x / I.x);
  turn.about(1, 0.5f * dt * turn.l.y / I.y);
  turn.about(2, dt * turn.l.z / I.z);
  turn.about(1, 0.5f * dt * turn.l.y / I.y);
  turn.about(0, 0.5f * dt * turn.l.x / I.x);
  return normalized(turn.q);
}
HD inline Vec3 inertia_of(const GrainType& type, float mass, float scale) {
  return (mass * scale * scale) * type.inertia;
}

// a + b as the nearest float and the rest.
template <class T>
HD_INLINE inline T two_sum(const T& a, const T& b, T& rest) {
  const T sum = a + b, part = sum - a;
  rest = (a - (sum - part)) + (b - part);
  return sum;
}
HD inline Vec3 two_sum(const Vec3& a, const Vec3& b, Vec3& rest) {
  return {two_sum(a.x, b.x, rest.x), two_sum(a.y, b.y, rest.y), two_sum(a.z, b.z, rest.z)};
}

// ---- Newborn grains: their size, mass and orientation are drawn by their id

struct Complete {
  View<const std::uint64_t> id;
  View<const std::uint8_t> material;
  View<const GrainType> types;
  Random random;
  View<float> scale, mass;
  View<std::uint8_t> shape;
  View4<float> q;  // empty where all grains are spheres
  View3<const float> w;
  View3<float> L;  // empty where all moments are equal

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    if (scale[i] > 0.0f) return;
    const GrainType type = types[material[i]];
    const float r =
        type.smallest + (type.largest - type.smallest) * random.uniform(id[i], kSizeStream);
    scale[i] = r;
    mass[i] = type.mass * r * r * r;
    shape[i] = static_cast<std::uint8_t>(type.kind);
    if (q.w != nullptr)
      q.set(i, type.count > 1 ? any_turn(random.uniform3(id[i], kTurnStream)) : Quat());
    if (L.x != nullptr) L[i] = with_inertia(q[i], inertia_of(type, mass[i], r), w[i]);
  }
  // Evenly distributed over all orientations (Shoemake 1992).
  HD static Quat any_turn(const Vec3& u) {
    const auto turn = static_cast<float>(2.0 * kPi);
    const float a = std::sqrt(1.0f - u.x), b = std::sqrt(u.x);
    return {b * std::cos(turn * u.z), a * std::sin(turn * u.y), a * std::cos(turn * u.y),
            b * std::sin(turn * u.z)};
  }
};

}  // namespace barchan::dem
