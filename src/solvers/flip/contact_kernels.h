// Where the liquid touches solids: a contact for each closed part of a liquid cell's faces. The
// pressure in the cell pushes the solid along j = (a e, r x a e), with a e the closed area out of
// the cell, in faces, and r the arm from the solid's origin; and where the solid moves at (v, w),
// j . (v, w) flows out of the cell there.
//
// Where a wall closes a face altogether, the pressure at the wall differs from that in the cell's
// middle by what stops the liquid between: it is q + t (u - w), t cells out of the middle.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "solvers/flip/liquid_kernels.h"
#include "solvers/flip/solid_kernels.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

struct ClosedFaces {
  TileView tiles;
  View<const std::uint8_t> kind, side;
  ConstFaceView open;

  // f(axis, sign, face's cell, closed fraction, that of the other side) of each closed part of a
  // liquid cell.
  template <class F>
  HD void visit(std::uint32_t cell, const F& f) const {
    if (kind[cell] != kLiquid || side[cell / kTileCells] != kCutTile) return;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t behind = tiles.behind(cell, a);
      const float low = 1.0f - open.of[a][cell];
      const float high = behind == kNoCell ? 0.0f : 1.0f - open.of[a][behind];
      if (low > 0.0f) f(a, -1.0f, cell, low, high);
      if (high > 0.0f) f(a, 1.0f, behind, high, low);
    }
  }
};

struct CountContacts {
  ClosedFaces closed;
  View<std::uint32_t> count;  // out, of each cell
  HD void operator()(int item) const {
    std::uint32_t n = 0;
    closed.visit(static_cast<std::uint32_t>(item),
                 [&](int, float, std::uint32_t, float, float) { ++n; });
    count[static_cast<std::size_t>(item)] = n;
  }
};

struct ContactsView {
  View<std::uint32_t> rank, place;  // of the solid; 0, 1, 2 ...
  View<std::uint32_t> cell;
  View<float> j[6];  // area in faces; times an arm [m]
  View<float> more;  // what the pressure is higher by at the face [m/s]
};

struct ListContacts {
  ClosedFaces closed;
  SolidsNow solids;
  View<const SolidMotion> motion;  // of each solid
  View<const Octants> octants;
  ConstFaceView u;                      // before the pressure
  View<const std::uint32_t> rank_of{};  // each solid's place in the order of contacts
  View<const std::uint32_t> first{};    // of each cell's contacts
  ContactsView out{};

  // What is closed on both sides because a wall passes through the cell along the axis is pushed
  // from both, and so not at all. Two different solids, one of which may move, may also close in on
  // the cell from either side; standing ones share what the cell's closed volume allows.
  HD float passing(std::uint32_t cell, int axis, float sign, const Vec3& x, int solid, float here,
                   float there) const {
    const float both = min(here, there);
    const int other = solids.nearest(x - (sign * closed.tiles.frame.size) * unit(axis)).solid;
    if (other == solid) return both;
    const bool moves = solids.solids.data[solid].dynamic || solids.solids.data[other].dynamic;
    return moves ? 0.0f : min(both, 1.0f - open_volume(octants[cell]));
  }
  // From the cell's middle to the wall [cells], at most half a cell.
  HD float to_wall(std::uint32_t cell, int axis, float sign, int solid) const {
    const float size = closed.tiles.frame.size;
    const Vec3 middle = closed.tiles.corner_of(cell) + 0.5f * size * Vec3(1.0f, 1.0f, 1.0f);
    const Distance d = solid_distance(solids.solids.data[solid], middle, 0.0f);
    const float nearer = -sign * d.gradient[axis];  // per step out of the cell
    return nearer > 0.1f ? clamp(d.d * closed.tiles.frame.inverse_size / nearer, -0.5f, 0.5f)
                         : 0.5f;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    std::size_t at = first[cell];
    closed.visit(cell, [&](int a, float sign, std::uint32_t face, float here, float there) {
      const Vec3 x = middle_of_face(closed.tiles, face, a);
      const int solid = solids.solids.count == 1 ? 0 : solids.nearest(x).solid;
      const float area =
          here - (there > 0.0f ? passing(cell, a, sign, x, solid, here, there) : 0.0f);
      const Vec3 push = (sign * area) * unit(a);
      const Vec3 turn = cross(x - motion[static_cast<std::size_t>(solid)].position, push);
      out.rank[at] = rank_of[static_cast<std::size_t>(solid)];
      out.place[at] = static_cast<std::uint32_t>(at);
      out.cell[at] = cell;
      out.more[at] = here < 1.0f ? 0.0f
                                 : to_wall(cell, a, sign, solid) * sign *
                                       (u.of[a][face] - solids.velocity(solid, x)[a]);
      for (int k = 0; k < 3; ++k) {
        out.j[k][at] = push[k];
        out.j[3 + k][at] = turn[k];
      }
      ++at;
    });
  }
};

// Where each solid's contacts begin, once they are sorted by solid.
struct FirstContacts {
  View<const std::uint32_t> rank;
  View<std::uint32_t> start;  // out; one more than there are solids
  HD void operator()(int s) const {
    std::uint32_t lo = 0, hi = static_cast<std::uint32_t>(rank.size);
    while (lo < hi) {
      const std::uint32_t middle = (lo + hi) / 2;
      if (rank[middle] < static_cast<std::uint32_t>(s)) {
        lo = middle + 1;
      } else {
        hi = middle;
      }
    }
    start[static_cast<std::size_t>(s)] = lo;
  }
};

struct SixSums {
  double of[6] = {};
};
struct JoinSix {
  static HD SixSums identity() { return {}; }
  static HD SixSums combine(const SixSums& a, const SixSums& b) {
    SixSums sum;
    for (int k = 0; k < 6; ++k) sum.of[k] = a.of[k] + b.of[k];
    return sum;
  }
};

// J (q + more) over contacts from `first` on; either view may be empty.
struct PushOfContacts {
  View<const std::uint32_t> cell;
  View<const float> j[6];
  View<const float> more;
  View<const float> q;
  std::uint32_t first;
  HD SixSums operator()(int item) const {
    const std::size_t at = first + static_cast<std::size_t>(item);
    const auto here =
        static_cast<double>((q.size > 0 ? q[cell[at]] : 0.0f) + (more.size > 0 ? more[at] : 0.0f));
    SixSums sum;
    for (int k = 0; k < 6; ++k) sum.of[k] = here * static_cast<double>(j[k][at]);
    return sum;
  }
};

}  // namespace barchan::flip
