// Kernels behind poisson.h, for both devices.
//
// Those over cells are templates over where they stand: one cell and floats on a GPU
// (poisson_cells.cuh), a row of cells and a vector on the CPU (poisson_rows_cpu.h). Either has
//     here(field)                                   the value there
//     left, right, front, back, below, above(field) those of the neighbours along -x, +x, -y, ...
//     put(field, value)
// and a kernel returns what each cell adds to a sum, where there is one.
//
// Symbols: A, D the matrix and its diagonal; `inverse` is D^-1, and 0 where there is no unknown.
// Fields of solutions are 0 there, too.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "compute/bits.h"
#include "compute/view.h"
#include "spatial/level_tiles.h"
#include "spatial/poisson.h"

namespace barchan {

// For where a kernel takes a field: one times another, and a + by b.
struct Product {
  View<const float> a, b;
};
struct Combined {
  View<const float> a, b;
  float by;
};

// A q. By differences: what is the same on both sides of a face leaves no rounding behind, or the
// rounding would tie every cell to 0 like a weak anchor.
template <class At, class Field>
HD_INLINE inline auto apply(const At& at, const PoissonMatrix& matrix, const Field& q) {
  const auto here = at.here(q);
  return at.here(matrix.x) * (here - at.left(q)) + at.right(matrix.x) * (here - at.right(q)) +
         at.here(matrix.y) * (here - at.front(q)) + at.back(matrix.y) * (here - at.back(q)) +
         at.here(matrix.z) * (here - at.below(q)) + at.above(matrix.z) * (here - at.above(q)) +
         at.here(matrix.anchor) * here;
}

template <class At>
HD_INLINE inline auto diagonal(const At& at, const PoissonMatrix& matrix) {
  return at.here(matrix.x) + at.right(matrix.x) + at.here(matrix.y) + at.back(matrix.y) +
         at.here(matrix.z) + at.above(matrix.z) + at.here(matrix.anchor);
}

// ---- Which tiles and rows have unknowns

// Row by row of the grid's tiles, as bits in one word a tile.
struct FlagTiles {
  TileView grid;
  PoissonMatrix matrix;
  View<std::uint32_t> flag;  // in: 0; out: 1 where a cell of the tile is an unknown

  HD bool any(View<const float> field, std::size_t first, int count) const {
    float sum = 0.0f;
    for (int i = 0; i < count; ++i) sum += field[first + static_cast<std::size_t>(i)];
    return sum > 0.0f;
  }
  HD bool next(View<const float> field, std::uint32_t tile, int x, int y, int z, int count) const {
    const std::uint32_t first = grid.cell(tile, x, y, z);
    return first != kNoCell && any(field, first, count);
  }
  HD void operator()(int row) const {
    const auto tile = static_cast<std::uint32_t>(row / (kTileEdge * kTileEdge));
    const int y = row % kTileEdge, z = row / kTileEdge % kTileEdge;
    const std::size_t first = static_cast<std::size_t>(row) * kTileEdge;
    if (any(matrix.x, first, kTileEdge) || any(matrix.y, first, kTileEdge) ||
        any(matrix.z, first, kTileEdge) || any(matrix.anchor, first, kTileEdge) ||
        next(matrix.x, tile, kTileEdge, y, z, 1) || next(matrix.y, tile, 0, y + 1, z, kTileEdge) ||
        next(matrix.z, tile, 0, y, z + 1, kTileEdge)) {
      set_bits(&flag[tile], 1u);
    }
  }
};

// The same from bytes of the cells that are 0 where there is none.
struct FlagTilesOf {
  View<const std::uint8_t> cells;
  View<std::uint32_t> flag;  // in: 0; out: 1 where a byte of the tile is not 0
  HD void operator()(int row) const {
    unsigned any = 0;
    for (int i = 0; i < kTileEdge; ++i) {
      any |= cells[static_cast<std::size_t>(row) * kTileEdge + static_cast<std::size_t>(i)];
    }
    const int tile = row / (kTileEdge * kTileEdge);
    if (any != 0) set_bits(&flag[static_cast<std::size_t>(tile)], 1u);
  }
};

// As storey_tables() wants them.
struct FoundTiles {
  View<const std::uint64_t> number;
  View<const std::uint32_t> flag;
  View<std::uint64_t> found;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    found[i] = 2 * number[i] + flag[i];
  }
};

