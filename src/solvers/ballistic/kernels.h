// The flight of one particle over one step, for both devices.
//
//   x, v   position [m], velocity [m/s]        g   gravity [m/s^2]        t   what is left of dt
//   [s] n      wall normal, towards the particle   N   normal acceleration [m/s^2]
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "geometry/sweep.h"
#include "math/vec3.h"

namespace barchan {

inline constexpr int kSolidsPerPass = 4;  // impulses of that many solids are summed in one pass
inline constexpr int kMostContacts = 8;   // in one step, then a particle rides with the wall

// A stretch of the way.
struct Flight {
  Vec3 x, v;  // at its end
  Vec3 push;  // on a wall that carries the particle, per unit mass [m/s]
};

HD inline Flight free_flight(Vec3 x, Vec3 v, Vec3 g, float t) {
  return {x + t * v + (0.5f * t * t) * g, v + t * g, {}};
}

// What both passes find out about the new state.
struct Found {
  float max_speed_squared = 0.0f;
  std::uint32_t first_bad = ~0u;  // lowest index of a particle that is not finite
  std::uint32_t near_walls = 0;   // particles left to the second pass
};

HD inline Found look_at(Vec3 x, Vec3 v, int at) {
  const float speed_squared = dot(v, v);
  const bool good = is_finite(x) && speed_squared - speed_squared == 0.0f;
  return {good ? speed_squared : 0.0f, good ? ~0u : static_cast<std::uint32_t>(at), 0};
}

struct JoinFound {
  static HD Found identity() { return {}; }
  static HD Found combine(const Found& a, const Found& b) {
    return {a.max_speed_squared > b.max_speed_squared ? a.max_speed_squared : b.max_speed_squared,
            a.first_bad < b.first_bad ? a.first_bad : b.first_bad, a.near_walls + b.near_walls};
  }
};

// First pass: everything flies freely; what might meet a wall on its way is marked.
struct Fly {
  View3<const float> x, v;  // in
  SolidsView solids;
  Vec3 gravity;                  // [m/s^2]
  float dt;                      // [s]
  float radius;                  // [m]
  View3<float> next_x, next_v;   // out
  View<std::uint8_t> near_wall;  // out

  HD Found operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const Vec3 from = x[i];
    const Flight flight = free_flight(from, v[i], gravity, dt);
    const bool near = may_touch(solids, from, flight.x, radius);
    next_x[i] = flight.x;
    next_v[i] = flight.v;
    near_wall[i] = near ? 1 : 0;
    return near ? Found{0.0f, ~0u, 1} : look_at(flight.x, flight.v, at);
  }
};

// What the second pass sums up.
struct ContactSums {
  Found found;
  Vec3d impulse[kSolidsPerPass];          // on each solid [N s]
  Vec3d angular_impulse[kSolidsPerPass];  // about the world's origin [N m s]
  double approach[kSolidsPerPass] = {};   // impulses times speeds of approach [J]
};

struct JoinContacts {
  static HD ContactSums identity() { return {}; }
  static HD ContactSums combine(const ContactSums& a, const ContactSums& b) {
    ContactSums sum;
    sum.found = JoinFound::combine(a.found, b.found);
    for (int s = 0; s < kSolidsPerPass; ++s) {
      sum.impulse[s] = a.impulse[s] + b.impulse[s];
      sum.angular_impulse[s] = a.angular_impulse[s] + b.angular_impulse[s];
      sum.approach[s] = a.approach[s] + b.approach[s];
    }
    return sum;
  }
};

// Second pass: what was marked flies again, this time with the walls in its way. Returns what it
// did to the solids first_solid ... first_solid + 3.
struct Collide {
  View3<const float> x, v;  // in
  View<const std::uint8_t> material;
  View<const float> mass_of;  // by material [kg]
  SolidsView solids;
  Vec3 gravity;      // [m/s^2]
  float dt;          // [s]
  float radius;      // [m]
  float rest_speed;  // slower impacts do not bounce [m/s]
  View<const std::uint8_t> near_wall;
  int first_solid;
  View3<float> next_x, next_v;  // out; empty where only impulses are wanted

