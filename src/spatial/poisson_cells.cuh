// How a GPU runs the kernels of poisson_kernels.h: a thread a cell.
#pragma once

#include "compute/grid.cuh"
#include "compute/reduce_ops.h"
#include "spatial/poisson_schedule.h"
#include "spatial/poisson_storeys.h"

namespace barchan {

// Neighbours are looked up without a branch: within the tile, the tile around it is itself.
template <int E>
class OneCell {
 public:
  __device__ OneCell(const LevelTiles& level, int cell)
      : level_(level), cell_(static_cast<unsigned>(cell)) {}

  __device__ bool in_row_of_unknowns() const {
    if (level_.rows.size == 0) return true;
    const unsigned row = cell_ / E % (E * E);
    return (level_.rows.data[tile() * 2 + row / 32] >> (row % 32) & 1u) != 0;
  }

  template <class Field>
  __device__ float here(const Field& f) const {
    return load(f, cell_);
  }
  template <class Field>
  __device__ float left(const Field& f) const {
    return load(f, next<1, -1>());
  }
  template <class Field>
  __device__ float right(const Field& f) const {
    return load(f, next<1, 1>());
  }
  template <class Field>
  __device__ float front(const Field& f) const {
    return load(f, next<E, -1>());
  }
  template <class Field>
  __device__ float back(const Field& f) const {
    return load(f, next<E, 1>());
  }
  template <class Field>
  __device__ float below(const Field& f) const {
    return load(f, next<E * E, -1>());
  }
  template <class Field>
  __device__ float above(const Field& f) const {
    return load(f, next<E * E, 1>());
  }
  __device__ void put(View<float> f, float value) const { f.data[cell_] = value; }

  static __device__ float size_of(float a) { return a == a ? fabsf(a) : INFINITY; }
  static __device__ float inverse(float a) { return a > 0.0f ? 1.0f / a : 0.0f; }

 private:
  static __device__ float load(const Product& f, unsigned i) { return f.a.data[i] * f.b.data[i]; }
  static __device__ float load(const Combined& f, unsigned i) {
    return f.a.data[i] + f.by * f.b.data[i];
  }
  static __device__ float load(View<const float> f, unsigned i) { return f.data[i]; }
  __device__ unsigned tile() const { return cell_ / (E * E * E); }
  // One further along the axis of that stride.
  template <int kStride, int kWay>
  __device__ unsigned next() const {
    constexpr int kTurn = kStride == 1 ? 1 : (kStride == E ? 3 : 9);
    const unsigned at = cell_ / kStride % E;
    const bool leaves = at == (kWay > 0 ? E - 1 : 0);
    const unsigned of = level_.around.data[tile() * 27 + kMiddle + (leaves ? kWay * kTurn : 0)];
    const unsigned place = cell_ % (E * E * E) + (leaves ? -kWay * (E - 1) : kWay) * kStride;
    return of * (E * E * E) + place;
  }

  const LevelTiles& level_;
  unsigned cell_;
};

template <int E, class Kernel>
struct OverCells {
  LevelTiles level;
  Kernel kernel;
  __device__ void operator()(int i) const {
    const OneCell<E> at(level, i);
    if (at.in_row_of_unknowns()) (void)kernel(at);
  }
};

template <int E, class T, class Kernel>
struct ValueOfCells {
  LevelTiles level;
  Kernel kernel;
  __device__ T operator()(int i) const {
    const OneCell<E> at(level, i);
    return at.in_row_of_unknowns() ? static_cast<T>(kernel(at)) : T{};
  }
};

template <int E>
HD std::int64_t cells_of(const LevelTiles& level) {
  return static_cast<std::int64_t>(level.tiles) * (E * E * E);
}

// The device is the GPU as the host sees it, or the threads of a launch.
HD_SCHEDULE
template <int E, class Device, class Kernel>
HD void over_cells(Device& device, const char* label, const LevelTiles& level,
                   const Kernel& kernel) {
  for_each(device, label, cells_of<E>(level), OverCells<E, Kernel>{level, kernel});
}

HD_SCHEDULE
template <int E, class Device, class Kernel>
HD void sum_over_cells(Device& device, const char* label, const LevelTiles& level,
                       const Kernel& kernel, double* result) {
  reduce_to<Sum<double>>(device, label, cells_of<E>(level),
                         ValueOfCells<E, double, Kernel>{level, kernel}, result);
}

HD_SCHEDULE
template <int E, class Device, class Kernel>
HD float largest_over_cells(Device& device, const char* label, const LevelTiles& level,
                            const Kernel& kernel) {
  return reduce<Largest<float>>(device, label, cells_of<E>(level),
                                ValueOfCells<E, float, Kernel>{level, kernel});
}

HD_SCHEDULE
template <int E, class Device>
HD void between_levels(Device& device, const char* label, const Prolong<E>& kernel) {
  for_each(device, label, cells_of<E>(kernel.level), kernel);
}
// Eight threads a coarse cell, each of which adds up 2^3 of the 4^3 cells.
template <int E>
struct RestrictByEight {
  static constexpr int C = E / 2;
  Restrict<E> kernel;
  __device__ void operator()(int at) const {
    const int to = at / 8, eighth = at % 8, place = to % (C * C * C);
    const auto tile = static_cast<std::size_t>(to / (C * C * C));
    const int i0 = (eighth & 1) * 2 - 1, j0 = (eighth & 2) - 1, k0 = (eighth >> 2) * 2 - 1;
    const int x = place % C * 2, y = place / C % C * 2, z = place / (C * C) * 2;
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < 8; ++n) {
      const int i = i0 + (n & 1), j = j0 + (n >> 1 & 1), k = k0 + (n >> 2);
      const std::size_t of = cell_near<E>(kernel.level, tile, x + i, y + j, z + k);
      sum += kernel.share(i) * kernel.share(j) * kernel.share(k) * kernel.residual[of];
    }
    const unsigned others = 0xffu << (threadIdx.x % 32 / 8 * 8);
    for (int step = 1; step < 8; step *= 2) sum += __shfl_xor_sync(others, sum, step);
    if (eighth == 0) kernel.coarse[static_cast<std::size_t>(to)] = sum;
  }
};
HD_SCHEDULE
template <int E, class Device>
HD void between_levels(Device& device, const char* label, const Restrict<E>& kernel) {
  for_each(device, label, cells_of<E / 2>(kernel.level) * 8, RestrictByEight<E>{kernel});
}