// The table of 27 in numbers of flagged tiles.
struct KeepAround {
  View<const std::uint32_t> around;
  TileTable table;
  View<std::uint32_t> kept;  // out; behind the last one where there is none
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    kept[i] = table.tile(around[std::size_t{table.list[i / 27]} * 27 + i % 27]);
  }
};

template <int E>
struct MarkRows {
  View<const float> inverse;
  View<std::uint32_t> rows;  // in: 0; out: see LevelTiles
  HD void operator()(int row) const {
    float sum = 0.0f;
    for (int i = 0; i < E; ++i) sum += inverse[static_cast<std::size_t>(row) * E + std::size_t(i)];
    const auto tile = static_cast<std::size_t>(row / (E * E));
    const int place = row % (E * E);
    if (sum > 0.0f) set_bits(&rows[tile * 2 + std::size_t(place / 32)], 1u << (place % 32));
  }
};

// ---- To and from the grid's numbers

// The matrix in flagged tiles, without faces to tiles that do not exist.
struct TakeMatrix {
  View<const std::uint32_t> list;
  LevelTiles level;
  PoissonMatrix from;
  View<float> x, y, z, anchor;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t tile = i / kTileCells, place = i % kTileCells;
    const std::size_t c = std::size_t{list[tile]} * kTileCells + place;
    const auto inside = [&](std::size_t coordinate, std::size_t of) {
      return coordinate > 0 || level.around[tile * 27 + of] < level.tiles;
    };
    x[i] = inside(place % 8, kMiddle - 1) ? from.x[c] : 0.0f;
    y[i] = inside(place / 8 % 8, kMiddle - 3) ? from.y[c] : 0.0f;
    z[i] = inside(place / 64, kMiddle - 9) ? from.z[c] : 0.0f;
    anchor[i] = from.anchor[c];
  }
};
// A field of the grid's cells where they are unknowns, and back.
struct TakeUnknowns {
  View<const std::uint32_t> list;
  View<const float> from, inverse;
  View<float> to;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t c = std::size_t{list[i / kTileCells]} * kTileCells + i % kTileCells;
    to[i] = inverse[i] > 0.0f ? from[c] : 0.0f;
  }
};
struct GiveTiles {
  View<const std::uint32_t> list;
  View<const float> from;
  View<float> to;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    to[std::size_t{list[i / kTileCells]} * kTileCells + i % kTileCells] = from[i];
  }
};

// ---- Coarser levels

// A coarse cell's faces and anchor from the 2^3 cells that it is made of. Areas add up and the
// distance doubles: half the sum. An anchor a is a piece of fluid between the cell's centre and a
// pressure of 0. Where all of the coarse cell is fluid, the way from its centre is longer by half a
// fine cell of coefficient 2 k, in series: 1 / (1/a + 1/(2 k)); elsewhere the surface passes near
// the coarse centre, and the way stays as short as it was.
template <int E>
struct CoarsenFaces {
  static constexpr int C = E / 2;
  LevelTiles level;
  PoissonMatrix fine;
  View<float> x, y, z, anchor;  // out

