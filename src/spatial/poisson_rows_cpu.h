// How the CPU runs the kernels of poisson_kernels.h: a row of cells along x is one vector.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "compute/cpu.h"
#include "compute/lanes.h"
#include "spatial/poisson_schedule.h"

namespace barchan {

template <int E>
class RowOfCells {
 public:
  typedef float Floats __attribute__((vector_size(E * sizeof(float))));
  typedef double Doubles __attribute__((vector_size(E * sizeof(double))));

  BARCHAN_INLINE RowOfCells(const LevelTiles& level, std::size_t tile, int y, int z) {
    const std::uint32_t* around = level.around.data + tile * 27;
    const auto row = [&](std::size_t of, int j, int k) {
      return (std::size_t{around[of]} * (E * E) + static_cast<std::size_t>(k * E + j)) * E;
    };
    here_ = row(kMiddle, y, z);
    left_ = row(kMiddle - 1, y, z), right_ = row(kMiddle + 1, y, z);
    front_ = y > 0 ? here_ - E : row(kMiddle - 3, E - 1, z);
    back_ = y < E - 1 ? here_ + E : row(kMiddle + 3, 0, z);
    below_ = z > 0 ? here_ - E * E : row(kMiddle - 9, y, E - 1);
    above_ = z < E - 1 ? here_ + E * E : row(kMiddle + 9, y, 0);
  }

  template <class Field>
  BARCHAN_INLINE Floats here(const Field& f) const {
    return load(f, here_);
  }
  template <class Field>
  BARCHAN_INLINE Floats left(const Field& f) const {
    return shifted<E - 1>(load(f, left_), load(f, here_), std::make_integer_sequence<int, E>());
  }
  template <class Field>
  BARCHAN_INLINE Floats right(const Field& f) const {
    return shifted<1>(load(f, here_), load(f, right_), std::make_integer_sequence<int, E>());
  }
  template <class Field>
  BARCHAN_INLINE Floats front(const Field& f) const {
    return load(f, front_);
  }
  template <class Field>
  BARCHAN_INLINE Floats back(const Field& f) const {
    return load(f, back_);
  }
  template <class Field>
  BARCHAN_INLINE Floats below(const Field& f) const {
    return load(f, below_);
  }
  template <class Field>
  BARCHAN_INLINE Floats above(const Field& f) const {
    return load(f, above_);
  }
  BARCHAN_INLINE void put(View<float> f, const Floats& value) const {
    BARCHAN_ASSERT(here_ + E <= f.size);
    std::memcpy(f.data + here_, &value, sizeof(value));
  }

  // |a|, without end for what is no number; and 1 / a, 0 where a is not positive.
  BARCHAN_INLINE static Floats size_of(const Floats& a) {
    const Floats size = a > 0.0f ? a : -a;
    return size == size ? size : Floats{} + std::numeric_limits<float>::infinity();
  }
  BARCHAN_INLINE static Floats inverse(const Floats& a) { return a > 0.0f ? 1.0f / a : 0.0f * a; }

 private:
  BARCHAN_INLINE static Floats load(const Product& f, std::size_t first) {
    return load(f.a, first) * load(f.b, first);
  }
  BARCHAN_INLINE static Floats load(const Combined& f, std::size_t first) {
    return load(f.a, first) + f.by * load(f.b, first);
  }
  BARCHAN_INLINE static Floats load(View<const float> f, std::size_t first) {
    BARCHAN_ASSERT(first + E <= f.size);
    Floats value;
    std::memcpy(&value, f.data + first, sizeof(value));
    return value;
  }
  template <int kFirst, int... I>
  BARCHAN_INLINE static Floats shifted(const Floats& a, const Floats& b,
                                       std::integer_sequence<int, I...>) {
    return __builtin_shufflevector(a, b, (kFirst + I)...);
  }

