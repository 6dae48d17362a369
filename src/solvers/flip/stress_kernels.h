// Friction within sand (Zhu & Bridson 2005, section 3): a deviatoric stress s, tension positive,
// that works against the strain rate D, as far as the yield surface allows,
//     u += dt/rho div s,      |s| <= radius,      s : D >= 0
//
// The papers find s cell by cell, in one go; here it is the solution of the whole, by projected
// gradients (README.md): with u(s) = u + dt/rho div s,
//     s <- P(s + w rho dx^2/dt D'(u(s)))
// All stresses are kept as s dt / (rho dx) [m/s], like the pressure q, so that dt, rho and dx drop
// out:  u += differences of s,  s <- P(s + w (differences of u)').
//
// Stencils are compact: s_xx, s_yy, s_zz at the middles of cells, s_yz, s_zx, s_xy in the middles
// of edges, so that no checkerboard goes unseen. A cell has the edges along x, y and z through its
// low corner.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/lanes.h"
#include "compute/view.h"
#include "math/scalar.h"
#include "solvers/flip/liquid_kernels.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

struct StressView {
  View<float> normal[3];  // s_aa in the middle
  View<float> shear[3];   // on the edge along a: s_bc, b and c the other two axes
};
struct ConstStressView {
  View<const float> normal[3];
  View<const float> shear[3];
};

// Four cells around one edge of a cell: the corners of a square across axis a.
struct Four {
  std::uint32_t at[4];  // kNoCell: there is none
};
// Those whose low edges along a are the edges of this cell.
HD inline Four edges_of(const TileView& tiles, int a, std::uint32_t cell) {
  const int b = (a + 1) % 3, c = (a + 2) % 3;
  const std::uint32_t at_b = tiles.behind(cell, b);
  return {{cell, at_b, tiles.behind(cell, c), at_b == kNoCell ? kNoCell : tiles.behind(at_b, c)}};
}
// Those around its low edge along a.
HD inline Four cells_around(const TileView& tiles, int a, std::uint32_t cell) {
  const int b = (a + 1) % 3, c = (a + 2) % 3;
  const std::uint32_t at_b = tiles.before(cell, b);
  return {{cell, at_b, tiles.before(cell, c), at_b == kNoCell ? kNoCell : tiles.before(at_b, c)}};
}

// What a cell, its low faces and its low edges take part in.
namespace role {
inline constexpr std::uint8_t kStressed = 64;  // the cell: it holds sand
inline constexpr std::uint8_t kTouches = 128;  // the cell: it holds sand, and a solid is in it
HD inline std::uint8_t moves(int face) {       // the face: sand flows through it
  return static_cast<std::uint8_t>(1u << face);
}
HD inline std::uint8_t shears(int edge) {  // the edge: sand all around it
  return static_cast<std::uint8_t>(8u << edge);
}
}  // namespace role

struct FindRoles {
  TileView tiles;
  View<const std::uint8_t> kind;
  ConstFaceView open;        // empty views: no solids
  View<std::uint8_t> roles;  // out

  HD bool wet(std::uint32_t cell) const { return cell != kNoCell && kind[cell] != kAir; }
  HD bool moves(int a, std::uint32_t cell) const {
    if (cell == kNoCell || !(wet(cell) || wet(tiles.before(cell, a)))) return false;
    return open.of[a].size == 0 || open.of[a][cell] > 0.0f;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    std::uint8_t found = 0;
    bool touches = false;
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      if (moves(a, cell)) found |= role::moves(a);
      if (moves(b, cell) && moves(c, cell) && moves(b, tiles.before(cell, c)) &&
          moves(c, tiles.before(cell, b))) {
        found |= role::shears(a);
      }
      if (open.of[a].size == 0) continue;
      const std::uint32_t high = tiles.behind(cell, a);
      if (open.of[a][cell] < 1.0f || (high != kNoCell && open.of[a][high] < 1.0f)) touches = true;
    }
    if (wet(cell)) found |= role::kStressed | (touches ? role::kTouches : 0);
    roles[cell] = found;
  }
};

