// The faces around one tile, copied into arrays without gaps: particles of the tile read them
// several at a time.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "compute/lanes.h"
#include "solvers/flip/transfer_kernels.h"

namespace barchan::flip {

class DenseWindow {
 public:
  // All cells within `margin` (at most 8) of the tile; 0 where there is no tile.
  void copy(const TileView& tiles, std::uint32_t tile, const ConstFaceView& faces, int margin) {
    margin_ = margin;
    edge_ = kTileEdge + 2 * margin;
    const std::size_t cells = static_cast<std::size_t>(edge_) * static_cast<std::size_t>(edge_) *
                              static_cast<std::size_t>(edge_);
    for (int a = 0; a < 3; ++a) {
      numbers_[a].resize(cells);
      float* to = numbers_[a].data();
      for (int z = -margin; z < kTileEdge + margin; ++z) {
        for (int y = -margin; y < kTileEdge + margin; ++y) {
          to = copy_row(tiles, tile, faces.of[a], y, z, to);
        }
      }
    }
  }

  BARCHAN_INLINE void corners(int a, const LaneMask& i, const LaneMask& j, const LaneMask& k,
                              Lanes* v) const {
    const LaneMask at = ((k + margin_) * edge_ + j + margin_) * edge_ + i + margin_;
    const float* numbers = numbers_[a].data();
    for (int corner = 0; corner < 8; ++corner) {
      const int step = ((corner >> 2) * edge_ + (corner >> 1 & 1)) * edge_ + (corner & 1);
      v[corner] = gather(numbers + step, at);
    }
  }

 private:
  float* copy_row(const TileView& tiles, std::uint32_t tile, View<const float> from, int y, int z,
                  float* to) const {
    const auto part = [&](int begin, int count) {
      const std::uint32_t cell = tiles.cell(tile, begin, y, z);
      const auto n = static_cast<std::size_t>(count);
      if (cell == kNoCell) {
        std::fill_n(to, n, 0.0f);
      } else {
        std::memcpy(to, from.data + cell, n * sizeof(float));
      }
      to += count;
    };
    part(-margin_, margin_);
    part(0, kTileEdge);
    part(kTileEdge, margin_);
    return to;
  }

  int margin_ = 0, edge_ = 0;
  std::vector<float> numbers_[3];
};

// The particles of each tile.
struct CarryTiles {
  const CarryParticles& all;
  int margin;  // cells around a tile that its particles' ways may read

  void range(int begin, int end) const {
    static thread_local DenseWindow u, change, shift;
    for (int tile = begin; tile < end; ++tile) {
      const auto t = static_cast<std::uint32_t>(tile);
      const std::uint32_t first = all.tiles.start[std::size_t{t} * kTileCells];
      const std::uint32_t last = all.tiles.start[(std::size_t{t} + 1) * kTileCells];
      if (first == last) continue;
      u.copy(all.tiles, t, all.u, margin);
      shift.copy(all.tiles, t, all.shift, 1);
      if (all.carry.ratio > 0.0f) change.copy(all.tiles, t, all.change, 1);
      const Vec3 origin = all.tiles.frame.origin, corner = all.first_cell(t);
      for (std::uint32_t i = first; i < last; i += kLanes) {
        carry(u, change, shift, origin, corner, i, static_cast<int>(last - i));
      }
    }
  }

 private:
  // As many particles as a vector holds, or as are left.
  void carry(const DenseWindow& u, const DenseWindow& change, const DenseWindow& shift,
             const Vec3& origin, const Vec3& corner, std::uint32_t i, int count) const {
    const float inverse = all.tiles.frame.inverse_size, size = all.tiles.frame.size;
    const float* x[3] = {all.x.x + i, all.x.y + i, all.x.z + i};
    float* v[3] = {all.v.x + i, all.v.y + i, all.v.z + i};
    float* to[3] = {all.moved_to.x + i, all.moved_to.y + i, all.moved_to.z + i};
    Carry::Particle<Lanes> p;
    Lanes from[3], start[3];
    for (int a = 0; a < 3; ++a) {
      // Empty lanes stand in the tile's first cell.
      from[a] = load_first(x[a], count);
      const Lanes s = (from[a] - origin[a]) * inverse - corner[a];
      start[a] = p.place[a] = keep_first(s, count, 0.5f);
      p.v[a] = load_first(v[a], count);
    }
    all.note(largest_of(keep_first(all.carry(u, change, shift, p), count, 0.0f)));
    for (int a = 0; a < 3; ++a) {
      store_first(v[a], p.v[a], count);
      store_first(to[a], from[a] + size * (p.place[a] - start[a]), count);
    }
    if (all.cx.size == 0) return;
    const View3<float>* rows[3] = {&all.cx, &all.cy, &all.cz};
    for (int a = 0; a < 3; ++a) {
      store_first(rows[a]->x + i, p.slope[a][0], count);
      store_first(rows[a]->y + i, p.slope[a][1], count);
      store_first(rows[a]->z + i, p.slope[a][2], count);
    }
  }
};

}  // namespace barchan::flip