  std::size_t here_, left_, right_, front_, back_, below_, above_;
};

// Calls f(row) for the rows of a tile that have unknowns, or for all.
template <int E, class F>
BARCHAN_INLINE void each_row(const LevelTiles& level, std::size_t tile, const F& f) {
  std::uint64_t bits = level.rows.size == 0
                           ? ~0ull >> (64 - E * E)
                           : std::uint64_t{level.rows[tile * 2 + 1]} << 32 | level.rows[tile * 2];
  for (; bits != 0; bits &= bits - 1) {
    const int row = std::countr_zero(bits);
    f(RowOfCells<E>(level, tile, row % E, row / E));
  }
}

// Tiles of a block of work: fixed, so that sums are the same bytes on any number of threads.
template <int E>
inline constexpr std::int64_t kTilesPerBlock = E == 8 ? 32 : (E == 4 ? 128 : 256);

template <int E, class Kernel>
struct OverRows {
  LevelTiles level;
  Kernel kernel;
  void range(int begin, int end) const {
    const Kernel mine = kernel;
    const LevelTiles tiles = level;
    for (int tile = begin; tile < end; ++tile) {
      each_row<E>(tiles, static_cast<std::size_t>(tile),
                  [&](const RowOfCells<E>& row) { (void)mine(row); });
    }
  }
};

template <int E, class Kernel>
struct SumOverRows {
  LevelTiles level;
  Kernel kernel;
  double* partial;
  void range(int begin, int end) const {
    const Kernel mine = kernel;
    const LevelTiles tiles = level;
    typename RowOfCells<E>::Doubles sum{};
    for (int tile = begin; tile < end; ++tile) {
      each_row<E>(tiles, static_cast<std::size_t>(tile), [&](const RowOfCells<E>& row) {
        sum += __builtin_convertvector(mine(row), typename RowOfCells<E>::Doubles);
      });
    }
    double all = 0.0;
    for (int i = 0; i < E; ++i) all += sum[i];
    partial[begin / kTilesPerBlock<E>] = all;
  }
};

template <int E, class Kernel>
struct LargestOverRows {
  LevelTiles level;
  Kernel kernel;
  float* partial;
  void range(int begin, int end) const {
    const Kernel mine = kernel;
    const LevelTiles tiles = level;
    typename RowOfCells<E>::Floats most{};
    for (int tile = begin; tile < end; ++tile) {
      each_row<E>(tiles, static_cast<std::size_t>(tile), [&](const RowOfCells<E>& row) {
        const auto value = mine(row);
        most = value > most ? value : most;
      });
    }
    float all = 0.0f;
    for (int i = 0; i < E; ++i) all = std::max(all, most[i]);
    partial[begin / kTilesPerBlock<E>] = all;
  }
};

template <int E, class Kernel>
void over_cells(Cpu& device, const char* label, const LevelTiles& level, const Kernel& kernel) {
  for_each_range(device, label, static_cast<std::int64_t>(level.tiles), kTilesPerBlock<E>,
                 OverRows<E, Kernel>{level, kernel});
}

template <class T>
std::vector<T> partials(const LevelTiles& level, std::int64_t block) {
  return std::vector<T>((level.tiles + static_cast<std::size_t>(block) - 1) /
                        static_cast<std::size_t>(block));
}

template <int E, class Kernel>
void sum_over_cells(Cpu& device, const char* label, const LevelTiles& level, const Kernel& kernel,
                    double* result) {
  auto partial = partials<double>(level, kTilesPerBlock<E>);
  for_each_range(device, label, static_cast<std::int64_t>(level.tiles), kTilesPerBlock<E>,
                 SumOverRows<E, Kernel>{level, kernel, partial.data()});
  *result = 0.0;
  for (const double part : partial) *result += part;
}

template <int E, class Kernel>
float largest_over_cells(Cpu& device, const char* label, const LevelTiles& level,
                         const Kernel& kernel) {
  auto partial = partials<float>(level, kTilesPerBlock<E>);
  for_each_range(device, label, static_cast<std::int64_t>(level.tiles), kTilesPerBlock<E>,
                 LargestOverRows<E, Kernel>{level, kernel, partial.data()});
  float most = 0.0f;
  for (const float part : partial) most = std::max(most, part);
  return most;
}

// ---- Between levels: axis by axis, a tile at a time, instead of 8 or 64 values a cell.

// Where the rows of a tile and of those around it begin, y and z from -1 to edge.
template <int E>
class TileRows {
 public:
  TileRows(const LevelTiles& level, std::size_t tile) : around_(level.around.data + tile * 27) {}
  // First cell of row (y, z) in the tile to the left (0), here (1) or to the right (2).
  std::size_t row(int side, int y, int z) const {
    const int ty = (y + E) / E, tz = (z + E) / E;
    const std::size_t of = around_[(tz * 3 + ty) * 3 + side];
    return (of * (E * E) + static_cast<std::size_t>((z & (E - 1)) * E + (y & (E - 1)))) * E;
  }