// The mass that a face stands for, as a share of a whole one's.
HD inline float face_mass(const ConstFaceView& open, int a, std::uint32_t cell) {
  constexpr float kLeast = 0.25f;  // less would only make the equations stiff
  return open.of[a].size == 0 ? 1.0f : max(open.of[a][cell], kLeast);
}

// w of each cell's stresses: how far a step of the iteration goes. The largest eigenvalue of
// s -> D'(div s) is 8 where all faces have their whole mass. At walls half of the step is left to
// their friction, whose eigenvalue is 1.
struct FindPace {
  static constexpr float kPace = 1.0f / 8.0f, kWallPace = 0.5f;
  TileView tiles;
  View<const std::uint8_t> roles;
  ConstFaceView open;
  View<float> pace;  // out
  HD float mass(int a, std::uint32_t cell) const {
    return cell == kNoCell ? 1.0f : face_mass(open, a, cell);
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    if (roles[cell] == 0) return;
    float least = 1.0f;
    bool walled = false;
    for (int a = 0; a < 3 && open.of[a].size > 0; ++a) {
      const std::uint32_t low = tiles.before(cell, a);
      least = min(least, min(mass(a, cell), mass(a, tiles.behind(cell, a))));
      for (int b = 0; b < 3 && low != kNoCell; ++b) {
        if (b != a) least = min(least, mass(b, low));
      }
    }
    for (int k = 0; k < 8 && open.of[0].size > 0; ++k) {
      const std::uint32_t at = tiles.beside(cell, -(k & 1), -(k >> 1 & 1), -(k >> 2));
      if (at != kNoCell && roles[at] & role::kTouches) walled = true;
    }
    pace[cell] = (walled ? 1.0f - kWallPace : 1.0f) * kPace * least;
  }
};

// u = u0 + div s.
struct Shove {
  TileView tiles;
  View<const std::uint8_t> roles;
  ConstFaceView open;
  ConstStressView s;
  ConstFaceView from_walls;  // what walls push each cell with (wall_kernels.h); empty: none does
  ConstFaceView u0;
  FaceView u;  // out

  HD static float at(const View<const float>& field, std::uint32_t cell) {
    return cell == kNoCell ? 0.0f : field[cell];
  }
  // The share of what a wall does to a cell along axis a that goes to this of the cell's two faces.
  HD float share(int a, std::uint32_t face, std::uint32_t other) const {
    const float here = open.of[a][face], there = other == kNoCell ? 0.0f : open.of[a][other];
    return here / (here + there);
  }
  // A face with sand on one side only stands for half of a face's mass.
  HD float walls(int a, std::uint32_t cell, std::uint32_t low) const {
    const std::uint8_t here = roles[cell], there = low == kNoCell ? 0 : roles[low];
    float push = 0.0f;
    if (here & role::kTouches) {
      push += share(a, cell, tiles.behind(cell, a)) * from_walls.of[a][cell];
    }
    if (there & role::kTouches) push += share(a, cell, low) * from_walls.of[a][low];
    return (here & there & role::kStressed) != 0 ? push : 2.0f * push;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint8_t here = roles[cell];
    for (int a = 0; a < 3; ++a) {
      if (!(here & role::moves(a))) continue;
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      const std::uint32_t low = tiles.before(cell, a);
      float push = s.normal[a][cell] - at(s.normal[a], low);
      push += at(s.shear[c], tiles.behind(cell, b)) - s.shear[c][cell];
      push += at(s.shear[b], tiles.behind(cell, c)) - s.shear[b][cell];
      if (from_walls.of[a].size > 0) push = (push + walls(a, cell, low)) / face_mass(open, a, cell);
      u.of[a][cell] = u0.of[a][cell] + push;
    }
  }
};