  HD static std::size_t place(std::size_t tile, int i, int j, int k) {
    return tile * (E * E * E) + static_cast<std::size_t>((k * E + j) * E + i);
  }
  // The largest coefficient of a cell's faces.
  HD float largest_face(std::size_t tile, int i, int j, int k) const {
    const std::size_t cell = place(tile, i, j, k);
    const float faces[6] = {fine.x[cell],
                            fine.y[cell],
                            fine.z[cell],
                            fine.x[cell_near<E>(level, tile, i + 1, j, k)],
                            fine.y[cell_near<E>(level, tile, i, j + 1, k)],
                            fine.z[cell_near<E>(level, tile, i, j, k + 1)]};
    float most = 0.0f;
    for (const float face : faces) most = face > most ? face : most;
    return most;
  }
  HD float coarse_anchor(std::size_t tile, int x0, int y0, int z0) const {
    float sum = 0.0f, lengthened = 0.0f;
    bool full = true;
    for (int child = 0; child < 8; ++child) {
      const int i = x0 + child % 2, j = y0 + child / 2 % 2, k = z0 + child / 4;
      const float a = fine.anchor[place(tile, i, j, k)];
      const float twice = 2.0f * largest_face(tile, i, j, k);
      sum += a;
      if (a > 0.0f) lengthened += twice * a / (twice + a);
      if (!(a + twice > 0.0f)) full = false;
    }
    return full ? lengthened : sum;
  }
  HD void operator()(int at) const {
    const auto to = static_cast<std::size_t>(at);
    const std::size_t tile = to / (C * C * C);
    const int of = at % (C * C * C);
    const int x0 = of % C * 2, y0 = of / C % C * 2, z0 = of / (C * C) * 2;
    float sx = 0.0f, sy = 0.0f, sz = 0.0f, sa = 0.0f;
    for (int child = 0; child < 8; ++child) {
      const int di = child % 2, dj = child / 2 % 2, dk = child / 4;
      const std::size_t cell = place(tile, x0 + di, y0 + dj, z0 + dk);
      sx += di == 0 ? fine.x[cell] : 0.0f;
      sy += dj == 0 ? fine.y[cell] : 0.0f;
      sz += dk == 0 ? fine.z[cell] : 0.0f;
      sa += fine.anchor[cell];
    }
    x[to] = 0.5f * sx, y[to] = 0.5f * sy, z[to] = 0.5f * sz;
    anchor[to] = sa > 0.0f ? coarse_anchor(tile, x0, y0, z0) : 0.0f;
  }
};

struct InvertDiagonal {
  PoissonMatrix matrix;
  View<float> inverse;  // out
  template <class At>
  HD_INLINE void operator()(const At& at) const {
    at.put(inverse, at.inverse(diagonal(at, matrix)));
  }
};

// ---- Between levels
//
// Trilinear: along each axis a cell takes 3/4 of the coarse cell that it is in and 1/4 of the next
// one. Those that are no unknowns count as 0 for a cell with an anchor, which is at the surface.
// For others they are walls: the rest count for more, so that a constant stays a constant. That is
// P = N^-1 P_0, and residuals go the other way by its transpose. `weight` is N^-1 of the fine
// cells.

// f(coarse cell, its share) of the eight that a fine cell is interpolated from.
template <int E, class F>
HD inline void prolong_shares(const LevelTiles& level, int at, const F& f) {
  const std::size_t tile = static_cast<std::size_t>(at) / (E * E * E);
  const int place = at % (E * E * E);
  const int x = place % E, y = place / E % E, z = place / (E * E);
  for (int corner = 0; corner < 8; ++corner) {
    const bool ox = corner & 1, oy = corner & 2, oz = corner & 4;
    f(cell_near<E / 2>(level, tile, x / 2 + (ox ? (x & 1) * 2 - 1 : 0),
                       y / 2 + (oy ? (y & 1) * 2 - 1 : 0), z / 2 + (oz ? (z & 1) * 2 - 1 : 0)),
      (ox ? 0.25f : 0.75f) * (oy ? 0.25f : 0.75f) * (oz ? 0.25f : 0.75f));
  }
}

template <int E>
struct Prolong {
  LevelTiles level;
  View<const float> coarse, weight;
  View<float> q;  // in and out

  HD void operator()(int at) const {
    float sum = 0.0f;
    prolong_shares<E>(level, at, [&](std::size_t of, float share) { sum += share * coarse[of]; });
    q[static_cast<std::size_t>(at)] += weight[static_cast<std::size_t>(at)] * sum;
  }
};

