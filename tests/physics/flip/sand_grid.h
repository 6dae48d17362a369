// What flip keeps of sand's stresses from step to step, read by place instead of by number.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "physics/fluid.h"
#include "solvers/flip/liquid_kernels.h"

namespace barchan {

class KeptStresses {
 public:
  using Cell = std::array<int, 3>;

  explicit KeptStresses(const State& state)
      : tile_(read(state, "grid_tile")),
        stress_(read(state, "grid_stress")),
        pressure_(read(state, "grid_pressure")),
        kind_(read(state, "grid_kind")) {
    for (std::size_t t = 0; t < tile_.size; ++t) place_[tile_.component<std::uint64_t>(0)[t]] = t;
  }

  // f(cell) of each cell with sand.
  template <class F>
  void each(const F& f) const {
    for (const auto& [key, t] : place_) {
      for (std::size_t k = 0; k < kTileCells; ++k) {
        if (kind_.component<std::uint8_t>(0)[t * kTileCells + k] == flip::kAir) continue;
        const auto corner = [key = key](int a) {
          return (static_cast<int>(key >> (21 * a) & 0x1fffffu) - (1 << 20)) * kTileEdge;
        };
        f(Cell{corner(0) + static_cast<int>(k % 8), corner(1) + static_cast<int>(k / 8 % 8),
               corner(2) + static_cast<int>(k / 64)});
      }
    }
  }
  // Component k (xx, yy, zz in the middle; yz, zx, xy on low edges) [Pa]; 0 where there is none.
  double stress(int k, const Cell& cell) const {
    const std::size_t at = find(cell);
    return at == kNone ? 0.0 : static_cast<double>(stress_.component<float>(k)[at]);
  }
  // Of sand that is pressed; 0 where it has come apart.
  double pressure(const Cell& cell) const {
    const std::size_t at = find(cell);
    if (at == kNone || kind_.component<std::uint8_t>(0)[at] != flip::kLiquid) return 0.0;
    return static_cast<double>(pressure_.component<float>(0)[at]);
  }
  // |s| with the mean size of what is on a cell's four edges along each axis, for both s_bc and
  // s_cb.
  double size(const Cell& cell) const {
    double squares = 0.0;
    for (int a = 0; a < 3; ++a) {
      double edges = 0.0;
      for (int k = 0; k < 4; ++k) {
        Cell at = cell;
        at[static_cast<std::size_t>((a + 1) % 3)] += k & 1;
        at[static_cast<std::size_t>((a + 2) % 3)] += k >> 1;
        edges += std::abs(stress(3 + a, at)) / 4.0;
      }
      const double normal = stress(a, cell);
      squares += normal * normal + 2.0 * edges * edges;
    }
    return std::sqrt(squares);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  static HostColumn read(const State& state, const char* name) {
    return download(state.device(), *state.kept(name));
  }
  std::size_t find(const Cell& cell) const {
    std::uint64_t key = 0;
    std::size_t place = 0;
    for (std::size_t a = 3; a-- > 0;) {
      key = key << 21 | static_cast<std::uint64_t>((cell[a] >> 3) + (1 << 20));
      place = place * 8 + static_cast<std::size_t>(cell[a] & 7);
    }
    const auto found = place_.find(key);
    return found == place_.end() ? kNone : found->second * kTileCells + place;
  }

  HostColumn tile_, stress_, pressure_, kind_;
  std::map<std::uint64_t, std::size_t> place_;
};

}  // namespace barchan
