// Where the liquid touches solids: in each liquid cell, along each axis, what the solids close more
// on one side than on the other. With lo and hi the open fractions of the two faces, V that of the
// cell, and pressure linear in it, the divergence theorem gives the push along the axis,
//     q (lo - hi) + dq/da (V - (lo + hi) / 2)
// in faces and cells. The first part is J q: the pressure solve uses it for bodies, which make
// J^T (v, w) flow out of the cell when they move at (v, w). In the second the slope is taken to be
// that of water at rest, dt g: what a moving body adds to it would act back on the body only after
// the step, and set light ones spinning.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "solvers/flip/liquid_kernels.h"
#include "solvers/flip/material_kernels.h"
#include "solvers/flip/solid_kernels.h"
#include "spatial/kernels.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

struct ClosedFaces {
  TileView tiles;
  View<const std::uint8_t> kind, side;
  ConstFaceView open;

  // f(axis, open fractions of its low and high face) of a liquid cell, along each
  // axis where one of them is not all open.
  template <class F>
  HD void visit(std::uint32_t cell, const F& f) const {
    if (kind[cell] != kLiquid || side[cell / kTileCells] != kCutTile) return;
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t behind = tiles.behind(cell, a);
      const float lo = open.of[a][cell], hi = behind == kNoCell ? 1.0f : open.of[a][behind];
      if (lo < 1.0f || hi < 1.0f) f(a, lo, hi);
    }
  }
};

// Room for two of each cell and axis.
struct CountContacts {
  ClosedFaces closed;
  View<std::uint32_t> count;  // out, of each cell
  HD void operator()(int item) const {
    std::uint32_t n = 0;
    closed.visit(static_cast<std::uint32_t>(item),
                 [&](int, float lo, float hi) { n += lo < 1.0f && hi < 1.0f ? 2 : 1; });
    count[static_cast<std::size_t>(item)] = n;
  }
};

struct ContactsView {
  View<std::uint32_t> rank, place;  // of the solid; 0, 1, 2 ...
  View<std::uint32_t> cell;
  View<float> j[6];     // push and turn by q = 1: faces, and times an arm [m]
  View<float> more[6];  // and by the second part
};

struct CellContacts {
  ClosedFaces closed;
  SolidsNow solids;
  View<const SolidMotion> motion;  // of each solid
  View<const Octants> octants;
  Vec3 gravity;  // dt g [m/s]
  StuffView stuff = {};

  // Of a cell with a solid.
  struct Contact {
    int solid;
    Vec3 push, turn;            // by q = 1
    Vec3 more_push, more_turn;  // and by the second part
  };
  HD Contact contact(std::uint32_t cell, int axis, int solid, const Vec3& x, float area,
                     float volume) const {
    const Vec3 e = unit(axis);
    const Vec3 turn = cross(x - motion[static_cast<std::size_t>(solid)].position, e);
    const float more = volume * gravity[axis] / stuff.lightness_of(cell);
    return {solid, area * e, area * turn, more * e, more * turn};
  }
  // f(contact) of each, as many as CountContacts says; some have no push.
  template <class F>
  HD void each(std::uint32_t cell, const F& f) const {
    const auto nearest = [&](const Vec3& x) { return solids.nearest_solid(cell / kTileCells, x); };
    closed.visit(cell, [&](int a, float lo, float hi) {
      const Vec3 x_lo = middle_of_face(closed.tiles, cell, a);
      const Vec3 x_hi = x_lo + closed.tiles.frame.size * unit(a);
      const int low = lo < 1.0f ? nearest(x_lo) : -1, high = hi < 1.0f ? nearest(x_hi) : -1;
      const auto dynamic = [&](int s) { return solids.solids.data[s].dynamic; };
      if (low >= 0 && high >= 0 && low != high && (dynamic(low) || dynamic(high))) {
        // Liquid between two solids that may close in on it: each side by itself.
        f(contact(cell, a, low, x_lo, lo - 1.0f, 0.5f * (1.0f - lo)));
        f(contact(cell, a, high, x_hi, 1.0f - hi, 0.5f * (1.0f - hi)));
        return;
      }
      const float volume = open_volume(octants[cell]) - 0.5f * (lo + hi);
      const bool at_low = lo < hi;
      f(contact(cell, a, (at_low && low >= 0) || high < 0 ? low : high, at_low ? x_lo : x_hi,
                lo - hi, volume));
      if (low >= 0 && high >= 0)
        f(contact(cell, a, low, x_lo, 0.0f, 0.0f));  // the second place stays empty
    });
  }
};

struct ListContacts {
  CellContacts contacts;
  View<const std::uint32_t> rank_of{};  // each solid's place in the order of contacts
  View<const std::uint32_t> first{};    // of each cell's contacts
  ContactsView out{};

  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    std::size_t at = first[cell];
    contacts.each(cell, [&](const CellContacts::Contact& of) {
      out.rank[at] = rank_of[static_cast<std::size_t>(of.solid)];
      out.place[at] = static_cast<std::uint32_t>(at);
      out.cell[at] = cell;
      for (int k = 0; k < 3; ++k) {
        out.j[k][at] = of.push[k];
        out.j[3 + k][at] = of.turn[k];
        out.more[k][at] = of.more_push[k];
        out.more[3 + k][at] = of.more_turn[k];
      }
      ++at;
    });
  }
};

// Once the ranks are sorted with their places.
struct SortContacts {
  ContactsView from, to;
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const std::size_t of = from.place[i];
    to.cell[i] = from.cell[of];
    for (int k = 0; k < 6; ++k) to.j[k][i] = from.j[k][of], to.more[k][i] = from.more[k][of];
  }
};

// Where each solid's contacts begin, once they are sorted by solid.
struct FirstContacts {
  View<const std::uint32_t> rank;
  View<std::uint32_t> start;  // out; one more than there are solids
  HD void operator()(int s) const { start[static_cast<std::size_t>(s)] = lower_bound(rank, s); }
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

// J q and the rest over contacts from `first` on; without q only the rest.
struct PushOfContacts {
  View<const std::uint32_t> cell;
  View<const float> j[6], more[6];
  View<const float> q;
  std::uint32_t first;
  HD SixSums operator()(int item) const {
    const std::size_t at = first + static_cast<std::size_t>(item);
    const double here = q.size > 0 ? static_cast<double>(q[cell[at]]) : 0.0;
    SixSums sum;
    for (int k = 0; k < 6; ++k) {
      sum.of[k] = here * static_cast<double>(j[k][at]) + static_cast<double>(more[k][at]);
    }
    return sum;
  }
};

// The same on one solid without a list, a cell at a time.
struct PushOfCells {
  CellContacts contacts;
  View<const float> q;
  int solid;
  HD SixSums operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    SixSums sum;
    contacts.each(cell, [&](const CellContacts::Contact& of) {
      if (of.solid != solid) return;
      const auto here = static_cast<double>(q[cell]);
      for (int k = 0; k < 3; ++k) {
        sum.of[k] += here * static_cast<double>(of.push[k]) + static_cast<double>(of.more_push[k]);
        sum.of[3 + k] +=
            here * static_cast<double>(of.turn[k]) + static_cast<double>(of.more_turn[k]);
      }
    });
    return sum;
  }
};

}  // namespace barchan::flip