template <int E>
struct Restrict {
  static constexpr int C = E / 2;
  LevelTiles level;
  View<const float> residual;  // times the cells' weights
  View<float> coarse;          // out

  HD void operator()(int at) const {
    const auto to = static_cast<std::size_t>(at);
    const std::size_t tile = to / (C * C * C);
    const int place = at % (C * C * C);
    const int x = place % C * 2, y = place / C % C * 2, z = place / (C * C) * 2;
    float sum = 0.0f;
    for (int k = -1; k < 3; ++k) {
      for (int j = -1; j < 3; ++j) {
        for (int i = -1; i < 3; ++i) {
          const std::size_t of = cell_near<E>(level, tile, x + i, y + j, z + k);
          sum += share(i) * share(j) * share(k) * residual[of];
        }
      }
    }
    coarse[to] = sum;
  }
  HD static float share(int i) { return i == 0 || i == 1 ? 0.75f : 0.25f; }
};

// What N is made from: ones for the coarse unknowns, to be interpolated with a weight of one.
struct StartWeights {
  View<const float> inverse;  // of the coarse cells
  View<float> mark, weight;   // out; of coarse cells and of fine ones, which are more
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    weight[i] = 1.0f;
    if (i < mark.size) mark[i] = inverse[i] > 0.0f ? 1.0f : 0.0f;
  }
};

// weight = N^-1, once P_0 applied to ones has left N.
struct WeighCells {
  View<const float> inverse, anchor;
  View<float> n;       // out: 0, as a field of solutions is where there are no unknowns
  View<float> weight;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const float all = anchor[i] > 0.0f ? 1.0f : n[i];
    weight[i] = inverse[i] > 0.0f && all > 0.0f ? 1.0f / all : 0.0f;
    n[i] = 0.0f;
  }
};

template <class T>
struct SetTo {
  T value;
  View<T> field;  // out
  HD void operator()(int at) const { field[static_cast<std::size_t>(at)] = value; }
};

// A tile is a cell of the next storey.
struct Pick {
  View<const std::uint32_t> index;
  View<const float> from;
  View<float> to;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    to[i] = from[index[i]];
  }
};

struct PickMatrix {
  View<const std::uint32_t> index;
  PoissonMatrix from;
  View<float> x, y, z, anchor;  // out
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const std::size_t of = index[i];
    x[i] = from.x[of], y[i] = from.y[of], z[i] = from.z[of], anchor[i] = from.anchor[of];
  }
};

// ---- Smoothing

// The eigenvalues lambda of D^-1 A lie in [0, 2]. Two Jacobi steps whose error polynomial
// (1 - w_1 lambda)(1 - w_2 lambda) is Chebyshev's of degree 2 on [kSmoothFrom, 2]: a -+ b / sqrt(2)
// are its roots, for the middle a and half the width b.
inline constexpr float kSmoothFrom = 0.3f;
inline constexpr float kSmoothMiddle = 0.5f * (2.0f + kSmoothFrom);
inline constexpr float kSmoothRoot = 0.70710678f * 0.5f * (2.0f - kSmoothFrom);
inline constexpr float kFirstWeight = 1.0f / (kSmoothMiddle + kSmoothRoot);
inline constexpr float kSecondWeight = 1.0f / (kSmoothMiddle - kSmoothRoot);

// Both steps from q = 0 in one pass: q = g (w_1 + w_2) - w_1 w_2 D^-1 A g with g = D^-1 b.
struct SmoothFromZero {
  PoissonMatrix matrix;
  View<const float> inverse, b;
  View<float> q;  // out
  template <class At>
  HD_INLINE void operator()(const At& at) const {
    const Product g{inverse, b};
    at.put(q, (kFirstWeight + kSecondWeight) * at.here(g) -
                  kFirstWeight * kSecondWeight * at.here(inverse) * apply(at, matrix, g));
  }
};

