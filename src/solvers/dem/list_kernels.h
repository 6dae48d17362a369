// The search for contacts: from lists of grains that are near each other to lists of spheres, and
// the memory of contacts from the old lists to the new ones. For both devices.
//
// Lists hold all that can touch while no sphere goes farther than half the skin. A pair of spheres
// stands with the sphere of the lower grain; spheres of one grain make none.
#pragma once

#include <cstdint>

#include "solvers/dem/body_kernels.h"
#include "solvers/dem/wall_kernels.h"
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

// The grain of each sphere.
struct NoteGrains {
  View<const Sphere> spheres;
  View<std::uint32_t> grain;  // out
  HD void operator()(int at) const {
    const auto s = static_cast<std::size_t>(at);
    grain[s] = spheres[s].grain;
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

// The spheres near each sphere, each pair once or with both: found(t) for sphere t.
struct PairSearch {
  View<const Sphere> spheres;
  Neighbours near;  // of grains
  NearCovering covering;
  GrainBounds grains;
  View<const std::uint32_t> sphere_start;
  float reach;    // beyond touching [m]
  float bridges;  // and of cohesive contacts, over the smaller radius
  bool both;      // each pair stands with both of its spheres, not with the first alone

  template <class Found>
  HD void each(int at, const Found& found) const {
    const Sphere A = spheres[static_cast<std::size_t>(at)];
    if (covering.some() && covering.is_covering(A)) {
      if (both) of_covering(A, at, found);
      if (covering.meet) among_solids(A, at, found);
    } else {
      of_grain(A, found);
    }
  }
  template <class Found>
  HD void of_grain(const Sphere& A, const Found& found) const {
    const auto g = static_cast<int>(A.grain);
    const int count = near.count(g);
    for (int k = 0; k < count; ++k) {
      const std::uint32_t h = near(g, k);
      if (both || h > A.grain) in_grain(A, h, found);
    }
    if (!covering.some()) return;
    const int solids = covering.of_grains.count(g);
    for (int k = 0; k < solids; ++k) {
      const std::uint32_t t = covering.first + covering.order[covering.of_grains(g, k)];
      if (are_near(A, spheres[t])) found(t);
    }
  }
  template <class Found>
  HD void of_covering(const Sphere& A, int at, const Found& found) const {
    const auto place =
        static_cast<int>(covering.place[static_cast<std::uint32_t>(at) - covering.first]);
    const int count = covering.grains.count(place);
    for (int k = 0; k < count; ++k) in_grain(A, covering.grains(place, k), found);
  }
  template <class Found>
  HD void in_grain(const Sphere& A, std::uint32_t h, const Found& found) const {
    if (grains.out_of_reach(h, A, reach + bridges * A.radius)) return;
    const std::uint32_t end = sphere_start[h + 1];
    for (std::uint32_t t = sphere_start[h]; t < end; ++t) {
      if (are_near(A, spheres[t])) found(t);
    }
  }
  template <class Found>
  HD void among_solids(const Sphere& A, int at, const Found& found) const {
    const auto own = static_cast<std::uint32_t>(at) - covering.first;
    const auto place = static_cast<int>(covering.place[own]);
    const int count = covering.each_other.count(place);
    for (int k = 0; k < count; ++k) {
      const std::uint32_t b = covering.order[covering.each_other(place, k)];
      const Sphere& B = spheres[covering.first + b];
      if ((both || b > own) && covering.may_meet(A, B) && are_near(A, B)) found(covering.first + b);
    }
  }
  // Between spheres of coverings there are no bridges.
  HD bool are_near(const Sphere& A, const Sphere& B) const {
    const Float4 there = line_of(B, 0);
    float limit = A.radius + there.w + reach;
    if (bridges > 0.0f &&
        !(covering.some() && (covering.is_covering(A) || covering.is_covering(B)))) {
      limit += bridges * min(A.radius, there.w);
    }
    return length_squared(vector_of(there) - A.x) < limit * limit;
  }
};

// The pairs in which a sphere is the second, where the first is of an earlier block: found(p) for
// pair p.
struct BackSearch {
  PairSearch pairs;
  float reach;               // beyond touching, cohesive bridges included [m]
  std::uint32_t block_bits;  // spheres in a block, as a power of two
  View<const std::uint32_t> pair_start, pair_other;

  template <class Found>
  HD void each(int at, const Found& found) const {
    const Sphere& sphere = pairs.spheres[static_cast<std::size_t>(at)];
    if (pairs.covering.some() && pairs.covering.is_covering(sphere)) {
      of_covering(at, found);
      return;
    }
    const auto g = static_cast<int>(sphere.grain);
    const int count = pairs.near.count(g);
    for (int k = 0; k < count; ++k) {
      const std::uint32_t h = pairs.near(g, k);
      if (h < sphere.grain && !pairs.grains.out_of_reach(h, sphere, reach)) in_grain(h, at, found);
    }
  }
  template <class Found>
  HD void of_covering(int at, const Found& found) const {
    const NearCovering& covering = pairs.covering;
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
  template <class Found>
  HD void in_grain(std::uint32_t h, int at, const Found& found) const {
    const std::uint32_t end = pairs.sphere_start[h + 1];
    for (std::uint32_t t = pairs.sphere_start[h]; t < end; ++t) in_sphere(t, at, found);
  }
  template <class Found>
  HD void in_sphere(std::uint32_t t, int at, const Found& found) const {
    if (t >> block_bits == static_cast<std::uint32_t>(at) >> block_bits) return;
    const std::uint32_t last = pair_start[t + 1];
    for (std::uint32_t p = pair_start[t]; p < last; ++p) {
      if (pair_other[p] != static_cast<std::uint32_t>(at)) continue;
      found(p);
      return;
    }
  }
};

// Lists are counted first, then written. Search is one of the two above, or WallSearch.
template <class Search>
struct CountFound {
  Search search;
  View<std::uint32_t> counts;  // out, one more than there are spheres
  HD void operator()(int at) const {
    std::uint32_t count = 0;
    const auto s = static_cast<std::size_t>(at);
    if (s + 1 < counts.size) search.each(at, [&](std::uint32_t) { ++count; });
    counts[s] = count;
  }
};
template <class Search>
struct WriteFound {
  Search search;
  View<const std::uint32_t> start;  // of each sphere's list
  View<std::uint32_t> found;        // out
  View<std::uint32_t> sphere;       // out: whose list it is in; may be empty
  HD void operator()(int at) const {
    const auto s = static_cast<std::size_t>(at);
    std::uint32_t to = start[s];
    if (to == start[s + 1]) return;
    search.each(at, [&](std::uint32_t who) {
      found[to] = who;
      if (sphere.data != nullptr) sphere[to] = static_cast<std::uint32_t>(at);
      ++to;
    });
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

// What pairs remember belongs to the sphere of the lower row; in lists that have each pair with
// both, both remember the same.
struct RememberPairs {
  View<const Sphere> spheres;
  View<const std::uint32_t> pair_start, pair_other;
  OldPlace place;
  OldLists old;
  View3<float> shear;  // out

  HD Vec3 find(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t end = old.lists.pair_start[a + 1];
    for (std::uint32_t p = old.lists.pair_start[a]; p < end; ++p) {
      if (old.lists.pair_other[p] == b) return old.shear[p];
    }
    return {};
  }
  HD void operator()(int at) const {
    const auto s = static_cast<std::uint32_t>(at);
    const bool some = old.lists.pair_start.size > 0;
    const std::uint32_t own = some ? place(spheres[s], s) : ~0u;
    for (std::uint32_t p = pair_start[s]; p < pair_start[s + 1]; ++p) {
      const std::uint32_t t = pair_other[p], other = some ? place(spheres[t], t) : ~0u;
      if (own == ~0u || other == ~0u) {
        shear[p] = Vec3();
        continue;
      }
      const Vec3 xi = own < other ? find(own, other) : find(other, own);
      shear[p] = (s < t) == (own < other) ? xi : -xi;
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

// The solids near each sphere: found(k) for solid k.
struct WallSearch {
  View<const Sphere> spheres;
  SolidsView solids;
  View<const std::uint8_t> covered;
  View<const PartPose> poses;     // of coverings: dynamic ones may touch solids, too
  View<const std::uint8_t> near;  // of grains
  float reach;                    // beyond touching [m]

  template <class Found>
  HD void each(int at, const Found& found) const {
    const Sphere& sphere = spheres[static_cast<std::size_t>(at)];
    if (!may_touch(sphere.grain)) return;
    const float gap = sphere.radius + reach;
    for (int k = 0; k < solids.count; ++k) {
      if (covered[static_cast<std::size_t>(k)] != 0) continue;
      const SolidView& one = solids.data[k];
      const Vec3 arm = (sphere.x - one.end_position) - one.end_low;
      if (out_of_reach(one, arm, gap, 0.0f)) continue;
      if (solid_distance_at_end(one, sphere.x).d < gap) found(static_cast<std::uint32_t>(k));
    }
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
