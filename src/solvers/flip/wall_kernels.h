// Friction of sand at walls: in each cell that a solid cuts, a force t along the wall, kept as
// t dt / (rho dx^3) [m/s], with A the wall's area [faces] and
//     |t| <= min(mu, tan phi) A (p - n.s.n)
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
  bool aligned;   // its walls lie in faces of the grid; there may be several
  bool free[3];   // along this axis sand can slide
  Vec3 normal;    // of all walls together; 0 where they face each other
  Vec3 velocity;  // of the solid [m/s]
  // mu times area [faces], and how a cell full of sand presses on the wall [m/s]: of walls across
  // each axis where aligned, otherwise the first of the three.
  Vec3 friction, weight;
  float depth;  // from the middle to the wall [cells]
  float pad;    // what presses on the wall besides, over the weight of a cell (Rest::pad)
  float pace;   // w: how far a step of the iteration goes
  int across;   // the axis that the wall with the most friction lies across
};

// How the force of walls on a cell goes to its faces: by their open areas.
struct WallShares {
  TileView tiles;
  ConstFaceView open, give;
  View<const std::uint8_t> roles;

  HD bool touches(std::uint32_t cell) const {
    return cell != kNoCell && (roles[cell] & role::kTouches) != 0;
  }
  HD float of(int a, std::uint32_t face, std::uint32_t other) const {
    const float here = open.of[a][face], there = other == kNoCell ? 0.0f : open.of[a][other];
    return here / (here + there);
  }
  // To a face from the cells before and behind it.
  HD float from_before(int a, std::uint32_t face) const {
    const std::uint32_t low = tiles.before(face, a);
    return touches(low) ? of(a, face, low) : 0.0f;
  }
  HD float from_behind(int a, std::uint32_t face) const {
    return touches(face) ? of(a, face, tiles.behind(face, a)) : 0.0f;
  }