// The radius of the yield surface. In the "slope" form, sqrt(2) (tan(phi) p + c), a slope of sand
// at phi is exactly in balance.
struct YieldRadius {
  float per_pressure;  // of q
  float always;        // [m/s]
  HD float operator()(float q) const { return per_pressure * max(q, 0.0f) + always; }
};
struct FindRadii {
  View<const std::uint8_t> kind;
  View<const float> q;
  YieldRadius yield;
  View<float> radius;  // out [m/s]
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item);
    radius[cell] = kind[cell] == kAir ? 0.0f : yield(kind[cell] == kLiquid ? q[cell] : 0.0f);
  }
};

// ---- One step of the iteration, from y: u(y) by Shove, then x = y + w D'(u(y)) ...
struct TryStress {
  TileView tiles;
  View<const std::uint8_t> roles;
  View<const float> pace;
  ConstFaceView u;
  ConstFaceView beyond;  // of wall cells: the velocity of faces that are closed
  ConstFaceView open;
  ConstStressView y;
  StressView x;  // out

  HD float low(int a, std::uint32_t cell, bool touches) const {
    if (touches && !(open.of[a][cell] > 0.0f)) return beyond.of[a][cell];
    return u.of[a][cell];
  }
  HD float high(int a, std::uint32_t cell, bool touches) const {
    const std::uint32_t at = tiles.behind(cell, a);
    if (touches && (at == kNoCell || !(open.of[a][at] > 0.0f))) return beyond.of[a][cell];
    return at == kNoCell ? 0.0f : u.of[a][at];
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint8_t here = roles[cell];
    if ((here & ~7u) == 0) return;
    const float w = pace[cell];
    if (here & role::kStressed) {
      const bool touches = (here & role::kTouches) != 0;
      float d[3];
      for (int a = 0; a < 3; ++a) d[a] = high(a, cell, touches) - low(a, cell, touches);
      const float mean = (d[0] + d[1] + d[2]) * (1.0f / 3.0f);
      for (int a = 0; a < 3; ++a) x.normal[a][cell] = y.normal[a][cell] + w * (d[a] - mean);
    }
    for (int a = 0; a < 3; ++a) {
      if (!(here & role::shears(a))) continue;
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      const float across_c = u.of[b][cell] - u.of[b][tiles.before(cell, c)];
      const float across_b = u.of[c][cell] - u.of[c][tiles.before(cell, b)];
      x.shear[a][cell] = y.shear[a][cell] + 0.5f * w * (across_b + across_c);
    }
  }
};

// ... and s = P(x), onto the yield surface where x is beyond it. |s|^2 in a cell takes the mean of
// the squares on its edges, and on an edge those of its cells.
struct CellNorm {
  TileView tiles;
  ConstStressView s;
  HD float squares(int a, std::uint32_t cell) const {
    float sum = 0.0f;
    for (const std::uint32_t at : edges_of(tiles, a, cell).at) {
      if (at != kNoCell) sum += s.shear[a][at] * s.shear[a][at];
    }
    return 0.5f * sum;  // of both s_bc and s_cb
  }
  HD float mean(int a, std::uint32_t cell) const {
    float sum = 0.0f;
    for (const std::uint32_t at : edges_of(tiles, a, cell).at) {
      if (at != kNoCell) sum += s.shear[a][at];
    }
    return 0.25f * sum;
  }
  HD float of(std::uint32_t cell, float (&rest)[3]) const {
    float all = 0.0f, edge[3];
    for (int a = 0; a < 3; ++a) {
      edge[a] = squares(a, cell);
      all += s.normal[a][cell] * s.normal[a][cell] + edge[a];
    }
    for (int a = 0; a < 3; ++a) rest[a] = all - edge[a];
    return all;
  }
};