  // The wall carries N = -g.n; friction takes up to mu N from the sliding and at most stops it.
  // Where g pulls away from the wall, nothing holds the particle.
  HD Flight slide(Vec3 x, Vec3 v, float t, const Hit& wall) const {
    const float N = -dot(gravity, wall.normal);
    if (!(N > 0.0f)) return free_flight(x, v, gravity, t);
    const Vec3 along = gravity + N * wall.normal;
    const Vec3 slip = v - wall.wall_velocity + t * along;  // at the end, without friction
    const float speed = length(slip);
    const float lost = solids.data[wall.solid].friction * N * t;
    const Vec3 end = wall.wall_velocity + (speed > lost ? 1.0f - lost / speed : 0.0f) * slip;
    return {x + (0.5f * t) * (v + end), end, t * gravity - (end - v)};
  }

  HD Flight ride(Vec3 x, float s, const Hit& wall) const {
    return {carried_to_end(solids.data[wall.solid], x, s), wall.wall_velocity, {}};
  }

  // `speed`: at which particle and solid approach each other [m/s].
  HD void record(ContactSums& sums, int solid, float mass, Vec3 push, Vec3 at, float speed) const {
    const Vec3d impulse = static_cast<double>(mass) * Vec3d(push);
    const Vec3d turn = cross(Vec3d(at), impulse);
    for (int s = 0; s < kSolidsPerPass; ++s) {  // by compare: a run-time index would spill
      if (solid == first_solid + s) {
        sums.impulse[s] += impulse;
        sums.angular_impulse[s] += turn;
        sums.approach[s] += length(impulse) * static_cast<double>(speed);
      }
    }
  }

  // A particle that is still too near to a body at the end of the step is caught between it and
  // another solid, and holds them apart: it pushes as if it were to undo a fifth of the overlap.
  HD void hold_apart(float mass, const Vec3& at, ContactSums& sums) const {
    for (int k = 0; k < solids.count; ++k) {
      if (!solids.data[k].dynamic) continue;
      const Distance near = solid_distance_at_end(solids.data[k], at);
      const float depth = radius - near.d;
      if (!(depth > 0.05f * radius)) continue;
      const float speed = 0.2f * depth / dt;
      record(sums, k, mass, -speed * near.gradient, at, speed);
    }
  }

  HD ContactSums operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    ContactSums sums;
    if (near_wall[i] == 0) return sums;
    const float mass = mass_of[material[i]];
    Vec3 position = x[i], velocity = v[i];
    Hit wall;              // the one touched last
    bool resting = false;  // on it
    float s = 0.0f;        // fraction of the step done
    for (int contact = 0; contact < 2 * kMostContacts && s < 1.0f; ++contact) {
      const float t = (1.0f - s) * dt;
      // Caught in a corner or between closing walls, it rides with the wall, or that wall would
      // pass through it in the rest of the step.
      const bool riding = contact >= kMostContacts;
      const Flight path = riding    ? ride(position, s, wall)
                          : resting ? slide(position, velocity, t, wall)
                                    : free_flight(position, velocity, gravity, t);
      const Hit hit = sweep(solids, position, path.x, s, radius, riding ? wall.solid : -1);
      const float part = hit.hit ? (hit.s - s) / (1.0f - s) : 1.0f;
      // What rests on a body is a load, no impact: it is felt up to a thousand times the body's
      // mass.
      if (resting) {
        record(sums, wall.solid, mass, part * path.push, position, 1e3f * length(path.push));
      }
      position = hit.hit ? hit.position : path.x;
      velocity += part * (path.v - velocity);
      s = hit.s;
      if (!hit.hit) break;

      // Up to the wall, then off it.
      const SolidView& solid = solids.data[hit.solid];
      const Vec3 arriving = velocity;
      velocity = bounce(arriving, hit.wall_velocity, hit.normal, solid.restitution, solid.friction,
                        rest_speed);
      record(sums, hit.solid, mass, arriving - velocity, position,
             dot(hit.wall_velocity - arriving, hit.normal));
      resting = dot(velocity - hit.wall_velocity, hit.normal) < 0.5f * rest_speed;
      wall = hit;
    }
    if (s < 1.0f) position = carried_to_end(solids.data[wall.solid], position, s);
    position = push_out(solids, position, radius);
    if (solids.some_dynamic) hold_apart(mass, position, sums);
    if (next_x.size > 0) {
      next_x[i] = position;
      next_v[i] = velocity;
    }
    sums.found = look_at(position, velocity, at);
    return sums;
  }
};

}  // namespace barchan