  // By no more than this does a cell's mean velocity change where all forces change by 1.
  HD float response(std::uint32_t cell) const {
    float most = 1.0f;
    for (int a = 0; a < 3; ++a) {
      float sum = 0.0f;
      const std::uint32_t faces[2] = {cell, tiles.behind(cell, a)};
      for (const std::uint32_t face : faces) {
        if (face == kNoCell || !(give.of[a][face] > 0.0f)) continue;
        const float before = from_before(a, face), behind = from_behind(a, face);
        sum += (face == cell ? behind : before) * give.of[a][face] * (before + behind);
      }
      most = max(most, sum);
    }
    return most;
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
      const std::uint32_t there = high == kNoCell ? wall.cell : high;
      const float lo = open.of[a][wall.cell], hi = high == kNoCell ? 0.0f : open.of[a][there];
      const float u_lo = u.of[a][wall.cell], u_hi = u.of[a][there];
      float sum = 0.0f;
      if (lo > 0.0f) sum += lo * u_lo;
      if (hi > 0.0f) sum += hi * u_hi;
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

struct ListWalls {
  TileView tiles;
  View<const std::uint8_t> roles;
  ConstFaceView open;
  View<const Octants> octants;
  View<const float> wall;  // from middles to the nearest solid [cells]
  SolidsNow solids;
  ConstFaceView give;
  View<const std::uint8_t> kind;
  View<const float> fullness;
  View<const bool> skin;
  Rest rest;
  ConstFaceView began;  // velocities that the step began with
  Vec3 gravity;         // dt g [m/s]
  float most_friction;  // tan(phi): sand shears within before it slides on rougher walls
  StuffView stuff;
  View<const std::uint32_t> before;  // how many wall cells come before each cell
  View<WallCell> out;

  HD int solid_at(std::uint32_t cell, const Vec3& x) const {
    return solids.nearest(cell / kTileCells, x).solid;
  }
  HD float friction_of(int solid, std::uint32_t cell) const {
    const float within = stuff.friction.size > 0 ? stuff.friction[cell] : most_friction;
    return min(solids.solids.data[solid].friction, within);
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    if (!(roles[cell] & role::kTouches)) return;
    WallCell one{};
    one.cell = cell;
    one.aligned = open_volume(octants[cell]) > 0.99f;
    Vec3 missing;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t behind = tiles.behind(cell, a);
      const float lo = open.of[a][cell], hi = behind == kNoCell ? 1.0f : open.of[a][behind];
      missing[a] = hi - lo;
      one.free[a] = one.aligned ? lo > 0.0f && hi > 0.0f : lo > 0.0f || hi > 0.0f;
      if (!one.aligned || (lo >= 1.0f && hi >= 1.0f)) continue;
      const Vec3 x = middle_of_face(tiles, cell, a);
      if (lo < 1.0f) one.friction[a] += (1.0f - lo) * friction_of(solid_at(cell, x), cell);
      const Vec3 far = x + tiles.frame.size * unit(a);
      if (hi < 1.0f) one.friction[a] += (1.0f - hi) * friction_of(solid_at(cell, far), cell);
      one.weight[a] = lo < hi ? -gravity[a] : gravity[a];
    }
    const float area = length(missing);
    if (area > 1e-3f) one.normal = (1.0f / area) * missing;
    const Vec3 middle = tiles.corner_of(cell) + 0.5f * tiles.frame.size * Vec3(1.0f, 1.0f, 1.0f);
    one.solid = solid_at(cell, middle);
    one.velocity = solids.velocity(one.solid, middle);
    one.depth = clamp(wall[cell], -0.5f, 0.5f);
    if (!one.aligned) {
      one.friction.x = area * friction_of(one.solid, cell);
      one.weight.x = -dot(gravity, one.normal);
    }
    const Vec3 by =
        one.aligned ? one.friction
                    : Vec3(absolute(one.normal.x), absolute(one.normal.y), absolute(one.normal.z));
    one.across = by.x > by.y ? (by.x > by.z ? 0 : 2) : (by.y > by.z ? 1 : 2);
    const Vec3 slip = WallFlow::along(one, WallFlow{tiles, open, began}.mean(one) - one.velocity);
    const float heavy = length(gravity);
    if (heavy > 0.0f) {
      one.pad = rest.pad(skin[cell], rest.haste(dot(slip, slip))) / heavy;
    }
    if (kind[cell] == kAir) one.weight = fullness[cell] * one.weight;
    one.pace = FindPace::kWallPace / WallShares{tiles, open, give, roles}.response(cell);
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
    const Vec3 all = t[static_cast<std::size_t>(item)] + more;
    for (int a = 0; a < 3; ++a) push.of[a][wall.cell] = all[a];
  }
};

// u += what walls push the cells on both sides of a face with. Each wall cell sees to its low
// faces, and to its high ones where no wall cell follows.
struct ShoveAtWalls {
  WallShares shares;
  View<const WallCell> walls;
  ConstFaceView push;
  FaceView u;  // in and out

  HD void shove(int a, std::uint32_t face) const {
    if (!(shares.give.of[a][face] > 0.0f)) return;
    const std::uint32_t low = shares.tiles.before(face, a);
    float sum = 0.0f;
    if (shares.touches(face)) sum += shares.from_behind(a, face) * push.of[a][face];
    if (shares.touches(low)) sum += shares.from_before(a, face) * push.of[a][low];
    u.of[a][face] += shares.give.of[a][face] * sum;
  }
  HD void operator()(int item) const {
    const std::uint32_t cell = walls[static_cast<std::size_t>(item)].cell;
    for (int a = 0; a < 3; ++a) {
      shove(a, cell);
      const std::uint32_t high = shares.tiles.behind(cell, a);
      if (high != kNoCell && !shares.touches(high)) shove(a, high);
    }
  }
};

// x = y + w D'(u(y)) of wall cells, whose closed faces move along the wall.
struct TryAtWalls {
  WallFlow flow;
  View<const WallCell> walls;
  View<const float> pace;
  ConstStressView y;
  StressView x;  // out
  HD void operator()(int item) const {
    const WallCell& wall = walls[static_cast<std::size_t>(item)];
    const std::uint32_t cell = wall.cell;
    const Vec3 closed = WallFlow::closed(wall, flow.mean(wall));
    Vec3 d;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t at = flow.tiles.behind(cell, a);
      const bool low = flow.open.of[a][cell] > 0.0f;
      const bool high = at != kNoCell && flow.open.of[a][at] > 0.0f;
      d[a] = (high ? flow.u.of[a][at] : closed[a]) - (low ? flow.u.of[a][cell] : closed[a]);
    }
    const float mean = (d.x + d.y + d.z) * (1.0f / 3.0f);
    for (int a = 0; a < 3; ++a) {
      x.normal[a][cell] = y.normal[a][cell] + pace[cell] * (d[a] - mean);
    }
  }
};