struct MeasureCells {
  CellNorm norm;
  View<const std::uint8_t> roles;
  View<const float> radius;
  View<float> scale;    // out: what brings a cell's stress back to the yield surface
  View<float> rest[3];  // out: |s|^2 without what is on the edges along a
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    if (!(roles[cell] & role::kStressed)) return;
    float without[3];
    const float all = norm.of(cell, without);
    const float r = radius[cell];
    scale[cell] = all > r * r ? r / std::sqrt(all) : 1.0f;
    for (int a = 0; a < 3; ++a) rest[a][cell] = without[a];
  }
};

// How the iteration gets on.
struct Progress {
  double change = 0.0;   // sum of (s - before)^2
  double against = 0.0;  // sum of (y - s)(s - before): positive where momentum leads astray
  double cells = 0.0;
  HD Progress operator+(const Progress& o) const {
    return {change + o.change, against + o.against, cells + o.cells};
  }
};

struct Yield {
  TileView tiles;
  View<const std::uint8_t> roles;
  View<const float> radius, scale;
  View<const float> rest[3];
  ConstStressView x;
  StressView s, y;  // in and out
  float momentum;

  HD void set(float value, float& s_at, float& y_at, Progress& sum) const {
    const float change = value - s_at;
    sum.change += static_cast<double>(change) * static_cast<double>(change);
    sum.against += static_cast<double>(y_at - value) * static_cast<double>(change);
    s_at = value;
    y_at = value + momentum * change;
  }
  HD float edge_scale(int a, std::uint32_t cell, float value) const {
    float squares = 0.0f, r = 0.0f, count = 0.0f;
    for (const std::uint32_t at : cells_around(tiles, a, cell).at) {
      if (at == kNoCell || !(roles[at] & role::kStressed)) continue;
      squares += rest[a][at];
      r += radius[at];
      count += 1.0f;
    }
    if (!(count > 0.0f)) return 0.0f;
    r /= count;
    const float all = 2.0f * value * value + squares / count;
    return all > r * r ? r / std::sqrt(all) : 1.0f;
  }
  HD Progress operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    Progress sum;
    const std::uint8_t here = roles[cell];
    if ((here & ~7u) == 0) return sum;
    if (here & role::kStressed) {
      sum.cells = 1.0;
      for (int a = 0; a < 3; ++a) {
        set(scale[cell] * x.normal[a][cell], s.normal[a][cell], y.normal[a][cell], sum);
      }
    }
    for (int a = 0; a < 3; ++a) {
      if (!(here & role::shears(a))) continue;
      const float value = x.shear[a][cell];
      set(edge_scale(a, cell, value) * value, s.shear[a][cell], y.shear[a][cell], sum);
    }
    return sum;
  }
};

// In the end no cell's stress may be beyond its yield surface: each edge is scaled as the most
// strained of its cells.
struct Admit {
  TileView tiles;
  View<const std::uint8_t> roles;
  View<const float> scale;
  StressView s;  // in and out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint8_t here = roles[cell];
    if (here & role::kStressed && scale[cell] < 1.0f) {
      for (int a = 0; a < 3; ++a) s.normal[a][cell] *= scale[cell];
    }
    for (int a = 0; a < 3; ++a) {
      if (!(here & role::shears(a))) continue;
      float least = 1.0f;
      for (const std::uint32_t at : cells_around(tiles, a, cell).at) {
        if (at != kNoCell && roles[at] & role::kStressed) least = min(least, scale[at]);
      }
      s.shear[a][cell] *= least;
    }
  }
};

struct CopyStress {
  ConstStressView from;
  StressView to;  // out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    for (int a = 0; a < 3; ++a) {
      to.normal[a][cell] = from.normal[a][cell];
      to.shear[a][cell] = from.shear[a][cell];
    }
  }
};

// ---- From step to step: stresses are kept in pascals by tile.

