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

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "compute/lanes.h"
#include "compute/view.h"
#include "math/scalar.h"
#include "solvers/flip/liquid_kernels.h"
#include "solvers/flip/material_kernels.h"
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
inline constexpr std::uint8_t kTouches = 128;  // the cell: some sand, and a solid are in it
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
  View<const float> depth;   // [cells]
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
    if (wet(cell)) found |= role::kStressed;
    if (touches && (wet(cell) || depth[cell] > -0.5f)) found |= role::kTouches;
    roles[cell] = found;
  }
};

struct HasRole {
  View<const std::uint8_t> roles;
  HD bool operator()(std::uint32_t cell) const { return roles[cell] != 0; }
};

// How full a cell is, as far as it is open: all of it half a cell below the surface. With full
// cells at the surface, sand there would have more weight than the pressure below it says, and the
// skin of each heap would slide off. A cell beside air counts the sand above it, too, in a cell
// that is less than half full and takes no part.
struct FindFullness {
  TileView tiles;
  View<const std::uint8_t> roles;
  View<const float> depth;  // [cells]
  View<const bool> closed;  // empty: no solids
  View<float> fullness;     // out
  View<bool> skin;          // out: beside air

  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const float full = clamp(depth[cell] + 0.5f, 0.0f, 1.5f);
    skin[cell] = beside_air(cell);
    fullness[cell] = full <= 1.0f || skin[cell] ? full : 1.0f;
  }
  HD bool airy(std::uint32_t cell) const {
    return cell == kNoCell || !(roles[cell] & role::kStressed || (closed.size > 0 && closed[cell]));
  }
  HD bool beside_air(std::uint32_t cell) const {
    for (int a = 0; a < 3; ++a) {
      if (airy(tiles.before(cell, a)) || airy(tiles.behind(cell, a))) return true;
    }
    return false;
  }
};

// What friction can do where: 1 over the mass of each low face, as a share of a whole one's, 0
// where no sand flows; and w, how far a step of the iteration goes, for a cell's normal stresses
// and for those on its low edges, 0 where there are none. The largest eigenvalue of s -> D'(div s)
// is 8 where all faces have their whole mass. At walls half of the step is left to their friction,
// whose eigenvalue is 1.
struct PaceView {
  FaceView give;
  View<float> normal;
  View<float> shear[3];
};
struct ConstPaceView {
  ConstFaceView give;
  View<const float> normal;
  View<const float> shear[3];
};
struct FindPace {
  static constexpr float kPace = 1.0f / 8.0f, kWallPace = 0.5f;
  static constexpr float kLeastMass = 0.25f;  // less would only make the equations stiff
  TileView tiles;
  View<const std::uint8_t> roles;
  View<const float> fullness;
  View<const bool> closed;  // empty: no solids
  ConstFaceView open;
  StuffView stuff;
  PaceView pace;  // out

  HD float mass(int a, std::uint32_t cell) const {
    if (cell == kNoCell) return 1.0f;
    const std::uint32_t low = tiles.before(cell, a);
    float here = fullness[cell], there = low == kNoCell ? 0.0f : fullness[low];
    if (closed.size > 0) {
      if (closed[cell]) here = there;
      if (low != kNoCell && closed[low]) there = here;
    }
    const float share = open.of[a].size == 0 ? 1.0f : open.of[a][cell];
    return max(0.5f * (here + there) * share, kLeastMass) / stuff.lightness_between(cell, low);
  }
  HD bool touches(std::uint32_t cell) const {
    return cell != kNoCell && (roles[cell] & role::kTouches) != 0;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint8_t here = roles[cell];
    float least = 1.0f;
    for (int a = 0; a < 3; ++a) {
      least = min(least, min(mass(a, cell), mass(a, tiles.behind(cell, a))));
      pace.give.of[a][cell] = here & role::moves(a) ? 1.0f / mass(a, cell) : 0.0f;
    }
    const float w = kPace * least * (touches(cell) ? 1.0f - kWallPace : 1.0f);
    pace.normal[cell] = here & role::kStressed ? w : 0.0f;
    for (int a = 0; a < 3; ++a) {
      pace.shear[a][cell] = here & role::shears(a) ? edge(a, cell) : 0.0f;
    }
  }
  HD float edge(int a, std::uint32_t cell) const {
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    const float least = min(min(mass(b, cell), mass(c, cell)),
                            min(mass(b, tiles.before(cell, c)), mass(c, tiles.before(cell, b))));
    bool walled = false;
    for (const std::uint32_t at : cells_around(tiles, a, cell).at) walled = walled || touches(at);
    return kPace * least * (walled ? 1.0f - kWallPace : 1.0f);
  }
};

