// The search for contacts: from lists of grains that are near each other to lists of spheres, and
// the memory of contacts from the old lists to the new ones. For both devices.
//
// Lists hold all that can touch while no sphere goes farther than half the skin. A pair of spheres
// stands with the sphere of the lower grain; spheres of one grain make none.
#pragma once

#include <cstdint>

#include "solvers/dem/body_kernels.h"
#include "solvers/dem/kernels.h"
#include "spatial/neighbours.h"

namespace barchan::dem {

struct CountSpheres {
  View<const std::uint8_t> material;
  View<const GrainType> types;
  View<std::uint32_t> counts;  // out, one more than there are grains
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    counts[i] = i < material.size ? types[material[i]].count : 0;
  }
};

// The lists that were, and what they remember.
struct OldLists {
  Lists lists;               // empty where there were none
  View3<const float> shear;  // of pairs
  Slots walls;
};

// All of a grain is within its radius of its middle: a look at that saves looks at its spheres.
struct GrainBounds {
  View3<const float> x;
  View<const float> scale;
  HD bool out_of_reach(std::uint32_t grain, const Sphere& sphere, float reach) const {
    const float range = scale[grain] + sphere.radius + reach;
    return length_squared(x[grain] - sphere.x) > range * range;
  }
};

// The spheres near each sphere: counted first, then written. What a pair remembers comes from the
// old lists by the rows that its grains had in them; a pair that has changed places has its spring
// turned round.
template <bool kWrite>
struct ListPairs {
  View<const Sphere> spheres;
  Neighbours near;  // of grains
  NearCovering covering;
  GrainBounds grains;
  View<const std::uint32_t> sphere_start;
  float reach;                       // beyond touching [m]
  float bridges;                     // and of cohesive contacts, over the smaller radius
  View<std::uint32_t> counts;        // out, where not kWrite; one more than there are spheres
  View<const std::uint32_t> start;   // of each list, where kWrite
  View<std::uint32_t> first, other;  // out

  HD void operator()(int at) const {
    const auto s = static_cast<std::size_t>(at);
    if constexpr (!kWrite) {
      if (s == spheres.size) {
        counts[s] = 0;
        return;
      }
    }
    const Sphere A = spheres[s];
    std::uint32_t found = 0;
    if (covering.some() && covering.is_covering(A)) {
      if (covering.meet) among_solids(A, at, found);
    } else {
      of_grain(A, at, found);
    }
    if constexpr (!kWrite) counts[s] = found;
  }
  HD void of_grain(const Sphere& A, int at, std::uint32_t& found) const {
    const auto g = static_cast<int>(A.grain);
    const int count = near.count(g);
    for (int k = 0; k < count; ++k) {
      const std::uint32_t h = near(g, k);
      if (h < A.grain || grains.out_of_reach(h, A, reach + bridges * A.radius)) continue;
      const std::uint32_t end = sphere_start[h + 1];
      for (std::uint32_t t = sphere_start[h]; t < end; ++t) {
        const Sphere& B = spheres[t];
        take(A, B, at, t, bridges * min(A.radius, B.radius), found);
      }
    }
    if (!covering.some()) return;
    const int solids = covering.of_grains.count(g);
    for (int k = 0; k < solids; ++k) {
      const std::uint32_t t = covering.first + covering.order[covering.of_grains(g, k)];
      take(A, spheres[t], at, t, 0.0f, found);
    }
  }
  HD void among_solids(const Sphere& A, int at, std::uint32_t& found) const {
    const auto own = static_cast<std::uint32_t>(at) - covering.first;
    const auto place = static_cast<int>(covering.place[own]);
    const int count = covering.each_other.count(place);
    for (int k = 0; k < count; ++k) {
      const std::uint32_t b = covering.order[covering.each_other(place, k)];
      if (b < own || !covering.may_meet(A, spheres[covering.first + b])) continue;
      take(A, spheres[covering.first + b], at, covering.first + b, 0.0f, found);
    }
  }
  HD void take(const Sphere& A, const Sphere& B, int at, std::uint32_t t, float bridge,
               std::uint32_t& found) const {
    const float limit = A.radius + B.radius + reach + bridge;
    if (!(length_squared(B.x - A.x) < limit * limit)) return;
    if constexpr (kWrite) {
      const std::uint32_t to = start[static_cast<std::size_t>(at)] + found;
      first[to] = static_cast<std::uint32_t>(at);
      other[to] = t;
    }
    ++found;
  }
};

