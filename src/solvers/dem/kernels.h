// Motion of grains and the forces between their spheres, for both devices.
// Bell, Yu & Mucha 2005; README.md maps each equation to a struct here. contact_law.h has the force
// of one contact.
//
//   x, v, w   position [m], velocity [m/s], angular velocity [rad/s] of a grain or a sphere
//   q, I      orientation, moments of inertia about the principal axes [kg m^2]
//   F, T      contact force [N] and torque about the centre of mass [N m]
//   N         from the first sphere of a pair to the second
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "base/units.h"
#include "compute/bits.h"
#include "compute/view.h"
#include "geometry/solid.h"
#include "math/quat.h"
#include "math/random.h"
#include "sim/measure_kernels.h"
#include "solvers/dem/contact_law.h"

namespace barchan::dem {

inline constexpr int kSolidsPerPass = 4;
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

// ---- Motion

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

// The mass that one of so many contacts of a grain moves. Damping and (18) would throw back a ring
// that lands on a hundred spheres, if each slowed the whole ring down.
inline constexpr float kFewContacts = 8.0f;
HD inline float mass_of_contact(float mass, float contacts) {
  return contacts > kFewContacts ? mass * (kFewContacts / contacts) : mass;
}

// A grain at the end of a drift.
struct Moved {
  Vec3 x, low, v, w, L;
  Quat q;
  float angle;  // by which it has turned [rad]
};

// The spheres of each grain.
struct PlaceSpheres {
  View3<const float> x, low, v, w;
  View4<const float> q;
  View<const float> scale, mass;
  View<const float> contacts;  // of compound grains, a step ago
  View<const std::uint8_t> material;
  GrainTypes grains;
  View<const std::uint32_t> sphere_start;
  View<Sphere> spheres;  // out

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    all(i, {x[i], low[i], v[i], w[i], {}, q.w != nullptr ? q[i] : Quat(), 0.0f});
  }
  // All spheres of grain i, which is there.
  HD void all(std::size_t i, const Moved& there) const {
    const std::uint32_t end = sphere_start[i + 1];
    for (std::uint32_t s = sphere_start[i]; s < end; ++s) one(s, i, there);
  }
  HD void one(std::uint32_t s, std::size_t i, const Moved& there) const {
    const GrainType& type = grains.types[material[i]];
    const float size = scale[i];
    Sphere sphere{there.x,   size,
                  there.low, mass[i],
                  there.v,   static_cast<float>(material[i]),
                  there.w,   static_cast<std::uint32_t>(i)};
    if (type.count > 1) {
      const Float4 o = grains.offsets[type.first + (s - sphere_start[i])];
      const Vec3 arm = rotate(there.q, size * Vec3(o.x, o.y, o.z));
      sphere.x = two_sum(there.x, there.low + arm, sphere.low);
      sphere.radius = o.w * size;
      sphere.mass = mass_of_contact(mass[i], contacts[i]);
      sphere.v = there.v + cross(there.w, arm);
    }
    spheres[s] = sphere;
  }
};