// A step from here to the next cell along axis a: on.
template <int A, int S, class At>
HD_INLINE HD inline typename At::Number beside(const At& at, View<const float> f) {
  return at.template near < A == 0 ? S : 0, A == 1 ? S : 0, A == 2 ? S : 0 > (f);
}

// u = u0 + div s.
struct Shove {
  ConstFaceView give;
  ConstStressView s;
  ConstFaceView u0;
  FaceView u;  // out

  template <int A, class At>
  HD_INLINE HD void along(const At& at) const {
    constexpr int B = (A + 1) % 3, C = (A + 2) % 3;
    auto push = at.here(s.normal[A]) - beside<A, -1>(at, s.normal[A]);
    push += beside<B, 1>(at, s.shear[C]) - at.here(s.shear[C]);
    push += beside<C, 1>(at, s.shear[B]) - at.here(s.shear[B]);
    at.put(u.of[A], at.here(u0.of[A]) + at.here(give.of[A]) * push);
  }
  template <class At>
  HD_INLINE HD void operator()(const At& at) const {
    along<0>(at);
    along<1>(at);
    along<2>(at);
  }
};

// s_bc in a cell: the mean of its four edges along a.
HD inline float shear_in(const TileView& tiles, const ConstStressView& s, int a,
                         std::uint32_t cell) {
  float sum = 0.0f;
  for (const std::uint32_t at : edges_of(tiles, a, cell).at) {
    if (at != kNoCell) sum += s.shear[a][at];
  }
  return 0.25f * sum;
}

// How much more sand bears at its surface and at rest than its pressure says (README.md).
struct Rest {
  static constexpr float kFlows = 0.01f;         // haste from which on friction is that of flow
  static constexpr float kLoose = 1.0f / 30.0f;  // and the surface has no pad any more
  float most = 0.0f;               // the pad: pressure that is always there at the surface [m/s]
  float per_speed_squared = 0.0f;  // 1 / (g dx) [s^2/m^2]

  HD float haste(float speed_squared) const { return per_speed_squared * speed_squared; }
  HD float pad(bool skin, float haste) const {
    return skin ? most * (1.0f - min(1.0f, haste / kLoose)) : 0.0f;
  }
};

// How fast each cell shears: (2 D:D) dx/g of the velocities that the step began with, so that 1 is
// the rate at which a cell falls past the next while it falls by its own size.
struct FindHaste {
  TileView tiles;
  ConstFaceView u;
  Rest rest;
  View<float> haste;  // out

  HD float at(int a, std::uint32_t cell) const { return cell == kNoCell ? 0.0f : u.of[a][cell]; }
  HD float edge(int a, std::uint32_t cell) const {
    if (cell == kNoCell) return 0.0f;
    const int b = (a + 1) % 3, c = (a + 2) % 3;
    return at(b, cell) - at(b, tiles.before(cell, c)) + at(c, cell) - at(c, tiles.before(cell, b));
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    float sum = 0.0f;
    for (int a = 0; a < 3; ++a) {
      const float stretch = at(a, tiles.behind(cell, a)) - at(a, cell);
      float shear = 0.0f;
      for (const std::uint32_t from : edges_of(tiles, a, cell).at) {
        shear += 0.25f * std::fabs(edge(a, from));
      }
      sum += 2.0f * stretch * stretch + shear * shear;
    }
    haste[cell] = rest.haste(sum);
  }
};

// The radius of the yield surface: sqrt(2) times the shear stress that sand bears. README.md says
// why sand at rest bears less than sand that flows, and its surface a little more.
struct YieldRadius {
  static constexpr float kCos = 0.99756405f, kSin = 0.069756474f;  // of 4 degrees
  float friction;    // of the one material; see also stuff
  float cohesion;    // [Pa]
  float per_pascal;  // dt / (rho dx) [m/s / Pa]
  Rest rest;
  StuffView stuff;
  View<const bool> skin{};    // empty: all is
  View<const float> haste{};  // empty: all rests
  bool eases = false;         // friction is tan(phi), at rest at most sin(phi + 4 degrees)
  float share = 1.0f;         // of the surface