 private:
  const std::uint32_t* around_;
};

template <int E>
struct ProlongTiles {
  static constexpr int C = E / 2;
  Prolong<E> kernel;

  using FineRow = std::array<float, E>;

  // Row (y, z) of the coarse level, interpolated along x.
  void along_x(const TileRows<C>& rows, int y, int z, FineRow& out) const {
    const float* c = kernel.coarse.data;
    const std::size_t left = rows.row(0, y, z) + C - 1, here = rows.row(1, y, z),
                      right = rows.row(2, y, z);
    float line[C + 2];
    line[0] = c[left];
    for (std::size_t i = 0; i < C; ++i) line[i + 1] = c[here + i];
    line[C + 1] = c[right];
    for (std::size_t i = 0; i < C; ++i) {
      out[2 * i] = 0.75f * line[i + 1] + 0.25f * line[i];
      out[2 * i + 1] = 0.75f * line[i + 1] + 0.25f * line[i + 2];
    }
  }
  static void mix(const FineRow& near, const FineRow& far, FineRow& out) {
    for (std::size_t i = 0; i < E; ++i) out[i] = 0.75f * near[i] + 0.25f * far[i];
  }
  void tile(std::size_t tile) const {
    const TileRows<C> rows(kernel.level, tile);
    FineRow line[C + 2];
    FineRow plane[C + 2][E];
    for (int z = -1; z <= C; ++z) {
      for (int y = -1; y <= C; ++y) along_x(rows, y, z, line[y + 1]);
      for (int y = 0; y < E; ++y) mix(line[y / 2 + 1], line[y / 2 + (y & 1) * 2], plane[z + 1][y]);
    }
    const std::size_t first = tile * (E * E * E);
    const float* weight = kernel.weight.data + first;
    float* q = kernel.q.data + first;
    for (int z = 0; z < E; ++z) {
      for (int y = 0; y < E; ++y) {
        FineRow sum;
        mix(plane[z / 2 + 1][y], plane[z / 2 + (z & 1) * 2][y], sum);
        for (std::size_t i = 0; i < E; ++i) q[i] += weight[i] * sum[i];
        weight += E, q += E;
      }
    }
  }
  void range(int begin, int end) const {
    for (int t = begin; t < end; ++t) tile(static_cast<std::size_t>(t));
  }
};

template <int E>
struct RestrictTiles {
  static constexpr int C = E / 2;
  Restrict<E> kernel;