// A cell's weight at once: P_0 of ones is the sum of the shares that fall on unknowns.
template <int E>
struct WeighAtOnce {
  LevelTiles level;
  View<const float> inverse, anchor, coarse;  // coarse: the inverse there
  View<float> weight;                         // out
  __device__ void operator()(int at) const {
    const auto cell = static_cast<std::size_t>(at);
    weight[cell] = 0.0f;
    if (!(inverse[cell] > 0.0f)) return;
    float n = 1.0f;
    if (!(anchor[cell] > 0.0f)) {
      n = 0.0f;
      prolong_shares<E>(
          level, at, [&](std::size_t of, float share) { n += coarse[of] > 0.0f ? share : 0.0f; });
    }
    weight[cell] = n > 0.0f ? 1.0f / n : 0.0f;
  }
};
HD_SCHEDULE
template <int E, class Device>
HD void weigh(Device& device, const PoissonLevel& fine, const PoissonLevel& coarse) {
  for_each(device, "poisson: weights", fine.cells(),
           WeighAtOnce<E>{fine.tiles, fine.inverse, fine.anchor, coarse.inverse, fine.weight});
}

// A thread a cell, and all steps in shared memory.
static_assert(kLastCells <= kGridThreads);
__device__ inline void solve_last(Block& block, const PoissonLevel& level) {
  __shared__ float turns[2][kLastCells + 1];  // the last one is 0: no tile
  if (level.tiles.tiles == 0) return;
  const std::size_t i = threadIdx.x;
  const bool mine = i < level.tiles.tiles;
  const LastRow row(level, mine ? i : 0);
  LastSweeps sweeps(level.extent);
  float q = 0.0f, d = 0.0f;
  if (mine) turns[0][i] = 0.0f;
  if (i == 0) turns[0][level.tiles.tiles] = turns[1][level.tiles.tiles] = 0.0f;
  block.wait();
  for (int step = 0; step < sweeps.count; ++step) {
    float keep, take;
    sweeps.next(step, keep, take);
    if (mine) {
      d = keep * d + take * row.jacobi(turns[step % 2], q);
      q += d;
      turns[1 - step % 2][i] = q;
    }
    block.wait();
  }
  if (mine) level.q.data[i] = q;
  block.wait();
}

// ---- Coarse levels in one launch. The last of them, those of few cells, are left to one block,
// which has them in its shared memory: their stages are shorter than a barrier among blocks.

inline constexpr std::size_t kFewBytes = 200 * 1024;
inline constexpr std::int64_t kFewCells = kGridThreads;

struct FewLevels {
  PoissonLevels levels;  // as the block has them

  // What a level needs, with the tile of zeros.
  HD static std::size_t words(const PoissonLevel& level) {
    return level.x.size * PoissonLevel::kFields + level.tiles.around.size;
  }
  // The first of the levels that fit; never the finest, whose sum is for conjugate gradients, and
  // always the last one.
  static int first_of(const PoissonLevels& all) {
    std::size_t bytes = words(all.level[all.count - 1]) * 4;
    int first = all.count - 1;
    while (first > 1 && all.level[first - 1].cells() <= kFewCells) {
      bytes += words(all.level[first - 1]) * 4;
      if (bytes > kFewBytes) break;
      --first;
    }
    return first;
  }