// For each sphere the pairs in which it is the second.
template <bool kWrite>
struct ListBacks {
  View<const Sphere> spheres;
  Neighbours near;
  NearCovering covering;
  GrainBounds grains;
  float reach;  // beyond touching, cohesive bridges included [m]
  View<const std::uint32_t> sphere_start, pair_start, pair_other;
  View<std::uint32_t> counts;  // out, where not kWrite
  View<const std::uint32_t> start;
  View<std::uint32_t> pair;  // out

  HD void operator()(int at) const {
    const auto s = static_cast<std::size_t>(at);
    if constexpr (!kWrite) {
      if (s == spheres.size) {
        counts[s] = 0;
        return;
      }
    }
    const std::uint32_t g = spheres[s].grain;
    std::uint32_t found = 0;
    if (covering.some() && covering.is_covering(spheres[s])) {
      of_covering(at, found);
    } else {
      const int count = near.count(static_cast<int>(g));
      for (int k = 0; k < count; ++k) {
        const std::uint32_t h = near(static_cast<int>(g), k);
        if (h < g && !grains.out_of_reach(h, spheres[s], reach)) in_grain(h, at, found);
      }
    }
    if constexpr (!kWrite) counts[s] = found;
  }
  HD void of_covering(int at, std::uint32_t& found) const {
    const auto own = static_cast<std::uint32_t>(at) - covering.first;
    const auto place = static_cast<int>(covering.place[own]);
    const int grains = covering.grains.count(place);
    for (int k = 0; k < grains; ++k) in_grain(covering.grains(place, k), at, found);
    const int solids = covering.meet ? covering.each_other.count(place) : 0;
    for (int k = 0; k < solids; ++k) {
      const std::uint32_t b = covering.order[covering.each_other(place, k)];
      if (b < own) in_sphere(covering.first + b, at, found);
    }
  }
  HD void in_grain(std::uint32_t h, int at, std::uint32_t& found) const {
    const std::uint32_t end = sphere_start[h + 1];
    for (std::uint32_t t = sphere_start[h]; t < end; ++t) in_sphere(t, at, found);
  }
  HD void in_sphere(std::uint32_t t, int at, std::uint32_t& found) const {
    const std::uint32_t last = pair_start[t + 1];
    for (std::uint32_t p = pair_start[t]; p < last; ++p) {
      if (pair_other[p] != static_cast<std::uint32_t>(at)) continue;
      if constexpr (kWrite) pair[start[static_cast<std::size_t>(at)] + found] = p;
      ++found;
      return;
    }
  }
};

// Sphere s in the old lists; ~0 where its grain is new. Those of coverings stand behind the
// grains'.
struct OldPlace {
  View<const std::uint32_t> row;  // of each grain in the old lists, plus one; 0: it is new
  View<const std::uint32_t> sphere_start, old_start;
  HD std::uint32_t operator()(const Sphere& sphere, std::uint32_t s) const {
    if (sphere.grain >= row.size) {
      return old_start[old_start.size - 1] + (s - sphere_start[sphere_start.size - 1]);
    }
    const std::uint32_t before = row[sphere.grain];
    if (before == 0) return ~0u;
    return old_start[before - 1] + (s - sphere_start[sphere.grain]);
  }
};

struct RememberPairs {
  View<const Sphere> spheres;
  View<const std::uint32_t> pair_start, pair_other;
  OldPlace place;
  OldLists old;
  View3<float> shear;  // out

  HD bool find(std::uint32_t a, std::uint32_t b, Vec3& xi) const {
    const std::uint32_t end = old.lists.pair_start[a + 1];
    for (std::uint32_t p = old.lists.pair_start[a]; p < end; ++p) {
      if (old.lists.pair_other[p] != b) continue;
      xi = old.shear[p];
      return true;
    }
    return false;
  }
  HD void operator()(int at) const {
    const auto s = static_cast<std::uint32_t>(at);
    const bool some = old.lists.pair_start.size > 0;
    const std::uint32_t a = some ? place(spheres[s], s) : ~0u;
    for (std::uint32_t p = pair_start[s]; p < pair_start[s + 1]; ++p) {
      const std::uint32_t t = pair_other[p], b = some ? place(spheres[t], t) : ~0u;
      Vec3 xi;
      if (a != ~0u && b != ~0u && !find(a, b, xi) && find(b, a, xi)) xi = -xi;
      shear[p] = xi;
    }
  }
};

