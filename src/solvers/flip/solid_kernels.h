// What solids leave open of the grid: fractions of faces and cells (Batty, Bertails & Bridson
// 2007), from signed distances at the corners of cells, and how fast the solids are at the faces
// they close.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/lanes.h"
#include "compute/view.h"
#include "geometry/solid.h"
#include "math/scalar.h"
#include "math/vec3.h"
#include "spatial/kernels.h"
#include "spatial/tile_grid.h"
#include "spatial/tile_layers.h"

namespace barchan::flip {

// Three numbers at the low faces of each cell, across x, y and z.
struct FaceView {
  View<float> of[3];
  // For an axis that is known at run time only: keeps a GPU from copying the views to memory.
  HD View<float> across(int axis) const { return axis == 0 ? of[0] : (axis == 1 ? of[1] : of[2]); }
};
struct ConstFaceView {
  View<const float> of[3];
};

HD inline Vec3 unit(int axis) {
  return {axis == 0 ? 1.0f : 0.0f, axis == 1 ? 1.0f : 0.0f, axis == 2 ? 1.0f : 0.0f};
}

HD inline Vec3 middle_of_face(const TileView& tiles, std::uint32_t cell, int axis) {
  return tiles.corner_of(cell) + 0.5f * tiles.frame.size * (Vec3(1.0f, 1.0f, 1.0f) - unit(axis));
}

// How a solid moves from here on.
struct SolidMotion {
  Vec3 position;          // of its own origin [m]
  Vec3 velocity;          // [m/s]
  Vec3 angular_velocity;  // [rad/s]
};

// Solids where they are when the step begins, as the particles are; but dynamic ones where it ends:
// they have moved already, and the pressure will change how they move from there on. Found where
// they were, it would come too late, and set floating ones bobbing.
HD inline Distance distance_now(const SolidView& solid, const Vec3& x) {
  return solid.dynamic ? solid_distance_at_end(solid, x) : solid_distance(solid, x, 0.0f);
}

// Of a set of solids that is one word. With more than 64 solids, the last bit stands for all
// others.
HD inline std::uint64_t bit_of_solid(std::size_t solid) {
  return std::uint64_t{1} << (solid < 63 ? solid : 63);
}

struct SolidsNow {
  SolidsView solids;
  View<const SolidMotion> motion;  // of each; empty: none moves
  // Which of them come near each tile, as bits; empty: ask all.
  View<const std::uint64_t> near;