// r = b - A q, which may be in place of b.
struct Residual {
  PoissonMatrix matrix;
  View<const float> b, q;
  View<float> r;  // out
  template <class At>
  HD_INLINE void operator()(const At& at) const {
    at.put(r, at.here(b) - apply(at, matrix, q));
  }
};

// Times the weights of Restrict.
struct WeightedResidual {
  PoissonMatrix matrix;
  View<const float> b, q, weight;
  View<float> r;  // out
  template <class At>
  HD_INLINE void operator()(const At& at) const {
    at.put(r, at.here(weight) * (at.here(b) - apply(at, matrix, q)));
  }
};

// q' = q + w D^-1 (b - A q); returns b q', whose sum conjugate gradients need. D is at hand: to
// divide costs less than to read another field.
struct Smooth {
  PoissonMatrix matrix;
  View<const float> b, q;
  View<float> out;
  float weight;
  template <class At>
  HD_INLINE auto operator()(const At& at) const {
    const auto rhs = at.here(b);
    const auto left = rhs - apply(at, matrix, q);
    const auto next = at.here(q) + weight * at.inverse(diagonal(at, matrix)) * left;
    at.put(out, next);
    return rhs * next;
  }
};

// ---- A level, and the stages of a cycle on it

// Fields over the cells of one size. Behind the cells lie those of the tile of zeros.
struct PoissonLevel {
  static constexpr std::size_t kFields = 9;

  int edge;  // cells along a tile's edge
  LevelTiles tiles;
  View<float> x, y, z, anchor;
  View<float> inverse, weight;  // D^-1; N^-1
  View<float> b, q, t;          // right-hand side, solution, a passing field
  View<std::uint32_t> rows;     // as in `tiles`, to be filled

  // Where the edge is 1: which of these cells each cell of the next level is, and the other way.
  View<const std::uint32_t> tile_of, cell_of;
  int extent = 0;  // of the last level: cells along the axis where it is longest

  HD std::int64_t cells() const {
    return static_cast<std::int64_t>(tiles.tiles) * edge * edge * edge;
  }
  HD PoissonMatrix matrix() const { return {x, y, z, anchor}; }

  HD SmoothFromZero smooth_from_zero() const { return {matrix(), inverse, b, q}; }
  HD WeightedResidual residual() const { return {matrix(), b, q, weight, t}; }
  template <int E>
  HD Restrict<E> restrict_to(const PoissonLevel& coarse) const {
    return {tiles, t, coarse.b};
  }
  template <int E>
  HD Prolong<E> prolong_from(const PoissonLevel& coarse) const {
    return {tiles, coarse.q, weight, q};
  }
  HD Smooth smooth_first() const { return {matrix(), b, q, t, kFirstWeight}; }
  HD Smooth smooth_last() const { return {matrix(), b, t, q, kSecondWeight}; }

  // Between storeys.
  HD Pick climb_to(const PoissonLevel& above) const { return {tile_of, b, above.b}; }
  HD Pick descend_from(const PoissonLevel& above) const { return {cell_of, above.q, q}; }
};

// ---- The last level: one cell a tile, and no more than a block of threads has.

// A cell's row of the matrix.
struct LastRow {
  float face[6], anchor, inverse, b;
  std::uint32_t beside[6];

  HD LastRow(const PoissonLevel& level, std::size_t i)
      : anchor(level.anchor[i]), inverse(level.inverse[i]), b(level.b[i]) {
    for (int k = 0; k < 6; ++k) {
      const std::size_t turn = k % 3 == 0 ? 1 : (k % 3 == 1 ? 3 : 9);
      const View<float>& along = k % 3 == 0 ? level.x : (k % 3 == 1 ? level.y : level.z);
      beside[k] = level.tiles.around[i * 27 + (k < 3 ? kMiddle - turn : kMiddle + turn)];
      face[k] = along[k < 3 ? i : beside[k]];
    }
  }
  HD float diagonal() const {
    float sum = anchor;
    for (const float of : face) sum += of;
    return sum;
  }
  // D^-1 (b - A q)
  HD float jacobi(const float* q, float here) const {
    float sum = anchor * here;
    for (int k = 0; k < 6; ++k) sum += face[k] * (here - q[beside[k]]);
    return inverse * (b - sum);
  }
};

