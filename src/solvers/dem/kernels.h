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
  float mass;  // of its grain [kg]
  Vec3 v;
  float material;  // its number; behind the materials those of coverings
  Vec3 w;
  std::uint32_t grain;  // row
};
static_assert(sizeof(Sphere) == 4 * sizeof(Float4));

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
HD inline float two_sum(float a, float b, float& rest) {
  const float sum = a + b, part = sum - a;
  rest = (a - (sum - part)) + (b - part);
  return sum;
}
HD inline Vec3 two_sum(const Vec3& a, const Vec3& b, Vec3& rest) {
  return {two_sum(a.x, b.x, rest.x), two_sum(a.y, b.y, rest.y), two_sum(a.z, b.z, rest.z)};
}

// The spheres of each grain.
struct PlaceSpheres {
  View3<const float> x, low, v, w;
  View4<const float> q;
  View<const float> scale, mass;
  View<const std::uint8_t> material;
  GrainTypes grains;
  View<const std::uint32_t> sphere_start;
  View<Sphere> spheres;  // out

  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const GrainType& type = grains.types[material[i]];
    const std::uint32_t first = sphere_start[i];
    Sphere sphere{x[i],   scale[i],
                  low[i], mass[i],
                  v[i],   static_cast<float>(material[i]),
                  w[i],   static_cast<std::uint32_t>(at)};
    if (type.count == 1) {
      spheres[first] = sphere;
      return;
    }
    const Vec3 p = x[i], rest = low[i], velocity = v[i], spin = w[i];
    const Quat turn = q[i];
    for (std::uint32_t k = 0; k < type.count; ++k) {
      const Float4 o = grains.offsets[type.first + k];
      const Vec3 arm = rotate(turn, scale[i] * Vec3(o.x, o.y, o.z));
      sphere.x = two_sum(p, rest + arm, sphere.low);
      sphere.radius = o.w * scale[i];
      sphere.v = velocity + cross(spin, arm);
      spheres[first + k] = sphere;
    }
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
    const GrainType& type = types[material[i]];
    const float m = mass[i], r = scale[i], half = 0.5f * dt;
    const Vec3 velocity = v[i] + half * gravity + (half / m) * force[i];
    Vec3 rest;
    const Vec3 to = two_sum(x[i], low[i] + dt * velocity, rest);
    next_x[i] = to;
    next_low[i] = rest;
    next_v[i] = velocity;
    const Vec3 I = inertia_of(type, m, r);
    if (q.w == nullptr) {
      next_w[i] = w[i] + (half / I.x) * torque[i];
    } else {
      next_turned[i] = turned[i] + turn(i, I);
    }
    if (place.spheres.data != nullptr) place(at);
  }
  // The rotation of a compound grain; returns its angle [rad]. Where moments differ, L is what
  // lives on: w follows from it, and no free turn takes anything from L.
  HD float turn(std::size_t i, const Vec3& I) const {
    const float half = 0.5f * dt;
    const Quat from = q[i];
    if (L.x == nullptr) {
      const Vec3 spin = w[i] + (half / I.x) * torque[i];
      next_q.set(i, turned_by(from, dt * spin));
      next_w[i] = spin;
      return dt * length(spin);
    }
    const Vec3 l = L[i] + half * torque[i];
    const Quat end = all_alike(I) ? turned_by(from, (dt / I.x) * l) : turned_freely(from, I, l, dt);
    const Vec3 spin = without_inertia(end, I, l);
    next_q.set(i, end);
    next_L[i] = l;
    next_w[i] = spin;
    return length(rotation_vector(from, end));
  }
};

// ---- Contacts

// Lists of contacts that are possible until the next search, as kernels see them. Each pair stands
// with the sphere of the lower grain; `back` has the pairs of the other one, but for those that
// its block sums (BlockSums).
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
  return {s.x, s.low, s.v, s.w, s.radius, s.mass, s.material};
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

// All pairs, one at a time; pairs_cpu.h has eight. Of those that are apart only that is written
// down: nobody reads their `turn` and `roll`.
template <bool kHistory>
struct PushPairs {
  LawTable table;
  View<const Sphere> spheres;
  Lists lists;
  float dt;
  View3<const float> shear;  // xi of each pair; empty without history
  View3<float> next_shear;
  View<Float4> force, turn;  // out, of each pair; behind them the overlap and the stored energy
  View3<float> roll;         // out, where some pair has rolling resistance

