// Forces between a sphere and a solid that is met by its distance.
//
//   n         from the solid to the sphere
//   F, T      force [N], and torque about the sphere's centre [N m]
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "geometry/solid.h"
#include "solvers/dem/pair_kernels.h"

namespace barchan::dem {

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

}  // namespace barchan::dem
