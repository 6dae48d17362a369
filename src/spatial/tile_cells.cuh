// How the threads of one launch run the kernels that tile_rows_cpu.h speaks of: a thread a cell.
#pragma once

#include "compute/grid.cuh"
#include "compute/reduce_ops.h"
#include "spatial/tile_layers.h"

namespace barchan {

class CellOfTile {
 public:
  using Number = float;

  __device__ CellOfTile(const TileView& tiles, std::uint32_t cell) : tiles_(tiles), cell_(cell) {}
  CellOfTile(const CellOfTile&) = delete;
  CellOfTile& operator=(const CellOfTile&) = delete;

  __device__ float here(View<const float> f) const { return f[cell_]; }
  template <int DX, int DY, int DZ>
  __device__ float near(View<const float> f) const {
    const std::uint32_t at = tiles_.beside(cell_, DX, DY, DZ);
    return at == kNoCell ? 0.0f : f[at];
  }
  // Written when the kernel is done with the cell: loads do not wait for stores that might, for all
  // the compiler knows, be to the same place.
  __device__ void put(View<float> f, float value) const { puts_[count_++] = {&f[cell_], value}; }

  static __device__ float inverse_sqrt(float a) { return rsqrtf(a); }
  static __device__ float absolute(float a) { return fabsf(a); }
  static __device__ float choose(bool which, float a, float b) { return which ? a : b; }

  __device__ ~CellOfTile() {
#pragma unroll
    for (int k = 0; k < kMostPuts; ++k) {
      if (k < count_) *puts_[k].to = puts_[k].value;
    }
  }

 private:
  static constexpr int kMostPuts = 12;
  struct Put {
    float* to;
    float value;
  };
  const TileView& tiles_;
  std::uint32_t cell_;
  mutable Put puts_[kMostPuts];
  mutable int count_ = 0;
};

// ---- Where the cells of a set are: those of a plane one after the other.

struct CountPlanes {
  LayerView set;
  View<std::uint32_t> count;  // out, of each plane; one more: 0
  __device__ void operator()(int plane) const {
    const auto at = static_cast<std::size_t>(plane);
    count[at] = at < set.all.size ? static_cast<std::uint32_t>(__popcll(set.word(at))) : 0;
  }
};
struct ListCells {
  LayerView set;
  View<const std::uint32_t> before;
  View<std::uint32_t> list;  // out
  __device__ void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const std::uint64_t word = set.word(cell / 64), here = std::uint64_t{1} << (cell % 64);
    if (word & here) list[before[cell / 64] + __popcll(word & (here - 1))] = cell;
  }
};
inline void list_cells(Cuda& device, const char* label, const LayerView& set,
                       Buffer<std::uint32_t>& before, Buffer<std::uint32_t>& list) {
  const std::size_t planes = set.all.size;
  before.resize(planes + 1);
  list.resize(planes * 64);
  for_each(device, label, static_cast<std::int64_t>(planes + 1), CountPlanes{set, before.view()});
  device.scan_in_place(label, before.view());
  for_each(device, label, static_cast<std::int64_t>(planes) * 64,
           ListCells{set, before.view(), list.view()});
}

// The cells that a thread of a launch sees to, in all stages the same ones; it keeps the first.
struct ThreadCells {
  TileView tiles;
  const std::uint32_t* list;
  unsigned first, end, step;
  std::uint32_t mine;

  template <class F>
  __device__ void each(const F& f) const {
    if (first < end) f(mine);
    for (unsigned i = first + step; i < end; i += step) f(list[i]);
  }
};
__device__ inline ThreadCells cells_for(Grid& grid, const CellSet& set) {
  const unsigned first = grid.first(), end = set.before[set.before.size - 1];
  return {set.tiles, set.list.data, first, end, grid.threads(), first < end ? set.list[first] : 0};
}

template <class Kernel>
__device__ void for_each_of(Grid& grid, const char*, const ThreadCells& cells,
                            const Kernel& kernel) {
  cells.each([&](std::uint32_t cell) { kernel(static_cast<int>(cell)); });
  grid.wait();
}
template <class Kernel>
__device__ void add_sums(const Kernel& kernel, const CellOfTile& at,
                         CellSums<Kernel::kSums>& sums) {
  float of[Kernel::kSums] = {};
  kernel(at, of);
  for (int k = 0; k < Kernel::kSums; ++k) sums.of[k] += static_cast<double>(of[k]);
}

}  // namespace barchan
