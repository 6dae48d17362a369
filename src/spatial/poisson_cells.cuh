// How a GPU runs the kernels of poisson_kernels.h: a thread a cell.
#pragma once

#include "compute/grid.cuh"
#include "compute/reduce_ops.h"
#include "spatial/poisson_schedule.h"

namespace barchan {

template <int E>
class OneCell {
 public:
  __device__ OneCell(const LevelTiles& level, int cell)
      : level_(level),
        cell_(static_cast<std::size_t>(cell)),
        x_(cell % E),
        y_(cell / E % E),
        z_(cell / (E * E) % E) {}

  __device__ bool in_row_of_unknowns() const {
    if (level_.rows.size == 0) return true;
    const int row = z_ * E + y_;
    return (level_.rows[tile() * 2 + row / 32] >> (row % 32) & 1u) != 0;
  }

  template <class Field>
  __device__ float here(const Field& f) const {
    return load(f, cell_);
  }
  template <class Field>
  __device__ float left(const Field& f) const {
    return load(f, x_ > 0 ? cell_ - 1 : beside(kMiddle - 1) + (E - 1));
  }
  template <class Field>
  __device__ float right(const Field& f) const {
    return load(f, x_ < E - 1 ? cell_ + 1 : beside(kMiddle + 1) - (E - 1));
  }
  template <class Field>
  __device__ float front(const Field& f) const {
    return load(f, y_ > 0 ? cell_ - E : beside(kMiddle - 3) + (E - 1) * E);
  }
  template <class Field>
  __device__ float back(const Field& f) const {
    return load(f, y_ < E - 1 ? cell_ + E : beside(kMiddle + 3) - (E - 1) * E);
  }
  template <class Field>
  __device__ float below(const Field& f) const {
    return load(f, z_ > 0 ? cell_ - E * E : beside(kMiddle - 9) + (E - 1) * E * E);
  }
  template <class Field>
  __device__ float above(const Field& f) const {
    return load(f, z_ < E - 1 ? cell_ + E * E : beside(kMiddle + 9) - (E - 1) * E * E);
  }
  __device__ void put(View<float> f, float value) const { f[cell_] = value; }

  static __device__ float size_of(float a) { return a == a ? fabsf(a) : INFINITY; }
  static __device__ float inverse(float a) { return a > 0.0f ? 1.0f / a : 0.0f; }

 private:
  static __device__ float load(const Product& f, std::size_t i) { return f.a[i] * f.b[i]; }
  static __device__ float load(View<const float> f, std::size_t i) { return f[i]; }
  __device__ std::size_t tile() const { return cell_ / (E * E * E); }
  // The same place in another tile.
  __device__ std::size_t beside(std::size_t of) const {
    return std::size_t{level_.around[tile() * 27 + of]} * (E * E * E) + cell_ % (E * E * E);
  }

  const LevelTiles& level_;
  std::size_t cell_;
  int x_, y_, z_;
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
HD_SCHEDULE
template <int E, class Device>
HD void between_levels(Device& device, const char* label, const Restrict<E>& kernel) {
  for_each(device, label, cells_of<E / 2>(kernel.level), kernel);
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
      prolong_shares<E>(level, at, [&](std::size_t of, float share) {
        n += coarse[of] > 0.0f ? share : 0.0f;
      });
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

// ---- Coarse levels in one launch. The last of them, as many as its shared memory holds, are left
// to one block: their stages are shorter than a barrier among blocks.

inline constexpr std::size_t kFewBytes = 200 * 1024;

struct FewLevels {
  PoissonLevels levels;  // as the block has them

  // What a level needs, with the tile of zeros.
  HD static std::size_t words(const PoissonLevel& level) {
    return level.x.size * PoissonLevel::kFields + level.tiles.tiles * (27 + 2);
  }
  // The first of the levels that fit; never the finest, whose sum is for conjugate gradients.
  static int first_of(const PoissonLevels& all) {
    std::size_t bytes = 0;
    int first = all.count;
    while (first > 1) {
      bytes += words(all.level[first - 1]) * 4;
      if (bytes > kFewBytes) break;
      --first;
    }
    return first;
  }

  template <class T>
  __device__ static View<T> copied(View<const T> from, std::uint32_t*& room) {
    T* to = reinterpret_cast<T*>(room);
    for (auto i = std::size_t{threadIdx.x}; i < from.size; i += kGridThreads) to[i] = from[i];
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
      mine.tiles.rows = copied<std::uint32_t>(mine.tiles.rows, room);
      if (threadIdx.x == 0) levels.level[l - first] = mine;
    }
    if (threadIdx.x == 0) levels.count = all.count - first;
    __syncthreads();
  }
};

// The threads of a launch, whose first block has the last levels.
class PoissonGrid : public Grid {
 public:
  __device__ PoissonGrid(char* parts, const PoissonLevels& all, int first, FewLevels& few,
                         std::uint32_t* room)
      : Grid(parts), first_(first), few_(few) {
    if (blockIdx.x == 0) few_.take(all, first, room);
  }
  __device__ int first_of_few() const { return first_; }
  __device__ void few() {
    if (blockIdx.x == 0) {
      Block block;
      go_down_and_up(block, few_.levels, 0, few_.levels.count);
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
    run_coarse_levels(const __grid_constant__ CoarseLevels of, char* parts) {
  extern __shared__ std::uint32_t room[];
  __shared__ FewLevels few;
  PoissonGrid grid(parts, of.levels, of.first_of_few, few, room);
  coarse_levels(grid, of.levels);
}

inline void cycle(Cuda& device, const PoissonLevels& levels, double* bq) {
  static const int most = blocks_at_once(device, run_coarse_levels, kFewBytes);
  go_down(device, levels, 0);
  launch_at_once<CoarseLevels>(device, "poisson: coarse", levels.level[1].cells(), kFewBytes,
                               run_coarse_levels, most, {levels, FewLevels::first_of(levels)});
  go_up_finest(device, levels, bq);
}

// ---- All iterations in one launch, where there are few cells; nobody waits within.

inline constexpr std::int64_t kCellsInOneLaunch = 1 << 18;

struct SolveAtOnce {
  ConjugateGradients how;
  int first_of_few;
  PoissonReport* report;  // out
};
static __global__ void __launch_bounds__(kGridThreads, 1)
    run_solve(const __grid_constant__ SolveAtOnce of, char* parts) {
  extern __shared__ std::uint32_t room[];
  __shared__ FewLevels few;
  __shared__ double sums[kCgSums];
  PoissonGrid grid(parts, of.how.levels, of.first_of_few, few, room);
  const PoissonReport report = of.how(grid, sums);
  if (grid.first() == 0) *of.report = report;
}

inline PoissonReport iterate(Cuda& device, const ConjugateGradients& how, double* sums) {
  const std::int64_t cells = how.levels.level[0].cells();
  static const std::int64_t few = getenv("B_SOLVE") ? atoll(getenv("B_SOLVE")) : kCellsInOneLaunch;
  if (cells > few) return how(device, sums);
  static const int most = blocks_at_once(device, run_solve, kFewBytes);
  auto* report = static_cast<PoissonReport*>(device.mailbox());
  launch_at_once<SolveAtOnce>(device, "poisson: solve", cells, kFewBytes, run_solve, most,
                              {how, FewLevels::first_of(how.levels), report});
  device.wait();
  return *report;
}

}  // namespace barchan