  template <class T>
  __device__ static View<T> copied(View<const T> from, std::uint32_t*& room) {
    T* to = reinterpret_cast<T*>(room);
    for (auto i = std::size_t{threadIdx.x}; i < from.size; i += blockDim.x) to[i] = from[i];
    room += from.size;
    return {to, from.size};
  }
  // By all threads of a block. The first one's b and q stay where the other blocks see them.
  __device__ void take(const PoissonLevels& all, int first, std::uint32_t* room) {
    for (int l = first; l < all.count; ++l) {
      PoissonLevel mine = all.level[l];
      for (View<float>* field :
           {&mine.x, &mine.y, &mine.z, &mine.anchor, &mine.inverse, &mine.weight, &mine.t}) {
        *field = copied<float>(*field, room);
      }
      if (l > first) {
        mine.b = copied<float>(mine.b, room);
        mine.q = copied<float>(mine.q, room);
      }
      mine.tiles.around = copied<std::uint32_t>(mine.tiles.around, room);
      mine.tiles.rows = {};
      if (threadIdx.x == 0) levels.level[l - first] = mine;
    }
    if (threadIdx.x == 0) levels.count = all.count - first;
    __syncthreads();
  }
};

// The threads of a launch, whose first block has the last levels.
class PoissonGrid : public Grid {
 public:
  __device__ PoissonGrid(const Memory& memory, const PoissonLevels& all, int first, FewLevels& few,
                         std::uint32_t* room)
      : Grid(memory), first_(first), few_(few) {
    if (blockIdx.x == 0) few_.take(all, first, room);
  }
  __device__ int first_of_few() const { return first_; }
  __device__ void few() {
    if (blockIdx.x == 0) {
      Block block;
      go_down_and_up(block, few_.levels, 0);
    }
    wait();
  }

 private:
  int first_;
  FewLevels& few_;
};

__device__ inline void coarse_levels(PoissonGrid& grid, const PoissonLevels& levels) {
  const int few = grid.first_of_few();
  for (int l = 1; l < few; ++l) go_down(grid, levels, l);
  grid.few();
  for (int l = few; l-- > 1;) go_up(grid, levels, l);
}
__device__ inline void cycle(PoissonGrid& grid, const PoissonLevels& levels, double* bq) {
  go_down(grid, levels, 0);
  coarse_levels(grid, levels);
  go_up_finest(grid, levels, bq);
}

struct CoarseLevels {
  PoissonLevels levels;
  int first_of_few;
};
static __global__ void __launch_bounds__(kGridThreads, 1)
    run_coarse_levels(const __grid_constant__ CoarseLevels of, Grid::Memory memory) {
  extern __shared__ std::uint32_t room[];
  __shared__ FewLevels few;
  PoissonGrid grid(memory, of.levels, of.first_of_few, few, room);
  coarse_levels(grid, of.levels);
}

inline void cycle(Cuda& device, const PoissonLevels& levels, double* bq) {
  static const AtOnce<CoarseLevels> coarse(device, run_coarse_levels, kGridThreads, kFewBytes);
  go_down(device, levels, 0);
  coarse.launch(device, "poisson: coarse", levels.level[1].cells(),
                {levels, FewLevels::first_of(levels)});
  go_up_finest(device, levels, bq);
}

// ---- All iterations in one launch, where there are few cells; nobody waits within.

inline constexpr std::int64_t kCellsInOneLaunch = 1 << 21;

struct SolveAtOnce {
  ConjugateGradients how;
  int first_of_few;
  PoissonReport* report;  // out
};
static __global__ void __launch_bounds__(kGridThreads, 1)
    run_solve(const __grid_constant__ SolveAtOnce of, Grid::Memory memory) {
  extern __shared__ std::uint32_t room[];
  __shared__ FewLevels few;
  __shared__ double sums[kCgSums];
  PoissonGrid grid(memory, of.how.levels, of.first_of_few, few, room);
  const PoissonReport report = of.how(grid, sums);
  if (grid.first() == 0) *of.report = report;
}

inline bool solves_in_one_launch(const Cuda&, const PoissonLevel& finest) {
  return finest.cells() <= kCellsInOneLaunch;
}
// share: of the GPU.
inline void iterate(Cuda& device, const ConjugateGradients& how, double share, double* sums,
                    PoissonReport* report) {
  const std::int64_t cells = how.levels.level[0].cells();
  if (!solves_in_one_launch(device, how.levels.level[0])) {
    *report = how(device, sums);
    return;
  }
  static const AtOnce<SolveAtOnce> solve(device, run_solve, kGridThreads, kLastCells, kFewBytes);
  SolveAtOnce at_once{how, FewLevels::first_of(how.levels), report};
  // Rows without unknowns are all zeros: here it takes longer to ask than to go over them.
  for (PoissonLevel& level : at_once.how.levels.level) level.tiles.rows = {};
  solve.launch(device, "poisson: solve", cells, at_once, share);
}

}  // namespace barchan