// Velocity Verlet, first half: v += dt/2 F/m, then x += dt v.
//
// Positions are sums of two floats: a step may be shorter than the spacing of floats.
struct Drift {
  View3<const float> x, low, v, w, force, torque;
  View3<const float> L;  // angular momentum; empty where all moments are equal
  View4<const float> q;  // empty where all grains are spheres
  View<const float> scale, mass, turned;
  View<const std::uint8_t> material;
  View<const GrainType> types;
  Vec3 gravity;
  float dt;
  View3<float> next_x, next_low, next_v, next_w, next_L;
  View4<float> next_q;
  View<float> next_turned;  // since the lists were made, a bound [rad]
  PlaceSpheres place;       // of the grains as they will be, for lists that still hold

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Moved there = moved(i);
    keep(i, there);
    if (place.spheres.data != nullptr) place.all(i, there);
  }
  HD Moved moved(std::size_t i) const {
    const float m = mass[i], half = 0.5f * dt;
    Moved there;
    there.v = v[i] + half * gravity + (half / m) * force[i];
    there.x = two_sum(x[i], low[i] + dt * there.v, there.low);
    const Vec3 I = inertia_of(types[material[i]], m, scale[i]);
    if (q.w == nullptr) {
      there.w = w[i] + (half / I.x) * torque[i];
    } else {
      turn(i, I, there);
    }
    return there;
  }
  // The rotation of a compound grain. Where moments differ, L is what lives on: w follows from it,
  // and no free turn takes anything from L.
  HD void turn(std::size_t i, const Vec3& I, Moved& there) const {
    const float half = 0.5f * dt;
    const Quat from = q[i];
    if (L.x == nullptr) {
      there.w = w[i] + (half / I.x) * torque[i];
      there.q = turned_by(from, dt * there.w);
      there.angle = dt * length(there.w);
      return;
    }
    there.L = L[i] + half * torque[i];
    there.q =
        all_alike(I) ? turned_by(from, (dt / I.x) * there.L) : turned_freely(from, I, there.L, dt);
    there.w = without_inertia(there.q, I, there.L);
    there.angle = length(rotation_vector(from, there.q));
  }
  HD void keep(std::size_t i, const Moved& there) const {
    next_x[i] = there.x;
    next_low[i] = there.low;
    next_v[i] = there.v;
    next_w[i] = there.w;
    if (q.w == nullptr) return;
    next_q.set(i, there.q);
    next_turned[i] = turned[i] + there.angle;
    if (L.x != nullptr) next_L[i] = there.L;
  }
};

// The same by spheres, for many small threads: each moves its grain, whose first one keeps it.
struct DriftSpheres {
  Drift drift;
  View<const std::uint32_t> grain;  // of each sphere

  HD void operator()(int at) const {
    const auto s = static_cast<std::uint32_t>(at);
    const std::size_t i = grain[s];
    const Moved there = drift.moved(i);
    if (s == drift.place.sphere_start[i]) drift.keep(i, there);
    drift.place.one(s, i, there);
  }
};

// ---- Contacts

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

// Shear at solids. A sphere may touch a solid in up to three places, as in a corner; each has the
// spring and the normal that it belongs to.
inline constexpr int kPlaces = 3, kSlot = 6;
struct Slots {
  float* data = nullptr;
  std::size_t stride = 0;
  HD Vec3 get(std::size_t entry, int slot, int part) const {
    const float* at = data + static_cast<std::size_t>(kSlot * slot + part) * stride + entry;
    return {at[0], at[stride], at[2 * stride]};
  }
  HD void set(std::size_t entry, int slot, int part, const Vec3& value) const {
    float* at = data + static_cast<std::size_t>(kSlot * slot + part) * stride + entry;
    at[0] = value.x, at[stride] = value.y, at[2 * stride] = value.z;
  }
};

// What contacts remember, before and after a step.
struct Memory {
  View3<const float> shear;  // xi of pairs; all empty without history
  Slots walls;
  View3<float> next_shear;
  Slots next_walls;
};

// The distance to a solid, exact at the edges where its parts meet. Fields of differences and
// intersections are maxima (geometry/sdf.h): beyond an edge they tell the distance to the nearer of
// the two surfaces as if it went on, and a sphere would roll over a rim as over a step of its own
// radius. Where the way down to that surface does not end on the solid, it goes on from there to
// the other one: to the edge, if they meet at right angles, and nearly so if they do not.
HD inline Distance to_surface(const SolidView& solid, const Vec3& x, float radius) {
  const Distance near = solid_distance_at_end(solid, x);
  if (solid.end - solid.begin < 2 || near.d >= radius || !(near.d > 0.0f)) return near;
  const float close = 0.01f * radius;
  Vec3 foot = x - near.d * near.gradient;
  Distance there = solid_distance_at_end(solid, foot);
  if (!(there.d > close)) return near;
  for (int turn = 0; turn < 3 && there.d > close; ++turn) {
    foot -= there.d * there.gradient;
    there = solid_distance_at_end(solid, foot);
  }
  const Vec3 arm = x - foot;
  const float d = length(arm);
  return {d, (1.0f / d) * arm};
}

// A sphere and a solid, in up to three places: the nearest one; and, with the sphere moved out of
// that, the nearest of what is left, as in a corner.
template <bool kHistory>
struct PushAtWalls {
  LawTable table;
  View<const Sphere> spheres;
  Lists lists;
  SolidsView solids;
  float dt;
  Slots walls, next_walls;
  View<Float4> force, torque;  // out, of each entry: on the sphere; behind them as of pairs