  struct Nearest {
    int solid = -1;
    float distance = 3e38f;  // [m]
  };
  HD void look(int solid, const Vec3& x, Nearest& best) const {
    const float d = distance_now(solids.data[solid], x).d;
    if (d < best.distance) best = {solid, d};
  }
  HD Nearest nearest(std::uint32_t tile, const Vec3& x) const {
    Nearest best;
    if (near.size == 0) {
      for (int s = 0; s < solids.count; ++s) look(s, x, best);
      return best;
    }
    for (std::uint64_t bits = near[tile]; bits != 0; bits &= bits - 1) {
      const int s = lowest_bit(bits);
      look(s, x, best);
      if (s == 63) {
        for (int more = 64; more < solids.count; ++more) look(more, x, best);
      }
    }
    if (best.solid < 0) best.solid = 0;
    return best;
  }
  HD int nearest_solid(std::uint32_t tile, const Vec3& x) const {
    return solids.count == 1 ? 0 : nearest(tile, x).solid;
  }
  HD Vec3 velocity(int solid, const Vec3& x) const {
    if (motion.size == 0) return {};
    const SolidMotion& of = motion[static_cast<std::size_t>(solid)];
    return of.velocity + cross(of.angular_velocity, x - of.position);
  }
};

// Whether any solid's surface comes near a tile; far from all, or deep in one, nothing is asked of
// them for its cells.
enum TileSide : std::uint8_t { kOpenTile, kCutTile, kFullTile };

struct SideOfTiles {
  TileView tiles;
  SolidsView solids;
  View<std::uint8_t> side;   // out
  View<std::uint64_t> near;  // out
  HD void operator()(int item) const {
    const auto tile = static_cast<std::uint32_t>(item);
    const float size = tiles.frame.size;
    const Vec3 middle = tiles.corner_of(tile * kTileCells) + 4.0f * size * Vec3(1.0f, 1.0f, 1.0f);
    const float far = (4.0f * 1.7321f + 2.0f) * size;  // its corners and two cells more
    std::uint64_t bits = 0;
    bool deep = false;
    for (int s = 0; s < solids.count; ++s) {
      const float d = distance_now(solids.data[s], middle).d;
      deep = deep || d < -far;
      if (d < far) bits |= bit_of_solid(static_cast<std::size_t>(s));
    }
    side[tile] = deep ? kFullTile : (bits == 0 ? kOpenTile : kCutTile);
    near[tile] = bits;
  }
};

// Area of the part of a unit square where the distance is positive, by its values at the corners
// in order around the square; exact where the distance is linear.
HD inline float open_area(float d0, float d1, float d2, float d3) {
  const float d[4] = {d0, d1, d2, d3};
  const float cx[4] = {0.0f, 1.0f, 1.0f, 0.0f}, cy[4] = {0.0f, 0.0f, 1.0f, 1.0f};
  float twice = 0.0f, first_x = 0.0f, first_y = 0.0f, last_x = 0.0f, last_y = 0.0f;
  bool any = false;
  const auto add = [&](float x, float y) {
    if (any) {
      twice += last_x * y - x * last_y;
    } else {
      first_x = x, first_y = y, any = true;
    }
    last_x = x, last_y = y;
  };
  for (int k = 0; k < 4; ++k) {
    const int next = (k + 1) & 3;
    if (d[k] > 0.0f) add(cx[k], cy[k]);
    if ((d[k] > 0.0f) != (d[next] > 0.0f)) {
      const float t = d[k] / (d[k] - d[next]);
      add(cx[k] + t * (cx[next] - cx[k]), cy[k] + t * (cy[next] - cy[k]));
    }
  }
  if (!any) return 0.0f;
  twice += last_x * first_y - first_x * last_y;
  return 0.5f * twice;
}

// Open fractions of a cell's eight octants, a byte each (255: all open), x fastest.
using Octants = std::uint64_t;
inline constexpr Octants kAllOpen = ~Octants{0};
HD inline float open_octant(Octants octants, int k) {
  return static_cast<float>(octants >> (8 * k) & 0xffu) * (1.0f / 255.0f);
}
HD inline float open_volume(Octants octants) {
  float sum = 0.0f;
  for (int k = 0; k < 8; ++k) sum += open_octant(octants, k);
  return 0.125f * sum;
}

struct FractionsView {
  FaceView open;  // low faces of the cells
  View<Octants> octants;
  View<float> wall;  // from a cell's middle to the nearest solid [cells]
};

// Open fractions of the low faces of a cell, and of its octants. Around each quarter of a face the
// nearest surface is taken for a plane. What touches counts as inside: a wall that lies on faces of
// the grid closes them.
struct OpenFractions {
  static constexpr float kTouch = 1e-3f;  // [cells]
  TileView tiles;
  SolidsNow solids;
  View<const std::uint8_t> side;
  FractionsView out;  // in: all open and far; faces are written wherever a tile is not all open

  // Distance in cells, with its gradient.
  HD Distance at(std::uint32_t tile, const Vec3& x) const {
    const Distance of = distance_now(solids.solids.data[solids.nearest_solid(tile, x)], x);
    return {of.d * tiles.frame.inverse_size, of.gradient};
  }
  HD float face(std::uint32_t tile, const Vec3& corner, int axis) const {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    float area = 0.0f;
    for (int k = 0; k < 4; ++k) {
      const Vec3 in_cells = (k & 1 ? 0.75f : 0.25f) * unit(b) + (k >> 1 ? 0.75f : 0.25f) * unit(c);
      const Distance middle = at(tile, corner + tiles.frame.size * in_cells);
      const float d = middle.d - kTouch;
      const float db = 0.25f * middle.gradient[b], dc = 0.25f * middle.gradient[c];
      area += open_area(d - db - dc, d + db - dc, d + db + dc, d - db + dc);
    }
    return 0.25f * area;
  }
  HD std::uint8_t octant(std::uint32_t tile, const Vec3& corner, int k) const {
    const Vec3 in_cells(k & 1 ? 0.75f : 0.25f, k >> 1 & 1 ? 0.75f : 0.25f, k >> 2 ? 0.75f : 0.25f);
    const Distance middle = at(tile, corner + tiles.frame.size * in_cells);
    const Vec3 n = middle.gradient;
    const float width = 0.5f * (absolute(n.x) + absolute(n.y) + absolute(n.z));
    const float share = clamp(0.5f + middle.d / max(width, 0.25f), 0.0f, 1.0f);
    return static_cast<std::uint8_t>(255.0f * share + 0.5f);
  }
  // Whether the cell is cut, which then has three faces and eight octants to be looked at.
  HD bool operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint8_t of = side[cell / kTileCells];
    const float to_corner = 0.88f;  // from a cell's middle [cells]
    if (of == kOpenTile) return false;
    float d = -1.0f;
    if (of == kCutTile) {
      const Vec3 middle = tiles.corner_of(cell) + 0.5f * tiles.frame.size * Vec3(1.0f, 1.0f, 1.0f);
      d = solids.nearest(cell / kTileCells, middle).distance * tiles.frame.inverse_size;
      out.wall[cell] = d;
    }
    if (absolute(d) > to_corner) {
      for (const View<float>& a : out.open.of) a[cell] = d > 0.0f ? 1.0f : 0.0f;
      out.octants[cell] = d > 0.0f ? kAllOpen : 0;
      return false;
    }
    return true;
  }
  static constexpr int kParts = 11;
  HD void parts(int item, int begin, int end) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint32_t tile = cell / kTileCells;
    const Vec3 corner = tiles.corner_of(cell);
    auto* octant_of = reinterpret_cast<std::uint8_t*>(&out.octants[cell]);
    for (int k = begin; k < end; ++k) {
      if (k < 3) {
        out.open.across(k)[cell] = face(tile, corner, k);
      } else {
        octant_of[k - 3] = octant(tile, corner, k - 3);
      }
    }
  }
};

