// Motion of grains under the forces of their contacts.
// Bell, Yu & Mucha 2005; README.md maps each equation to a struct.
//
//   x, v, w   position [m], velocity [m/s], angular velocity [rad/s] of a grain or a sphere
//   q, I      orientation, moments of inertia about the principal axes [kg m^2]
//   F, T      contact force [N] and torque about the centre of mass [N m]
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "math/quat.h"
#include "solvers/dem/grains.h"
#include "solvers/dem/outcome_kernels.h"
#include "solvers/dem/pair_kernels.h"

namespace barchan::dem {

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

}  // namespace barchan::dem