  // A row and the cells at its ends.
  struct Line {
    typename RowOfCells<E>::Floats row;
    float left, right;
  };
  BARCHAN_INLINE static float mix(float a, float b, float c, float d) {
    return 0.25f * (a + d) + 0.75f * (b + c);
  }
  // A coarse line from the four fine ones from `f` on.
  BARCHAN_INLINE static void mix(const Line* f, std::size_t stride, Line& out) {
    const Line &a = f[0], &b = f[stride], &c = f[2 * stride], &d = f[3 * stride];
    out.row = 0.25f * (a.row + d.row) + 0.75f * (b.row + c.row);
    out.left = mix(a.left, b.left, c.left, d.left);
    out.right = mix(a.right, b.right, c.right, d.right);
  }
  BARCHAN_INLINE void load(const TileRows<E>& rows, int y, int z, Line& line) const {
    const float* r = kernel.residual.data;
    const std::size_t left = rows.row(0, y, z) + E - 1, here = rows.row(1, y, z),
                      right = rows.row(2, y, z);
    std::memcpy(&line.row, r + here, sizeof(line.row));
    line.left = r[left], line.right = r[right];
  }
  BARCHAN_INLINE static void along_x(const Line& line, float* out) {
    float all[E + 2];
    all[0] = line.left;
    std::memcpy(all + 1, &line.row, sizeof(line.row));
    all[E + 1] = line.right;
    for (int i = 0; i < C; ++i) {
      out[i] = mix(all[2 * i], all[2 * i + 1], all[2 * i + 2], all[2 * i + 3]);
    }
  }
  void tile(std::size_t tile) const {
    const TileRows<E> rows(kernel.level, tile);
    Line fine[E + 2];
    Line planes[E + 2][C];
    for (int z = -1; z <= E; ++z) {
      for (int y = -1; y <= E; ++y) load(rows, y, z, fine[y + 1]);
      for (int j = 0; j < C; ++j) mix(fine + 2 * j, 1, planes[z + 1][j]);
    }
    float* out = kernel.coarse.data + tile * (C * C * C);
    for (int k = 0; k < C; ++k) {
      for (int j = 0; j < C; ++j, out += C) {
        Line line;
        mix(&planes[2 * k][j], C, line);
        along_x(line, out);
      }
    }
  }
  void range(int begin, int end) const {
    for (int t = begin; t < end; ++t) tile(static_cast<std::size_t>(t));
  }
};

template <int E>
void between_levels(Cpu& device, const char* label, const Prolong<E>& kernel) {
  for_each_range(device, label, static_cast<std::int64_t>(kernel.level.tiles), kTilesPerBlock<E>,
                 ProlongTiles<E>{kernel});
}
template <int E>
void between_levels(Cpu& device, const char* label, const Restrict<E>& kernel) {
  for_each_range(device, label, static_cast<std::int64_t>(kernel.level.tiles), kTilesPerBlock<E>,
                 RestrictTiles<E>{kernel});
}

// The fine level's weights, by interpolating ones.
template <int E>
void weigh(Cpu& device, const PoissonLevel& fine, const PoissonLevel& coarse) {
  for_each(device, "poisson: weights", fine.cells(),
           StartWeights{coarse.inverse, coarse.q, fine.weight});
  between_levels<E>(device, "poisson: weights", fine.prolong_from<E>(coarse));
  for_each(device, "poisson: weights", fine.cells(),
           WeighCells{fine.inverse, fine.anchor, fine.q, fine.weight});
}

// By one thread: there are few cells.
inline void solve_last(Cpu& device, const PoissonLevel& level) {
  const HostTimer timer(device.profiler(), "poisson: coarse");
  const std::size_t n = level.tiles.tiles;
  if (n == 0) return;
  static thread_local std::vector<LastRow> rows;
  static thread_local std::vector<float> d;
  rows.clear();
  d.assign(n, 0.0f);
  for (std::size_t i = 0; i < n; ++i) {
    rows.emplace_back(level, i);
    level.q[i] = 0.0f;
  }
  LastSweeps sweeps(level.extent);
  float *from = level.q.data, *to = level.t.data;
  for (int step = 0; step < sweeps.count; ++step, std::swap(from, to)) {
    float keep, take;
    sweeps.next(step, keep, take);
    for (std::size_t i = 0; i < n; ++i) {
      d[i] = keep * d[i] + take * rows[i].jacobi(from, from[i]);
      to[i] = from[i] + d[i];
    }
  }
  if (from != level.q.data) std::copy_n(from, n, level.q.data);
}

inline void cycle(Cpu& device, const PoissonLevels& levels, double* bq) {
  go_down(device, levels, 0);
  go_down_and_up(device, levels, 1);
  go_up_finest(device, levels, bq);
}

inline bool solves_in_one_launch(const Cpu&, const PoissonLevel&) {
  return false;
}
inline void iterate(Cpu& device, const ConjugateGradients& how, double /*share*/, double* sums,
                    PoissonReport* report) {
  *report = how(device, sums);
}

}  // namespace barchan
