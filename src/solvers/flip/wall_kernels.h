// Friction of sand at walls: in each cell that a solid cuts, a traction t along the wall, kept as
// t dt / (rho dx) [m/s], with
//     |t| <= min(mu, tan phi) (p - n.s.n)
// where p - n.s.n is what presses on the wall, that of the sand between it and the cell's middle
// included. It works on the mean velocity of the cell's faces, and is found in the same iteration
// as the stresses within the sand.
//
// The wall's area and normal n, out of the solid, are what is missing of the cell's open faces, as
// for the pressure, so that forces on cell and wall are equal. Faces that are all closed have the
// velocity of sand that slides along the wall.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "math/vec3.h"
#include "solvers/flip/contact_kernels.h"
#include "solvers/flip/stress_kernels.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

struct WallCell {
  std::uint32_t cell;
  std::int32_t solid;
  Vec3 normal;     // 0 where walls face each other
  float area;      // [faces]
  float friction;  // mu
  float weight;    // of a cell full of sand, as it presses on the wall [m/s]
  float depth;     // from the middle to the wall [cells]
  Vec3 velocity;   // of the solid [m/s]
  bool aligned;    // its walls lie in faces of the grid
  bool free[3];    // along this axis sand can slide
};

struct ListWalls {
  TileView tiles;
  View<const std::uint8_t> roles;
  ConstFaceView open;
  View<const Octants> octants;
  View<const float> wall;  // from middles to the nearest solid [cells]
  SolidsNow solids;
  Vec3 gravity;                      // dt g [m/s]
  View<const std::uint32_t> before;  // how many wall cells come before each cell
  View<WallCell> out;

  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    if (!(roles[cell] & role::kTouches)) return;
    WallCell one{};
    one.cell = cell;
    one.aligned = open_volume(octants[cell]) > 0.99f;
    Vec3 missing;
    float closed = 0.0f;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t behind = tiles.behind(cell, a);
      const float lo = open.of[a][cell], hi = behind == kNoCell ? 1.0f : open.of[a][behind];
      missing[a] = hi - lo;
      closed += 2.0f - hi - lo;
      one.free[a] = one.aligned ? lo > 0.0f && hi > 0.0f : lo > 0.0f || hi > 0.0f;
    }
    const float area = length(missing);
    if (area > 1e-3f) one.normal = (1.0f / area) * missing;
    one.area = one.aligned ? closed : area;
    const Vec3 middle = tiles.corner_of(cell) + 0.5f * tiles.frame.size * Vec3(1.0f, 1.0f, 1.0f);
    one.solid = solids.nearest(cell / kTileCells, middle).solid;
    one.friction = solids.solids.data[one.solid].friction;
    one.velocity = solids.velocity(one.solid, middle);
    one.weight = -dot(gravity, one.normal);
    one.depth = clamp(wall[cell], 0.0f, 0.5f);
    out[before[cell]] = one;
  }
};

struct CountWalls {
  View<const std::uint8_t> roles;
  View<std::uint32_t> count;  // out, of each cell
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item);
    count[cell] = roles[cell] & role::kTouches ? 1 : 0;
  }
};

// Velocities of a wall cell: the mean of its faces, and that of a closed face.
struct WallFlow {
  TileView tiles;
  ConstFaceView open;
  ConstFaceView u;
  HD Vec3 mean(const WallCell& wall) const {
    Vec3 v;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t high = tiles.behind(wall.cell, a);
      const float lo = open.of[a][wall.cell], hi = high == kNoCell ? 0.0f : open.of[a][high];
      float sum = 0.0f;
      if (lo > 0.0f) sum += lo * u.of[a][wall.cell];
      if (hi > 0.0f) sum += hi * u.of[a][high];
      v[a] = lo + hi > 0.0f ? sum / (lo + hi) : wall.velocity[a];
    }
    return v;
  }
  HD static Vec3 along(const WallCell& wall, const Vec3& v) {
    Vec3 t = v;
    if (wall.aligned) {
      for (int a = 0; a < 3; ++a) t[a] = wall.free[a] ? v[a] : 0.0f;
    } else {
      t -= dot(v, wall.normal) * wall.normal;
    }
    return t;
  }
  HD static Vec3 closed(const WallCell& wall, const Vec3& mean) {
    return wall.velocity + along(wall, mean - wall.velocity);
  }
};

// What the stresses of a wall cell push its closed faces with.
HD inline Vec3 push_on_closed(const TileView& tiles, const ConstFaceView& open,
                              const ConstStressView& s, std::uint32_t cell) {
  Vec3 push;
  for (int a = 0; a < 3; ++a) {
    const std::uint32_t high = tiles.behind(cell, a);
    if (!(open.of[a][cell] > 0.0f)) push[a] += s.normal[a][cell];
    if (high == kNoCell || !(open.of[a][high] > 0.0f)) push[a] -= s.normal[a][cell];
  }
  return push;
}