  HD void operator()(int at) const {
    const auto entry = static_cast<std::size_t>(at);
    const std::uint32_t number = lists.wall_solid[entry];
    const SolidView& solid = solids.data[number];
    const Sphere& A = spheres[lists.wall_sphere[entry]];
    const Constants<float> law =
        table.at(static_cast<std::uint32_t>(A.material) * table.row + table.kinds + number, A.mass,
                 A.radius);
    Vec3 shift, F, T, normals[kPlaces];
    float deepest = -1.0f, stored = 0.0f;
    int places = 0;
    for (; places < kPlaces; ++places) {
      const Distance near = to_surface(solid, A.x + shift, A.radius);
      const Vec3 n = near.gradient;
      const float gap = near.d + dot(A.low - shift, n), x = A.radius - gap;
      bool known = false;
      for (int k = 0; k < places; ++k) known = known || dot(n, normals[k]) > kSameWall;
      if (near.d >= A.radius || !(x > 0.0f) || known) break;
      normals[places] = n;
      shift += (1.001f * x) * n;
      deepest = max(deepest, x);
      Vec3 xi = kHistory ? remembered(entry, n) : Vec3();
      const float arm = table.model.full_radii ? A.radius : gap;
      const Vec3 to_wall = -arm * n;
      const Vec3 V = A.v + cross(A.w, to_wall) - velocity_at(solid, A.x + to_wall);
      const Push<float> push = push_of<kHistory, float>(table.model, law, A.mass, A.radius, -n, V,
                                                        x, A.w - solid.angular_velocity, dt, xi);
      F += push.force;
      T += arm * push.turn + push.roll;
      stored += push.stored;
      if constexpr (kHistory) remember(entry, places, xi, n);
    }
    if constexpr (kHistory) {
      for (int k = places; k < kPlaces; ++k) remember(entry, k, {}, {});
    }
    force[entry] = {F.x, F.y, F.z, deepest};
    torque[entry] = {T.x, T.y, T.z, stored};
  }
  static constexpr float kSameWall = 0.95f;  // cosine between normals of one place

  HD Vec3 remembered(std::size_t entry, const Vec3& n) const {
    for (int k = 0; k < kPlaces; ++k) {
      if (dot(walls.get(entry, k, 3), n) > kSameWall) return walls.get(entry, k, 0);
    }
    return {};
  }
  HD void remember(std::size_t entry, int place, const Vec3& xi, const Vec3& n) const {
    next_walls.set(entry, place, 0, xi);
    next_walls.set(entry, place, 3, n);
  }
};

// What the contacts of a step were like, and the grains after it.
struct Summary {
  VitalSigns vitals;
  float deepest = 0.0f;        // overlap over the sphere's radius
  std::uint32_t contacts = 0;  // each pair counts twice
  std::uint32_t most = 0;      // that one grain has
  // After another step of the same length: how far from where the lists were made a point of a
  // grain will be at most [m]; and how fast it goes there [m/s].
  float ahead = 0.0f, pace = 0.0f;
};
struct JoinSummary {
  static HD Summary identity() { return {}; }
  static HD Summary combine(const Summary& a, const Summary& b) {
    return {
        JoinVitals::combine(a.vitals, b.vitals), max(a.deepest, b.deepest), a.contacts + b.contacts,
        a.most > b.most ? a.most : b.most,       max(a.ahead, b.ahead),     max(a.pace, b.pace)};
  }
};

// From the middle of a compound grain to those of its spheres.
struct Arms {
  Quat q;
  float scale;
  const Float4* offsets;
  HD Vec3 operator()(std::uint32_t k) const {
    const Float4 o = offsets[k];
    return rotate(q, scale * Vec3(o.x, o.y, o.z));
  }
};
HD inline Arms arms_of(const GrainTypes& grains, std::uint8_t material, float scale,
                       const View4<const float>& q, std::size_t i) {
  return {q.w != nullptr ? q[i] : Quat(), scale,
          grains.offsets.data + grains.types[material].first};
}