  HD float operator()(std::uint32_t cell, float q) const {
    const bool one = stuff.friction.size == 0;
    const float c = one ? cohesion : stuff.cohesion[cell];
    float mu = one ? friction : stuff.friction[cell];
    const float now = haste.size > 0 ? haste[cell] : 0.0f;
    const float more = rest.pad(skin.size == 0 || skin[cell], now);
    if (eases) {
      const float resting = min(mu, (mu * kCos + kSin) / std::sqrt(1.0f + mu * mu));
      mu = resting + min(1.0f, now / Rest::kFlows) * (mu - resting);
    }
    return share * 1.41421356f * (mu * (max(q, 0.0f) + more) + c * per_pascal);
  }
};
struct FindRadii {
  View<const std::uint8_t> kind;
  View<const float> q;
  YieldRadius yield;
  View<float> radius;  // out [m/s]
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    radius[cell] = kind[cell] == kAir ? 0.0f : yield(cell, kind[cell] == kLiquid ? q[cell] : 0.0f);
  }
};

// ---- One step of the iteration, from y: u(y) by Shove, then x = y + w D'(u(y)) ...
struct TryStress {
  ConstPaceView pace;
  ConstFaceView u;
  ConstStressView y;
  StressView x;  // out

  template <int A, class At>
  HD_INLINE HD void edge(const At& at) const {
    constexpr int B = (A + 1) % 3, C = (A + 2) % 3;
    const auto across_c = at.here(u.of[B]) - beside<C, -1>(at, u.of[B]);
    const auto across_b = at.here(u.of[C]) - beside<B, -1>(at, u.of[C]);
    at.put(x.shear[A], at.here(y.shear[A]) + 0.5f * at.here(pace.shear[A]) * (across_b + across_c));
  }
  template <class At>
  HD_INLINE HD void operator()(const At& at) const {
    using T = typename At::Number;
    const T d0 = beside<0, 1>(at, u.of[0]) - at.here(u.of[0]);
    const T d1 = beside<1, 1>(at, u.of[1]) - at.here(u.of[1]);
    const T d2 = beside<2, 1>(at, u.of[2]) - at.here(u.of[2]);
    const T w = at.here(pace.normal), mean = (d0 + d1 + d2) * (1.0f / 3.0f);
    at.put(x.normal[0], at.here(y.normal[0]) + w * (d0 - mean));
    at.put(x.normal[1], at.here(y.normal[1]) + w * (d1 - mean));
    at.put(x.normal[2], at.here(y.normal[2]) + w * (d2 - mean));
    edge<0>(at);
    edge<1>(at);
    edge<2>(at);
  }
};

// ... and s = P(x), onto the yield surface where x is beyond it. Differences of normal stresses
// count k times what shear does (Strength, friction.h). |s|^2 in a cell takes the mean size of what
// is on its edges (the mean of the squares would be too much wherever stress grows with depth, most
// of all at the surface), and on an edge it takes the rest from the cells around.
struct MeasureCells {
  static constexpr float kTiny = 1e-30f;
  ConstStressView s;
  View<const float> radius;
  View<float> scale;    // out: what brings a cell's stress back to the yield surface
  View<float> rest[3];  // out: |s|^2 without what is on the edges along a

  // Of both s_bc and s_cb.
  template <int A, class At>
  HD_INLINE HD typename At::Number squares(const At& at) const {
    constexpr int BX = A == 2 ? 1 : 0, BY = A == 0 ? 1 : 0, BZ = A == 1 ? 1 : 0;
    constexpr int CX = A == 1 ? 1 : 0, CY = A == 2 ? 1 : 0, CZ = A == 0 ? 1 : 0;
    const auto sum = At::absolute(at.here(s.shear[A])) +
                     At::absolute(at.template near<BX, BY, BZ>(s.shear[A])) +
                     At::absolute(at.template near<CX, CY, CZ>(s.shear[A])) +
                     At::absolute(at.template near<BX + CX, BY + CY, BZ + CZ>(s.shear[A]));
    return 0.125f * sum * sum;
  }
  template <class At>
  HD_INLINE HD void operator()(const At& at) const {
    using T = typename At::Number;
    const T n0 = at.here(s.normal[0]), n1 = at.here(s.normal[1]), n2 = at.here(s.normal[2]);
    const T e0 = squares<0>(at), e1 = squares<1>(at), e2 = squares<2>(at);
    const T all = n0 * n0 + n1 * n1 + n2 * n2 + e0 + e1 + e2;
    const T r = at.here(radius);
    at.put(scale, At::choose(all > r * r, r * At::inverse_sqrt(all + kTiny), 0.0f * r + 1.0f));
    at.put(rest[0], all - e0);
    at.put(rest[1], all - e1);
    at.put(rest[2], all - e2);
  }
};