  HD void operator()(int at) const {
    const auto p = static_cast<std::size_t>(at);
    const SphereOf<float> A = load_sphere(spheres[lists.pair_first[p]]);
    const SphereOf<float> B = load_sphere(spheres[lists.pair_other[p]]);
    Vec3 xi;
    if constexpr (kHistory) xi = shear[p];
    const PairPush<float> push = pair_push<kHistory, float>(table, A, B, dt, xi);
    if constexpr (kHistory) next_shear[p] = xi;
    force[p] = {push.force.x, push.force.y, push.force.z, push.overlap};
    if (!(push.overlap > 0.0f) && !table.model.coheres) return;
    turn[p] = {push.turn.x, push.turn.y, push.turn.z, push.stored};
    if (table.model.rolls) roll[p] = push.roll;
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
      const Distance near = solid_distance_at_end(solid, A.x + shift);
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
  // After another step of the same length: how far from where the lists were made a point of a
  // grain will be at most [m]; and how fast it goes there [m/s].
  float ahead = 0.0f, pace = 0.0f;
};
struct JoinSummary {
  static HD Summary identity() { return {}; }
  static HD Summary combine(const Summary& a, const Summary& b) {
    return {JoinVitals::combine(a.vitals, b.vitals), max(a.deepest, b.deepest),
            a.contacts + b.contacts, max(a.ahead, b.ahead), max(a.pace, b.pace)};
  }
};

// What blocks of 2^bits spheres have summed of their own pairs, on a CPU. Those with spheres of
// later blocks are written down, and summed by these.
struct BlockSums {
  View<Float4> force;   // on each sphere [N]; behind it, how many contacts it has
  View<Float4> torque;  // [N m]; behind it the energy of the pairs that stand with it [J]
  View<float> deepest;  // overlap in each block, over the smaller radius
  std::uint32_t bits = 0;

  HD bool some() const { return force.data != nullptr; }
};

// What all contacts do to each sphere, where it is summed before the grains ask (SumContacts).
struct SphereSums {
  View<Float4> force;   // [N]; behind it the deepest overlap [m]
  View<Float4> torque;  // about its own centre [N m]; behind it how many contacts it has

  HD bool some() const { return force.data != nullptr; }
};

// What all contacts do to a sphere.
struct SphereForces {
  View<const Sphere> spheres;
  Lists lists;
  View<const Float4> pair_force, pair_turn, wall_force, wall_torque;
  View3<const float> pair_roll;  // empty without rolling resistance
  BlockSums blocks;
  SphereSums summed;