// What all contacts do to a sphere.
struct SphereForces {
  View<const Sphere> spheres;
  Lists lists;
  View<const Float4> pair_force, pair_turn, wall_force, wall_torque;
  View3<const float> pair_roll;  // empty without rolling resistance
  BlockSums blocks;

  // Spheres begin ... end - 1 have nobody near. Where blocks sum, lists tell one side only.
  HD bool have_none(std::uint32_t begin, std::uint32_t end) const {
    const auto empty = [&](View<const std::uint32_t> start) { return start[begin] == start[end]; };
    return blocks.all() && empty(lists.pair_start) && empty(lists.wall_start);
  }
  // Force, torque about its own centre, deepest overlap over its radius; returns the number of
  // contacts.
  HD std::uint32_t on(std::uint32_t s, Vec3& f, Vec3& t, float& deepest, bool walls = true) const {
    const Float4 by = blocks.force[s], turn = blocks.torque[s];
    f = Vec3(by.x, by.y, by.z);
    t = Vec3(turn.x, turn.y, turn.z);
    auto contacts = static_cast<std::uint32_t>(by.w);
    if (blocks.all()) {
      deepest = blocks.deepest[s];
    } else {
      contacts += by_earlier_blocks(s, f, t, deepest);
    }
    if (!walls) return contacts;
    for (std::uint32_t e = lists.wall_start[s]; e < lists.wall_start[s + 1]; ++e) {
      const Float4 wall = wall_force[e], torque = wall_torque[e];
      f += Vec3(wall.x, wall.y, wall.z);
      t += Vec3(torque.x, torque.y, torque.z);
      if (!(wall.w > 0.0f)) continue;
      deepest = max(deepest, wall.w / spheres[s].radius);
      ++contacts;
    }
    return contacts;
  }
  // The pairs in which s is the second.
  HD std::uint32_t by_earlier_blocks(std::uint32_t s, Vec3& f, Vec3& t, float& deepest) const {
    std::uint32_t contacts = 0;
    for (std::uint32_t b = lists.back_start[s]; b < lists.back_start[s + 1]; ++b) {
      const std::uint32_t p = lists.back_pair[b];
      const Float4 by = pair_force[p];
      f -= Vec3(by.x, by.y, by.z);
      if (!(by.w > 0.0f)) continue;  // apart: at most a bridge between them
      const Float4 turn = pair_turn[p];
      t += (spheres[s].radius - 0.5f * by.w) * Vec3(turn.x, turn.y, turn.z);
      if (pair_roll.x != nullptr) t -= pair_roll[p];
      deepest = max(deepest, by.w / spheres[s].radius);
      ++contacts;
    }
    return contacts;
  }
  // All that acts on grain i: F, T about its middle.
  HD void on_grain(std::size_t i, const Arms& arms, Vec3& F, Vec3& T, Summary& summary) const {
    const std::uint32_t begin = lists.sphere_start[i], end = lists.sphere_start[i + 1];
    const bool walls = lists.wall_start[begin] != lists.wall_start[end];
    for (std::uint32_t s = begin; s < end; ++s) {
      float deepest = 0.0f;
      Vec3 f, t;
      summary.contacts += on(s, f, t, deepest, walls);
      summary.deepest = max(summary.deepest, deepest);
      F += f;
      T += t;
      if (end - begin > 1) T += cross(arms(s - begin), f);
    }
  }
};

// Velocity Verlet, second half: all that pushes a grain, and v += dt/2 F/m.
struct Kick {
  SphereForces forces;
  View3<const float> x;
  View4<const float> q;
  View<const float> scale, mass;
  View<const std::uint8_t> material;
  GrainTypes grains;
  View3<const float> listed;  // where grains were when the lists were made
  View<const float> turned;   // since then [rad]; empty where all grains are spheres
  Vec3 gravity;
  float dt;                    // 0: only sum
  float next_dt;               // the next step, if it is as long
  View3<float> v, w;           // in and out
  View3<float> L;              // likewise; empty where all moments are equal
  View3<float> force, torque;  // out
  View<float> contacts;        // out; empty where all grains are spheres