// Which grains may be near a solid: one look each, for shapes of many parts take long.
struct NearWalls {
  View3<const float> x;
  View<const float> scale;
  SolidsView solids;
  View<const std::uint8_t> covered;  // solids that are, and are met by their spheres
  float reach;                       // beyond touching [m]
  View<std::uint8_t> near;           // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const float gap = scale[i] + reach;
    bool found = false;
    for (int k = 0; k < solids.count && !found; ++k) {
      if (covered[static_cast<std::size_t>(k)] != 0) continue;
      const SolidView& one = solids.data[k];
      const Vec3 arm = (x[i] - one.end_position) - one.end_low;
      found = !out_of_reach(one, arm, gap, 0.0f) && solid_distance_at_end(one, x[i]).d < gap;
    }
    near[i] = found ? 1 : 0;
  }
};

// The solids near each sphere.
template <bool kWrite>
struct ListWalls {
  View<const Sphere> spheres;
  SolidsView solids;
  View<const std::uint8_t> covered;
  View<const PartPose> poses;     // of coverings: dynamic ones may touch solids, too
  View<const std::uint8_t> near;  // of grains, where not kWrite
  float reach;                    // beyond touching [m]
  View<std::uint32_t> counts;     // out, where not kWrite
  View<const std::uint32_t> start;
  View<std::uint32_t> solid, sphere;  // out

  HD void operator()(int at) const {
    const auto s = static_cast<std::size_t>(at);
    if constexpr (!kWrite) {
      if (s == spheres.size || !may_touch(spheres[s].grain)) {
        counts[s] = 0;
        return;
      }
    } else if (start[s] == start[s + 1]) {
      return;
    }
    const float gap = spheres[s].radius + reach;
    std::uint32_t found = 0;
    for (int k = 0; k < solids.count; ++k) {
      if (covered[static_cast<std::size_t>(k)] != 0) continue;
      const SolidView& one = solids.data[k];
      const Vec3 arm = (spheres[s].x - one.end_position) - one.end_low;
      if (out_of_reach(one, arm, gap, 0.0f)) continue;
      if (!(solid_distance_at_end(one, spheres[s].x).d < gap)) continue;
      if constexpr (kWrite) {
        solid[start[s] + found] = static_cast<std::uint32_t>(k);
        sphere[start[s] + found] = static_cast<std::uint32_t>(at);
      }
      ++found;
    }
    if constexpr (!kWrite) counts[s] = found;
  }
  HD bool may_touch(std::uint32_t grain) const {
    return grain < near.size ? near[grain] != 0 : poses[grain - near.size].dynamic;
  }
};

struct RememberWalls {
  View<const Sphere> spheres;
  View<const std::uint32_t> wall_start, wall_solid;
  OldPlace place;
  OldLists old;
  Slots walls;  // out

  HD void operator()(int at) const {
    const auto s = static_cast<std::uint32_t>(at);
    const bool some = old.lists.wall_start.size > 0;
    const std::uint32_t a = some ? place(spheres[s], s) : ~0u;
    for (std::uint32_t e = wall_start[s]; e < wall_start[s + 1]; ++e) {
      std::uint32_t from = ~0u;
      if (a != ~0u) {
        for (std::uint32_t o = old.lists.wall_start[a]; o < old.lists.wall_start[a + 1]; ++o) {
          if (old.lists.wall_solid[o] == wall_solid[e]) from = o;
        }
      }
      for (int k = 0; k < kPlaces; ++k) {
        for (int part = 0; part < kSlot; part += 3) {
          walls.set(e, k, part, from != ~0u ? old.walls.get(from, k, part) : Vec3());
        }
      }
    }
  }
};

// The rows that the new lists are about.
struct NoteRows {
  View3<const float> x;
  View3<float> listed;
  View<std::uint32_t> row;
  View<float> turned;  // empty where all grains are spheres
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    listed[i] = x[i];
    row[i] = static_cast<std::uint32_t>(at) + 1;
    if (turned.data != nullptr) turned[i] = 0.0f;
  }
};

}  // namespace barchan::dem
