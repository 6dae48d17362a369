// What fills each cell, in scenes with several materials that differ: the mean of the particles in
// it.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

// A material as the grid sees it.
struct Stuff {
  float lightness;  // density of the first material over its own
  float friction;   // what the shear strength grows by with pressure; 0: a fluid
  float cohesion;   // strength without pressure [Pa]
};

// Empty views: the same everywhere.
struct StuffView {
  View<const float> lightness, friction, cohesion;
  HD float lightness_of(std::uint32_t cell) const {
    return lightness.size > 0 ? lightness[cell] : 1.0f;
  }
  // Between two cells, one of which may not be there: one over the mean density.
  HD float lightness_between(std::uint32_t a, std::uint32_t b) const {
    if (lightness.size == 0) return 1.0f;
    const float la = lightness[a], lb = b == kNoCell ? la : lightness[b];
    return 2.0f * la * lb / (la + lb);
  }
};

struct StuffOfCells {
  TileView tiles;
  View<const std::uint8_t> material;
  View<const Stuff> table;
  View<float> lightness, friction, cohesion;  // out

  struct Mean {
    float density = 0.0f, friction = 0.0f, cohesion = 0.0f, count = 0.0f;
  };
  HD void add(std::uint32_t cell, Mean& sum) const {
    for (std::uint32_t i = tiles.start[cell]; i < tiles.start[cell + 1]; ++i) {
      const Stuff& of = table[material[i]];
      sum.density += 1.0f / of.lightness;
      sum.friction += of.friction;
      sum.cohesion += of.cohesion;
      sum.count += 1.0f;
    }
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    Mean sum;
    add(cell, sum);
    const bool empty = !(sum.count > 0.0f);
    for (int k = 0; k < 27 && empty; ++k) {  // it is as the cells around it
      const std::uint32_t at = tiles.beside(cell, k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
      if (at != kNoCell) add(at, sum);
    }
    const float each = sum.count > 0.0f ? 1.0f / sum.count : 0.0f;
    lightness[cell] = sum.count > 0.0f ? sum.count / sum.density : 1.0f;
    friction[cell] = each * sum.friction;
    cohesion[cell] = each * sum.cohesion;
  }
};

}  // namespace barchan::flip
