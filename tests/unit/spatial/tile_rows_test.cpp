#include "spatial/tile_rows_cpu.h"

#include <cmath>
#include <vector>

#include "unit/devices.h"

namespace barchan {
namespace {

// Rows of eight against one cell at a time, around tiles with and without neighbours.
class TileRows : public testing::Test {
 protected:
  TileRows() : device(2), grid(device), layers(device) {
    Buffer3 x(device);
    x.upload({{0.5f, 0.5f, 0.5f}, {7.5f, 7.5f, 7.5f}, {8.5f, 3.5f, 15.5f}, {40.5f, 1.5f, 1.5f}});
    grid.build(std::as_const(x).view(), 1.0f, 3);
    const std::size_t cells = grid.view().cells();
    f.resize(cells), g.resize(cells), out.resize(cells, -7.0f);
    std::uint32_t random = 1;
    for (std::size_t c = 0; c < cells; ++c) {
      random = random * 1664525u + 1013904223u;
      f[c] = static_cast<float>(random >> 8) / 16777216.0f - 0.5f;
      g[c] = static_cast<float>(c % 101) - 50.0f;
    }
    layers.build("test", grid.view(), HasPoint{grid.view()}, 2);
  }
  struct HasPoint {
    TileView tiles;
    HD bool operator()(std::uint32_t cell) const {
      return tiles.start[cell] != tiles.start[cell + 1];
    }
  };
  float near(const std::vector<float>& of, std::uint32_t cell, int dx, int dy, int dz) const {
    const std::uint32_t at = grid.view().beside(cell, dx, dy, dz);
    return at == kNoCell ? 0.0f : of[at];
  }
  // Whether the row of eight that a cell lies in has a cell of the set: such rows are walked whole.
  bool walked(std::uint32_t cell) {
    const std::uint64_t plane = layers.within(2).word(cell / 64);
    return (plane >> (cell % 64 / 8 * 8) & 0xffu) != 0;
  }
  static View<const float> view(const std::vector<float>& of) { return {of.data(), of.size()}; }

  Cpu device;
  TileGrid<Cpu> grid;
  TileLayers<Cpu> layers;
  std::vector<float> f, g, out;
};

template <int DX, int DY, int DZ>
struct CopyFrom {
  View<const float> f;
  View<float> out;
  template <class At>
  void operator()(const At& at) const {
    at.put(out, at.template near<DX, DY, DZ>(f));
  }
};

TEST_F(TileRows, ReadTheCellsAroundThem) {
  const auto check = [&]<int DX, int DY, int DZ>() {
    std::fill(out.begin(), out.end(), -7.0f);
    for_each_cell(device, "test", {grid.view(), layers.within(2)},
                  CopyFrom<DX, DY, DZ>{view(f), {out.data(), out.size()}});
    std::size_t rows = 0;
    for (std::uint32_t c = 0; c < out.size(); ++c) {
      const float expected = walked(c) ? near(f, c, DX, DY, DZ) : -7.0f;
      ASSERT_EQ(out[c], expected) << c << ": " << DX << " " << DY << " " << DZ;
      rows += walked(c) ? 1 : 0;
    }
    EXPECT_GT(rows, 0u);
    EXPECT_LT(rows, out.size());
  };
  check.operator()<0, 0, 0>();
  check.operator()<1, 0, 0>();
  check.operator()<-1, 0, 0>();
  check.operator()<0, 1, 0>();
  check.operator()<0, -1, 0>();
  check.operator()<0, 0, 1>();
  check.operator()<0, 0, -1>();
  check.operator()<1, 1, 0>();
  check.operator()<-1, 0, 1>();
  check.operator()<0, -1, -1>();
  check.operator()<-1, -1, -1>();
  check.operator()<1, 1, 1>();
}

struct Choose {
  View<const float> f, g;
  View<float> out;
  template <class At>
  void operator()(const At& at) const {
    const auto a = at.here(f), b = at.here(g);
    at.put(out, At::choose(a > 0.0f, At::inverse_sqrt(At::absolute(b) + 1.0f), 0.0f * a + b));
  }
};

TEST_F(TileRows, ChooseAndTakeRoots) {
  for_each_cell(device, "test", {grid.view(), layers.within(2)},
                Choose{view(f), view(g), {out.data(), out.size()}});
  for (std::uint32_t c = 0; c < out.size(); ++c) {
    if (!walked(c)) continue;
    const float expected = f[c] > 0.0f ? 1.0f / std::sqrt(std::abs(g[c]) + 1.0f) : g[c];
    ASSERT_FLOAT_EQ(out[c], expected) << c;
  }
}

struct SumUp {
  static constexpr int kSums = 2;
  View<const float> f, g;
  template <class At>
  void operator()(const At& at, typename At::Number* sums) const {
    sums[0] += at.here(f);
    sums[1] += at.here(g) * at.here(g);
  }
};

TEST_F(TileRows, SumsAreThoseOfAPlainLoopOnAnyNumberOfThreads) {
  double plain[2] = {};
  for (std::uint32_t c = 0; c < out.size(); ++c) {
    if (!walked(c)) continue;
    plain[0] += static_cast<double>(f[c]);
    plain[1] += static_cast<double>(g[c] * g[c]);
  }
  CellSums<2> first;
  for (const int threads : {1, 2, 3}) {
    Cpu other(threads);
    const CellSums<2> sums =
        sum_cells(other, "test", {grid.view(), layers.within(2)}, SumUp{view(f), view(g)});
    EXPECT_NEAR(sums.of[0], plain[0], 1e-4);
    EXPECT_NEAR(sums.of[1], plain[1], 1e-5 * plain[1]);
    if (threads == 1) first = sums;
    EXPECT_EQ(sums.of[0], first.of[0]);
    EXPECT_EQ(sums.of[1], first.of[1]);
  }
}

}  // namespace
}  // namespace barchan