// Which cells of a plane were looked at in the last step, among the same solids at the same places,
// and where their tile was then.
struct FindKnown {
  TileView tiles;
  View<const std::uint8_t> side;
  View<const std::uint64_t> solids_near;  // each tile, as SolidsNow has it
  LayerView wanted;
  std::uint64_t moving;                   // the solids that move, as bits
  View<const std::uint64_t> last_number;  // of the last step's tiles; empty: all is new
  View<const std::uint64_t> last_solids_near;
  View<const std::uint64_t> last_looked_at;  // a word for each plane
  View<std::uint32_t> place;                 // out, of each tile in the last step
  View<std::uint64_t> known;                 // out, a word for each plane
  HD void operator()(int item) const {
    const auto plane = static_cast<std::size_t>(item);
    const std::size_t tile = plane / kTilePlanes, z = plane % kTilePlanes;
    const std::uint64_t number = tiles.number[tile];
    const std::uint32_t was = lower_bound(last_number, static_cast<std::int64_t>(number));
    const bool there = side[tile] == kCutTile && was < last_number.size &&
                       last_number[was] == number &&
                       ((solids_near[tile] | last_solids_near[was]) & moving) == 0;
    if (z == 0) place[tile] = was;
    known[plane] = there ? wanted.word(plane) & last_looked_at[was * kTilePlanes + z] : 0;
  }
};

struct CopyFractions {
  View<const std::uint32_t> place;
  ConstFaceView open;
  View<const Octants> octants;
  View<const float> wall;
  FractionsView out;
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint32_t was = place[cell / kTileCells] * kTileCells + cell % kTileCells;
    for (int a = 0; a < 3; ++a) out.open.of[a][cell] = open.of[a][was];
    out.octants[cell] = octants[was];
    out.wall[cell] = wall[was];
  }
};

// Slivers count as solid: cells and faces that are open by less than a fiftieth.
struct CloseSlivers {
  static constexpr float kLeast = 0.02f;
  TileView tiles;
  View<const std::uint8_t> side;
  View<const Octants> octants;
  ConstFaceView found;  // by OpenFractions
  FaceView open;        // in: all open; out
  View<bool> closed;    // in: no; out: nothing of the cell is open

  HD bool solid(std::uint32_t cell) const {
    return octants[cell] != kAllOpen && open_volume(octants[cell]) < kLeast;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    if (side[cell / kTileCells] == kOpenTile) return;
    const bool is_solid = solid(cell);
    closed[cell] = is_solid;
    for (int a = 0; a < 3; ++a) {
      float share = found.of[a][cell];
      if (share > 1.0f - kLeast) share = 1.0f;
      const std::uint32_t low = tiles.before(cell, a);
      if (share < kLeast || is_solid || (low != kNoCell && solid(low))) share = 0.0f;
      open.of[a][cell] = share;
    }
  }
};

// How fast the nearest solid moves across each face that is not all open [m/s].
struct SolidFaceSpeeds {
  TileView tiles;
  SolidsNow solids;
  ConstFaceView open;
  FaceView speed;  // out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    for (int a = 0; a < 3; ++a) {
      float across = 0.0f;
      if (open.of[a][cell] < 1.0f) {
        const Vec3 x = middle_of_face(tiles, cell, a);
        across = solids.velocity(solids.nearest_solid(cell / kTileCells, x), x)[a];
      }
      speed.of[a][cell] = across;
    }
  }
};

}  // namespace barchan::flip