struct InvertLast {
  PoissonLevel level;
  HD void operator()(int at) const {
    const auto i = static_cast<std::size_t>(at);
    const float all = LastRow(level, i).diagonal();
    level.inverse[i] = all > 0.0f ? 1.0f / all : 0.0f;
  }
};

// Chebyshev's iteration from q = 0 for eigenvalues of D^-1 A from `from` to 2. The least one of L
// cells in a row, open at one end, is (1 - cos(pi / 2 L)) / 3, about 0.41 / L^2; of that one's
// error 2 L + 2 steps leave 2 exp(-2 (2 L + 2) sqrt(0.41 / 2) / L), a third, and conjugate
// gradients see to the rest: more steps save no iterations. The result is linear in b, by a
// symmetric matrix.
struct LastSweeps {
  int count;
  float middle, half;  // of the eigenvalues
  float share = 0.0f;

  HD explicit LastSweeps(int extent) : count(2 * extent + 2) {
    const float from = 0.41f / static_cast<float>(extent * extent);
    middle = 0.5f * (2.0f + from), half = 0.5f * (2.0f - from);
  }
  // d = keep d + take D^-1 (b - A q), q += d
  HD void next(int step, float& keep, float& take) {
    const float last = share;
    share = step == 0 ? half / middle : 1.0f / (2.0f * middle / half - last);
    keep = step == 0 ? 0.0f : share * last;
    take = step == 0 ? 1.0f / middle : 2.0f * share / half;
  }
};

// All levels, the finest first.
struct PoissonLevels {
  static constexpr int kMost = 28;  // 2^20 cells along an axis are seven storeys of four
  int count = 0;
  PoissonLevel level[kMost];
};

// ---- Conjugate gradients

// Sums that stay on the device: r z of this iteration and the last, which take turns; d A d of the
// faces and of the bodies.
inline constexpr std::size_t kRz = 0, kDirection = 2, kBodies = 3, kCgSums = 4;

// d = z + beta (d of the last iteration), beta = r z / (r z of the last iteration); 0 in the first
// one. out = A d; returns d A d. Cells work out d of those beside them, so that nobody waits.
struct NewDirection {
  const double* sums;
  std::size_t rz, last;
  bool first;
  PoissonMatrix matrix;
  View<const float> z, before;
  View<float> d, out;
  template <class At>
  HD_INLINE auto operator()(const At& at) const {
    const double less = first ? 0.0 : sums[last];
    const float beta = less > 0.0 ? static_cast<float>(sums[rz] / less) : 0.0f;
    const Combined next{z, before, beta};
    const auto here = at.here(next), product = apply(at, matrix, next);
    at.put(d, here);
    at.put(out, product);
    return here * product;
  }
};

// p += alpha d, r -= alpha A d; returns |r|.
struct Advance {
  const double* sums;
  std::size_t rz;
  bool bodies;
  View<const float> d, ad;
  View<float> p, r;  // in and out
  template <class At>
  HD_INLINE auto operator()(const At& at) const {
    const double dad = sums[kDirection] + (bodies ? sums[kBodies] : 0.0);
    const float alpha = dad > 0.0 ? static_cast<float>(sums[rz] / dad) : 0.0f;
    at.put(p, at.here(p) + alpha * at.here(d));
    const auto left = at.here(r) - alpha * at.here(ad);
    at.put(r, left);
    return at.size_of(left);
  }
};

struct SizeOf {
  View<const float> field;
  template <class At>
  HD_INLINE auto operator()(const At& at) const {
    return at.size_of(at.here(field));
  }
};

}  // namespace barchan