  HD Summary operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    Summary summary;
    Vec3 F, T;
    forces.on_grain(i, arms_of(grains, material[i], scale[i], q, i), F, T, summary);
    summary.most = summary.contacts;
    force[i] = F;
    torque[i] = T;
    if (contacts.data != nullptr) contacts[i] = static_cast<float>(summary.contacts);
    const float m = mass[i], half = 0.5f * dt;
    const Vec3 I = inertia_of(grains.types[material[i]], m, scale[i]);
    const Vec3 velocity = v[i] + half * gravity + (half / m) * F;
    v[i] = velocity;
    if (L.x == nullptr) {
      w[i] = w[i] + (half / I.x) * T;
    } else {
      const Vec3 l = L[i] + half * T;
      L[i] = l;
      w[i] = without_inertia(q[i], I, l);
    }
    summary.vitals = vital_signs(x[i], velocity, at);
    const float next = 0.5f * next_dt;
    look_ahead(i, velocity + next * gravity + (next / m) * F, I, T, summary);
    return summary;
  }
  // The next drift, at velocity u.
  HD void look_ahead(std::size_t i, const Vec3& u, const Vec3& I, const Vec3& T,
                     Summary& summary) const {
    summary.ahead = length((x[i] - listed[i]) + next_dt * u);
    summary.pace = length(u);
    if (q.w == nullptr) return;
    const float least = min(I.x, min(I.y, I.z)), half = 0.5f * next_dt;
    const float spin = L.x == nullptr ? length(w[i] + (half / I.x) * T)
                                      : length(L[i] + half * T) / least;  // at most
    const float reach = grains.types[material[i]].reach * scale[i];
    summary.ahead += (turned[i] + next_dt * spin) * reach;
    summary.pace += spin * reach;
  }
};

// ---- Energies

struct SpinEnergy {
  View3<const float> w;
  View4<const float> q;
  View<const float> scale, mass;
  View<const std::uint8_t> material;
  View<const GrainType> types;
  HD double operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 I = inertia_of(types[material[i]], mass[i], scale[i]);
    const Vec3 own = q.w == nullptr ? Vec3(w[i]) : inverse_rotate(q[i], Vec3(w[i]));
    return 0.5 * static_cast<double>(dot(own, multiply(I, own)));
  }
};
// Behind the torques.
struct StoredEnergy {
  View<const Float4> torque;
  HD double operator()(int at) const {
    return static_cast<double>(torque[static_cast<std::size_t>(at)].w);
  }
};

// ---- What the grains did to solids that they met by distance, a few at a time

struct Wrench {
  Vec3d force;   // [N]
  Vec3d moment;  // about the world's origin [N m]
};

struct SolidSums {
  Vec3d force[kSolidsPerPass];   // [N]
  Vec3d moment[kSolidsPerPass];  // about the world's origin [N m]
};
struct JoinSolidSums {
  static HD SolidSums identity() { return {}; }
  static HD SolidSums combine(const SolidSums& a, const SolidSums& b) {
    SolidSums sum;
    for (int s = 0; s < kSolidsPerPass; ++s) {
      sum.force[s] = a.force[s] + b.force[s];
      sum.moment[s] = a.moment[s] + b.moment[s];
    }
    return sum;
  }
};

// What the host has to know of a step, to be fetched at once: a pass over the solids each, the
// first with all grains.
struct Outcome {
  Summary met;
  SolidSums solids;
};

struct PushSolids {
  View<const Sphere> spheres;
  Lists lists;
  View<const Float4> wall_force, wall_torque;
  std::uint32_t solids[kSolidsPerPass];

  HD SolidSums operator()(int at) const {
    const auto e = static_cast<std::size_t>(at);
    const Float4 f = wall_force[e], t = wall_torque[e];
    const Sphere& A = spheres[lists.wall_sphere[e]];
    const Vec3d force(-static_cast<double>(f.x), -static_cast<double>(f.y),
                      -static_cast<double>(f.z));
    const Vec3d torque(-static_cast<double>(t.x), -static_cast<double>(t.y),
                       -static_cast<double>(t.z));
    const Vec3d moment = cross(Vec3d(A.x) + Vec3d(A.low), force) + torque;
    SolidSums sums;
    for (int s = 0; s < kSolidsPerPass; ++s) {  // by compare: a run-time index would spill
      if (lists.wall_solid[e] == solids[s]) {
        sums.force[s] = force;
        sums.moment[s] = moment;
      }
    }
    return sums;
  }
};

}  // namespace barchan::dem