struct Yield {
  static constexpr int kSums = 3;  // how the iteration gets on: Progress
  ConstPaceView pace;
  View<const float> radius, scale;
  View<const float> rest[3];
  ConstStressView x;
  StressView s, y;  // in and out
  float momentum;

  template <class At>
  HD_INLINE HD void set(const At& at, const typename At::Number& value, const View<float>& of_s,
                        const View<float>& of_y, typename At::Number* sums) const {
    const auto change = value - at.here(of_s);
    sums[0] += change * change;
    sums[1] += (at.here(of_y) - value) * change;
    at.put(of_s, value);
    at.put(of_y, value + momentum * change);
  }
  // The mean of what the sand's cells around an edge have.
  template <int A, class At>
  HD_INLINE HD void edge(const At& at, typename At::Number* sums) const {
    using T = typename At::Number;
    constexpr int BX = A == 2 ? -1 : 0, BY = A == 0 ? -1 : 0, BZ = A == 1 ? -1 : 0;
    constexpr int CX = A == 1 ? -1 : 0, CY = A == 2 ? -1 : 0, CZ = A == 0 ? -1 : 0;
    T squares{}, r{}, count{};
    const auto add = [&](const T& there, const T& rest_there, const T& r_there) {
      count += At::choose(there > 0.0f, 0.0f * there + 1.0f, 0.0f * there);
      squares += At::choose(there > 0.0f, rest_there, 0.0f * there);
      r += r_there;
    };
    add(at.here(pace.normal), at.here(rest[A]), at.here(radius));
    add(at.template near<BX, BY, BZ>(pace.normal), at.template near<BX, BY, BZ>(rest[A]),
        at.template near<BX, BY, BZ>(radius));
    add(at.template near<CX, CY, CZ>(pace.normal), at.template near<CX, CY, CZ>(rest[A]),
        at.template near<CX, CY, CZ>(radius));
    add(at.template near<BX + CX, BY + CY, BZ + CZ>(pace.normal),
        at.template near<BX + CX, BY + CY, BZ + CZ>(rest[A]),
        at.template near<BX + CX, BY + CY, BZ + CZ>(radius));
    const T value = at.here(x.shear[A]);
    // |s|^2 > r^2, with the means written as sums over count.
    const T all = 2.0f * value * value * count + squares, most = r * r;
    const T scaled = value * r * At::inverse_sqrt(all * count + MeasureCells::kTiny);
    set(at, At::choose(all * count > most, scaled, value), s.shear[A], y.shear[A], sums);
  }
  template <class At>
  HD_INLINE HD void operator()(const At& at, typename At::Number* sums) const {
    using T = typename At::Number;
    const T back = at.here(scale), there = at.here(pace.normal);
    set(at, back * at.here(x.normal[0]), s.normal[0], y.normal[0], sums);
    set(at, back * at.here(x.normal[1]), s.normal[1], y.normal[1], sums);
    set(at, back * at.here(x.normal[2]), s.normal[2], y.normal[2], sums);
    edge<0>(at, sums);
    edge<1>(at, sums);
    edge<2>(at, sums);
    sums[2] += At::choose(there > 0.0f, 0.0f * there + 1.0f, 0.0f * there);
  }
};
struct Progress {
  double change = 0.0;   // sum of (s - before)^2
  double against = 0.0;  // sum of (y - s)(s - before): positive where momentum leads astray
  double cells = 0.0;
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

// The pressure begins with what it was. All cells seek theirs again: those without are then dropped
// at once, wherever they are, while sand that lands would take them up layer by layer only.
struct RecallPressure {
  KeptView kept;
  View<const std::uint32_t> was;
  View<const std::uint8_t> kind;
  float scale;
  View<float> q;  // out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint32_t tile = was[cell / kTileCells];
    if (kind[cell] != kLiquid || tile == kNoCell) return;
    q[cell] = scale * kept.pressure[std::size_t{tile} * kTileCells + cell % kTileCells];
  }
};

// The pressure that friction goes by: half of what it was, half of what it is. Where walls carry
// most of the weight, friction that followed each new pressure at once would take the weight off
// the sand in one turn and leave it to the pressure in the next, for ever.
struct BlendPressure {
  View<const std::uint8_t> kind;
  View<const float> q;
  View<float> blend;  // in and out
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item);
    const float now = kind[cell] == kLiquid ? q[cell] : 0.0f;
    blend[cell] = 0.5f * (blend[cell] + now);
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