// As MeasureCells in wall cells: the traction stands for the stress on edges that lie in the wall.
// t along a, at a wall across b, is s_ab, as on edges along the third axis c.
struct MeasureAtWalls {
  TileView tiles;
  View<const WallCell> walls;
  View<const std::uint8_t> roles;
  ConstStressView s;
  View3<const float> t;
  View<const float> radius;
  View<float> scale;    // out
  View<float> rest[3];  // out
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const WallCell& wall = walls[i];
    const std::uint32_t cell = wall.cell;
    const Vec3 on = t[i];
    const int b = wall.across;
    float all = 0.0f, edges[3];
    for (int c = 0; c < 3; ++c) {
      const float in_wall = c == b ? 0.0f : absolute(on[3 - b - c]);
      float sum = 0.0f;
      for (const std::uint32_t at : edges_of(tiles, c, cell).at) {
        const std::uint32_t there = at == kNoCell ? cell : at;
        const float stress = absolute(s.shear[c][there]);
        sum += at != kNoCell && roles[there] & role::shears(c) ? stress : in_wall;
      }
      edges[c] = 0.125f * sum * sum;
      all += s.normal[c][cell] * s.normal[c][cell] + edges[c];
    }
    const float r = radius[cell];
    scale[cell] = all > r * r ? r / std::sqrt(all) : 1.0f;
    for (int c = 0; c < 3; ++c) rest[c][cell] = all - edges[c];
  }
};

// t <- P(t - w (slip along the wall)).
struct YieldAtWalls {
  WallFlow flow;
  View<const WallCell> walls;
  View<const std::uint8_t> kind;
  View<const float> q;
  ConstStressView s;
  View3<float> t, y;  // in and out
  float momentum;

  // mu times what presses on the cell's walls.
  HD float most(const WallCell& wall) const {
    const std::uint32_t cell = wall.cell;
    const bool liquid = kind[cell] == kLiquid;
    const auto pressed = [&](float weight, float across) {
      const float load = liquid ? q[cell] + wall.depth * weight : weight;
      return max(load - across, 0.0f) + wall.pad * max(weight, 0.0f);
    };
    if (wall.aligned) {
      float sum = 0.0f;
      for (int a = 0; a < 3; ++a) {
        if (wall.friction[a] > 0.0f) {
          sum += wall.friction[a] * pressed(wall.weight[a], s.normal[a][cell]);
        }
      }
      return sum;
    }
    float across = 0.0f;
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      across += wall.normal[a] * wall.normal[a] * s.normal[a][cell] +
                2.0f * wall.normal[b] * wall.normal[c] * shear_in(flow.tiles, s, a, cell);
    }
    return wall.friction.x * pressed(wall.weight.x, across);
  }
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const WallCell& wall = walls[i];
    const Vec3 slip = WallFlow::along(wall, flow.mean(wall) - wall.velocity);
    Vec3 next = static_cast<Vec3>(y[i]) - wall.pace * slip;
    const float limit = most(wall), size = length(next);
    if (size > limit) next = (limit / size) * next;
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
    const Vec3 push =
        on_closed - WallFlow::along(wall, on_closed) - t[static_cast<std::size_t>(item)];
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
