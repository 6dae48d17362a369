// Where the liquid touches solids: a contact for each closed part of a liquid cell's faces. The
// pressure in the cell pushes the solid along j = (a e, r x a e), with a e the closed area out of
// the cell, in faces, and r the arm from the solid's origin; and where the solid moves at (v, w),
// j . (v, w) flows out of the cell there.
//
// At a face that is closed altogether the pressure is higher than in the cell's middle by what
// stops the liquid in the half cell between: q + (u - w) / 2 out of the cell.
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

  // f(axis, sign, face's cell, closed fraction) of each closed part of a liquid cell.
  template <class F>
  HD void visit(std::uint32_t cell, const F& f) const {
    if (kind[cell] != kLiquid || side[cell / kTileCells] != kCutTile) return;
    for (int a = 0; a < 3; ++a) {
      const float low = 1.0f - open.of[a][cell];
      if (low > 0.0f) f(a, -1.0f, cell, low);
      const std::uint32_t high = tiles.behind(cell, a);
      if (high != kNoCell && open.of[a][high] < 1.0f) f(a, 1.0f, high, 1.0f - open.of[a][high]);
    }
  }
};

struct CountContacts {
  ClosedFaces closed;
  View<std::uint32_t> count;  // out, of each cell
  HD void operator()(int item) const {
    std::uint32_t n = 0;
    closed.visit(static_cast<std::uint32_t>(item), [&](int, float, std::uint32_t, float) { ++n; });
    count[static_cast<std::size_t>(item)] = n;
  }
};

struct ContactsView {
  View<std::uint32_t> solid, place;  // place: 0, 1, 2 ...
  View<std::uint32_t> cell;
  View<float> j[6];  // area in faces; times an arm [m]
  View<float> more;  // what the pressure is higher by at the face [m/s]
};

struct ListContacts {
  ClosedFaces closed;
  SolidsNow solids;
  View<const SolidMotion> motion;   // of each solid
  ConstFaceView u;                  // before the pressure
  View<const std::uint32_t> first;  // of each cell's contacts
  ContactsView out;
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    std::size_t at = first[cell];
    closed.visit(cell, [&](int a, float sign, std::uint32_t face, float area) {
      const Vec3 x = middle_of_face(closed.tiles, face, a);
      const int solid = solids.solids.count == 1 ? 0 : solids.nearest(x).solid;
      const Vec3 push = (sign * area) * unit(a);
      const Vec3 turn = cross(x - motion[static_cast<std::size_t>(solid)].position, push);
      out.solid[at] = static_cast<std::uint32_t>(solid);
      out.place[at] = static_cast<std::uint32_t>(at);
      out.cell[at] = cell;
      out.more[at] =
          area < 1.0f ? 0.0f : 0.5f * sign * (u.of[a][face] - solids.velocity(solid, x)[a]);
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
  View<const std::uint32_t> solid;
  View<std::uint32_t> start;  // out; one more than there are solids
  HD void operator()(int s) const {
    std::uint32_t lo = 0, hi = static_cast<std::uint32_t>(solid.size);
    while (lo < hi) {
      const std::uint32_t middle = (lo + hi) / 2;
      if (solid[middle] < static_cast<std::uint32_t>(s)) {
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

// J q over contacts from `first` on.
struct PushOfContacts {
  View<const std::uint32_t> cell;
  View<const float> j[6];
  View<const float> more;
  View<const float> q;
  std::uint32_t first;
  HD SixSums operator()(int item) const {
    const std::size_t at = first + static_cast<std::size_t>(item);
    const auto here = static_cast<double>(q[cell[at]] + more[at]);
    SixSums sum;
    for (int k = 0; k < 6; ++k) sum.of[k] = here * static_cast<double>(j[k][at]);
    return sum;
  }
};

}  // namespace barchan::flip