  // Spheres begin ... end - 1 have nobody near. Of pairs that blocks sum, lists tell one side only.
  HD bool have_none(std::uint32_t begin, std::uint32_t end) const {
    const auto empty = [&](View<const std::uint32_t> start) { return start[begin] == start[end]; };
    return !blocks.some() && empty(lists.pair_start) && empty(lists.back_start) &&
           empty(lists.wall_start);
  }
  // One pair of sphere s: `sign` is -1 for the second of the two.
  HD void add(std::uint32_t p, float sign, std::uint32_t s, Vec3& f, Vec3& t, float& deepest,
              std::uint32_t& contacts) const {
    const Float4 by = pair_force[p];
    f += sign * Vec3(by.x, by.y, by.z);
    if (!(by.w > 0.0f)) return;  // apart: at most a bridge between them
    const Float4 turn = pair_turn[p];
    t += (spheres[s].radius - 0.5f * by.w) * Vec3(turn.x, turn.y, turn.z);
    if (pair_roll.x != nullptr) t += sign * pair_roll[p];
    count(by.w, deepest, contacts);
  }
  HD static void count(float overlap, float& deepest, std::uint32_t& contacts) {
    deepest = max(deepest, overlap);
    contacts += overlap > 0.0f ? 1 : 0;
  }
  // All that acts on grain i at x + low: F, T about its middle.
  HD void on_grain(std::size_t i, const Vec3& x, const Vec3& low, Vec3& F, Vec3& T,
                   Summary& summary) const {
    const std::uint32_t begin = lists.sphere_start[i], end = lists.sphere_start[i + 1];
    for (std::uint32_t s = begin; s < end; ++s) {
      float deepest = 0.0f;
      Vec3 f, t;
      summary.contacts += on(s, f, t, deepest);
      if (deepest > 0.0f) summary.deepest = max(summary.deepest, deepest / spheres[s].radius);
      F += f;
      T += t;
      if (end - begin > 1) T += cross((spheres[s].x - x) + (spheres[s].low - low), f);
    }
  }
  // Force, torque about its own centre, deepest overlap [m]; returns the number of contacts.
  HD std::uint32_t on(std::uint32_t s, Vec3& f, Vec3& t, float& deepest) const {
    if (!summed.some()) return sum(s, f, t, deepest);
    const Float4 by = summed.force[s], turn = summed.torque[s];
    f = Vec3(by.x, by.y, by.z);
    t = Vec3(turn.x, turn.y, turn.z);
    deepest = by.w;
    return static_cast<std::uint32_t>(turn.w);
  }
  HD std::uint32_t sum(std::uint32_t s, Vec3& f, Vec3& t, float& deepest) const {
    std::uint32_t contacts = 0;
    if (blocks.some()) {
      const Float4 by = blocks.force[s], turn = blocks.torque[s];
      f = Vec3(by.x, by.y, by.z);
      t = Vec3(turn.x, turn.y, turn.z);
      contacts = static_cast<std::uint32_t>(by.w);
    } else {
      for (std::uint32_t p = lists.pair_start[s]; p < lists.pair_start[s + 1]; ++p) {
        add(p, 1.0f, s, f, t, deepest, contacts);
      }
    }
    for (std::uint32_t b = lists.back_start[s]; b < lists.back_start[s + 1]; ++b) {
      add(lists.back_pair[b], -1.0f, s, f, t, deepest, contacts);
    }
    for (std::uint32_t e = lists.wall_start[s]; e < lists.wall_start[s + 1]; ++e) {
      const Float4 by = wall_force[e], torque_by = wall_torque[e];
      f += Vec3(by.x, by.y, by.z);
      t += Vec3(torque_by.x, torque_by.y, torque_by.z);
      count(by.w, deepest, contacts);
    }
    return contacts;
  }
};

// On a GPU, a thread a sphere: one that sums all spheres of a grain waits for its loads too long.
struct SumContacts {
  SphereForces forces;  // and out: its sums

  HD void operator()(int at) const {
    const auto s = static_cast<std::uint32_t>(at);
    Vec3 f, t;
    float deepest = 0.0f;
    const auto contacts = static_cast<float>(forces.sum(s, f, t, deepest));
    forces.summed.force[s] = {f.x, f.y, f.z, deepest};
    forces.summed.torque[s] = {t.x, t.y, t.z, contacts};
  }
};

// Velocity Verlet, second half: all that pushes a grain, and v += dt/2 F/m.
struct Kick {
  SphereForces forces;
  View3<const float> x, low;
  View4<const float> q;
  View<const float> scale, mass;
  View<const std::uint8_t> material;
  View<const GrainType> types;
  View3<const float> listed;  // where grains were when the lists were made
  View<const float> turned;   // since then [rad]; empty where all grains are spheres
  Vec3 gravity;
  float dt;                    // 0: only sum
  float next_dt;               // the next step, if it is as long
  View3<float> v, w;           // in and out
  View3<float> L;              // likewise; empty where all moments are equal
  View3<float> force, torque;  // out

  HD Summary operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    Summary summary;
    Vec3 F, T;
    forces.on_grain(i, x[i], low[i], F, T, summary);
    force[i] = F;
    torque[i] = T;
    const float m = mass[i], half = 0.5f * dt;
    const Vec3 I = inertia_of(types[material[i]], m, scale[i]);
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
    const float reach = types[material[i]].reach * scale[i];
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
// Behind the torques; of pairs that are apart only where there are bridges.
struct StoredEnergy {
  View<const Float4> force, torque;
  bool all;
  HD double operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    return all || force[i].w > 0.0f ? static_cast<double>(torque[i].w) : 0.0;
  }
};

// ---- What the grains did to the solids first ... first + 3

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
  std::uint32_t first;

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
      if (lists.wall_solid[e] == first + static_cast<std::uint32_t>(s)) {
        sums.force[s] = force;
        sums.moment[s] = moment;
      }
    }
    return sums;
  }
};

}  // namespace barchan::dem