// A tile's place in the world, in the order of tiles.
HD inline std::uint64_t tile_key(const TileView& tiles, std::uint32_t tile) {
  int at[3];
  tiles.corner(tile, at[0], at[1], at[2]);
  const float tile_size = tiles.frame.size * static_cast<float>(kTileEdge);
  std::uint64_t key = 0;
  for (int a = 2; a >= 0; --a) {
    const auto first =
        static_cast<std::int64_t>(std::floor(tiles.frame.origin[a] / tile_size + 0.5f));
    key = key << 21 | static_cast<std::uint64_t>(first + at[a] / kTileEdge + (1 << 20));
  }
  return key;
}
struct TileKeys {
  TileView tiles;
  View<std::uint64_t> key;  // out
  HD void operator()(int tile) const {
    key[static_cast<std::size_t>(tile)] = tile_key(tiles, static_cast<std::uint32_t>(tile));
  }
};

struct KeptView {
  View<const std::uint64_t> tile;
  View<const float> stress[6];
  View<const float> traction[3];
  View<const float> pressure;
  View<const std::uint8_t> kind;
};

// Which of the kept tiles each tile was.
struct FindKept {
  TileView tiles;
  View<const std::uint64_t> kept;
  View<std::uint32_t> was;  // out; kNoCell: none
  HD void operator()(int tile) const {
    const std::uint64_t key = tile_key(tiles, static_cast<std::uint32_t>(tile));
    std::size_t lo = 0, hi = kept.size;
    while (lo < hi) {
      const std::size_t mid = (lo + hi) / 2;
      if (kept[mid] < key) {
        lo = mid + 1;
      } else {
        hi = mid;
      }
    }
    was[static_cast<std::size_t>(tile)] =
        lo < kept.size && kept[lo] == key ? static_cast<std::uint32_t>(lo) : kNoCell;
  }
};

struct Recall {
  KeptView kept;
  View<const std::uint32_t> was;
  View<const std::uint8_t> roles;
  float scale;         // dt / (rho dx) [m/s / Pa]
  StressView s, y, x;  // out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint32_t tile = was[cell / kTileCells];
    const std::size_t from = std::size_t{tile} * kTileCells + cell % kTileCells;
    for (int a = 0; a < 3; ++a) {
      const bool normal = tile != kNoCell && roles[cell] & role::kStressed;
      const bool shear = tile != kNoCell && roles[cell] & role::shears(a);
      const float sn = normal ? scale * kept.stress[a][from] : 0.0f;
      const float ss = shear ? scale * kept.stress[3 + a][from] : 0.0f;
      s.normal[a][cell] = y.normal[a][cell] = x.normal[a][cell] = sn;
      s.shear[a][cell] = y.shear[a][cell] = x.shear[a][cell] = ss;
    }
  }
};

// The set of cells whose pressure is sought begins with what it was, and so does the pressure.
struct RecallPressure {
  KeptView kept;
  View<const std::uint32_t> was;
  float scale;
  View<std::uint8_t> kind;  // in and out
  View<float> q;            // out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint32_t tile = was[cell / kTileCells];
    if (kind[cell] != kLiquid || tile == kNoCell) return;
    const std::size_t from = std::size_t{tile} * kTileCells + cell % kTileCells;
    if (kept.kind[from] == kDetached) {
      kind[cell] = kDetached;
    } else {
      q[cell] = scale * kept.pressure[from];
    }
  }
};

struct Keep {
  ConstStressView s;
  View<const float> q;
  View<const std::uint8_t> roles, kind;
  float scale;                   // rho dx / dt [Pa / (m/s)]
  View<float> stress[6];         // out
  View<float> traction[3];       // out: 0, until those at walls are put in
  View<float> pressure;          // out
  View<std::uint8_t> kept_kind;  // out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    for (int a = 0; a < 3; ++a) {
      traction[a][cell] = 0.0f;
      stress[a][cell] = roles[cell] & role::kStressed ? scale * s.normal[a][cell] : 0.0f;
      stress[3 + a][cell] = roles[cell] & role::shears(a) ? scale * s.shear[a][cell] : 0.0f;
    }
    pressure[cell] = kind[cell] == kLiquid ? scale * q[cell] : 0.0f;
    kept_kind[cell] = kind[cell];
  }
};

}  // namespace barchan::flip