// What walls push each of their cells with: t, and what the stresses do to closed faces as far as
// it is along the wall, because sand that slides there moves with the cell.
struct PushFromWalls {
  TileView tiles;
  ConstFaceView open;
  View<const WallCell> walls;
  ConstStressView s;
  View3<const float> t;
  FaceView push;  // out
  HD void operator()(int item) const {
    const WallCell& wall = walls[static_cast<std::size_t>(item)];
    const Vec3 more = WallFlow::along(wall, push_on_closed(tiles, open, s, wall.cell));
    const Vec3 all = wall.area * t[static_cast<std::size_t>(item)] + more;
    for (int a = 0; a < 3; ++a) push.of[a][wall.cell] = all[a];
  }
};

// The velocity of closed faces, once u is known.
struct FlowBeyond {
  WallFlow flow;
  View<const WallCell> walls;
  FaceView beyond;  // out
  HD void operator()(int item) const {
    const WallCell& wall = walls[static_cast<std::size_t>(item)];
    const Vec3 v = WallFlow::closed(wall, flow.mean(wall));
    for (int a = 0; a < 3; ++a) beyond.of[a][wall.cell] = v[a];
  }
};

// t <- P(t - w (slip along the wall)).
struct YieldAtWalls {
  WallFlow flow;
  View<const WallCell> walls;
  View<const std::uint8_t> kind;
  View<const float> q;
  CellNorm stress;
  float inner_friction;  // tan(phi)
  View3<float> t, y;     // in and out
  float momentum;

  HD float pressed(const WallCell& wall) const {
    const std::uint32_t cell = wall.cell;
    float p = kind[cell] == kLiquid ? q[cell] + wall.depth * wall.weight : wall.weight;
    for (int a = 0; a < 3; ++a) {
      p -= wall.normal[a] * wall.normal[a] * stress.s.normal[a][cell];
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      if (wall.normal[b] * wall.normal[c] == 0.0f) continue;
      p -= 2.0f * wall.normal[b] * wall.normal[c] * stress.mean(a, cell);
    }
    return max(p, 0.0f);
  }
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const WallCell& wall = walls[i];
    const Vec3 slip = WallFlow::along(wall, flow.mean(wall) - wall.velocity);
    Vec3 next = static_cast<Vec3>(y[i]) - FindPace::kWallPace * slip;
    const float most = min(wall.friction, inner_friction) * pressed(wall);
    const float size = length(next);
    if (size > most) next = (most / size) * next;
    const Vec3 change = next - static_cast<Vec3>(t[i]);
    t[i] = next;
    y[i] = next + momentum * change;
  }
};

struct CopyTraction {
  View3<const float> from;
  View3<float> to;  // out
  HD void operator()(int item) const {
    to[static_cast<std::size_t>(item)] = from[static_cast<std::size_t>(item)];
  }
};

struct RecallWalls {
  KeptView kept;
  View<const std::uint32_t> was;
  View<const WallCell> walls;
  float scale;
  View3<float> t, y;  // out
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const std::uint32_t cell = walls[i].cell, tile = was[cell / kTileCells];
    Vec3 before;
    if (tile != kNoCell) {
      const std::size_t from = std::size_t{tile} * kTileCells + cell % kTileCells;
      before = scale * Vec3(kept.traction[0][from], kept.traction[1][from], kept.traction[2][from]);
    }
    t[i] = before;
    y[i] = before;
  }
};
struct KeepWalls {
  View<const WallCell> walls;
  View3<const float> t;
  float scale;
  View<float> traction[3];  // out, of cells at walls
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const Vec3 now = scale * t[i];
    for (int a = 0; a < 3; ++a) traction[a][walls[i].cell] = now[a];
  }
};

// And what each solid gets: the impulse over a full cell's mass, with its turn about the solid's
// own origin.
struct PushOnSolid {
  TileView tiles;
  ConstFaceView open;
  View<const WallCell> walls;
  View<const SolidMotion> motion;
  ConstStressView s;
  View3<const float> t;
  std::int32_t solid;
  HD SixSums operator()(int item) const {
    const WallCell& wall = walls[static_cast<std::size_t>(item)];
    SixSums sum;
    if (wall.solid != solid) return sum;
    const Vec3 on_closed = push_on_closed(tiles, open, s, wall.cell);
    const Vec3 push = on_closed - WallFlow::along(wall, on_closed) -
                      wall.area * t[static_cast<std::size_t>(item)];
    const Vec3 middle =
        tiles.corner_of(wall.cell) + 0.5f * tiles.frame.size * Vec3(1.0f, 1.0f, 1.0f);
    const Vec3 turn = cross(middle - motion[static_cast<std::size_t>(solid)].position, push);
    for (int k = 0; k < 3; ++k) {
      sum.of[k] = static_cast<double>(push[k]);
      sum.of[3 + k] = static_cast<double>(turn[k]);
    }
    return sum;
  }
};

}  // namespace barchan::flip
