// How a GPU runs the kernels of poisson_kernels.h: a thread a cell.
#pragma once

#include "compute/cuda.cuh"
#include "compute/reduce_ops.h"
#include "spatial/poisson_kernels.h"

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
std::int64_t cells_of(const LevelTiles& level) {
  return static_cast<std::int64_t>(level.tiles) * (E * E * E);
}

template <int E, class Kernel>
void over_cells(Cuda& device, const char* label, const LevelTiles& level, const Kernel& kernel) {
  for_each(device, label, cells_of<E>(level), OverCells<E, Kernel>{level, kernel});
}

template <int E, class Kernel>
void sum_over_cells(Cuda& device, const char* label, const LevelTiles& level, const Kernel& kernel,
                    double* result) {
  reduce_to<Sum<double>>(device, label, cells_of<E>(level),
                         ValueOfCells<E, double, Kernel>{level, kernel}, result);
}

template <int E, class Kernel>
float largest_over_cells(Cuda& device, const char* label, const LevelTiles& level,
                         const Kernel& kernel) {
  return reduce<Largest<float>>(device, label, cells_of<E>(level),
                                ValueOfCells<E, float, Kernel>{level, kernel});
}

template <int E>
void between_levels(Cuda& device, const char* label, const Prolong<E>& kernel) {
  for_each(device, label, cells_of<E>(kernel.level), kernel);
}
template <int E>
void between_levels(Cuda& device, const char* label, const Restrict<E>& kernel) {
  for_each(device, label, cells_of<E / 2>(kernel.level), kernel);
}

// ---- Levels of few cells: all in one launch. Each of their stages takes less time than it takes
// to start it, so one block does them one after the other.

template <>
inline constexpr std::int64_t kFewCells<Cuda> = 4096;

struct FewLevels {
  int count;
  PoissonLevel level[kMostFewLevels];
};
static_assert(sizeof(FewLevels) <= 4096, "a launch takes no more arguments");

inline constexpr int kFewThreads = 1024;

template <class Kernel>
__device__ void in_block(std::int64_t n, const Kernel& kernel) {
  for (auto i = static_cast<int>(threadIdx.x); i < n; i += kFewThreads) kernel(i);
  __syncthreads();
}
template <int E, class Kernel>
__device__ void cells_in_block(const PoissonLevel& level, const Kernel& kernel) {
  in_block(level.cells(), OverCells<E, Kernel>{level.tiles, kernel});
}

template <int E>
__device__ void few_down(const PoissonLevel& fine, const PoissonLevel& coarse) {
  cells_in_block<E>(fine, fine.smooth_from_zero());
  cells_in_block<E>(fine, fine.residual());
  in_block(coarse.cells(), fine.restrict_to<E>(coarse));
}
template <int E>
__device__ void few_up(const PoissonLevel& fine, const PoissonLevel& coarse) {
  in_block(fine.cells(), fine.prolong_from<E>(coarse));
  cells_in_block<E>(fine, fine.smooth_first());
  cells_in_block<E>(fine, fine.smooth_last());
}

static __global__ void __launch_bounds__(kFewThreads)
    run_few_levels(const __grid_constant__ FewLevels few) {
  for (int l = 0; l + 1 < few.count; ++l) {
    const PoissonLevel &here = few.level[l], &next = few.level[l + 1];
    if (here.edge == 8) few_down<8>(here, next);
    if (here.edge == 4) few_down<4>(here, next);
    if (here.edge == 2) few_down<2>(here, next);
    if (here.edge == 1) in_block(next.cells(), here.climb_to(next));
  }
  const PoissonLevel& last = few.level[few.count - 1];
  in_block(last.cells(), last.solve_last());
  for (int l = few.count - 1; l-- > 0;) {
    const PoissonLevel &here = few.level[l], &next = few.level[l + 1];
    if (here.edge == 8) few_up<8>(here, next);
    if (here.edge == 4) few_up<4>(here, next);
    if (here.edge == 2) few_up<2>(here, next);
    if (here.edge == 1) in_block(here.cells(), here.descend_from(next));
  }
}

inline void few_levels(Cuda& device, const char* label, const PoissonLevel* levels,
                       std::size_t count) {
  const CudaTimer timer(device, label);
  FewLevels few{static_cast<int>(count), {}};
  for (std::size_t l = 0; l < count; ++l) few.level[l] = levels[l];
  run_few_levels<<<1, kFewThreads, 0, device.stream()>>>(few);
  check_cuda(cudaGetLastError(), label);
}

}  // namespace barchan
