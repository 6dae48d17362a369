// Between particles and a MAC grid (Zhu & Bridson 2005, section 4.1; Zhu's thesis, 3.1), one cell
// or one particle at a time, for both devices.
//
//   symbol     meaning                                                              unit
//   dx         edge of a cell                                                       m
//   u, v, w    velocity along x, y, z at the middle of the cell's lower face        m/s
//   h          hat function max(1 - |s|, 0) of a distance in cells                  -
//   c          a particle's affine velocity: row a is grad v_a (APIC)               1/s
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "math/vec3.h"
#include "spatial/cell_sums.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

// The particles' affine velocities (Jiang et al. 2015); empty views: none.
struct AffineView {
  View3<const float> x, y, z;  // grad v_x, grad v_y, grad v_z [1/s]
  HD bool empty() const { return x.size == 0; }
};

// Velocities on faces, and how much particles weigh there; numbers of cells.
struct FacesView {
  View<float> value[3];
  View<float> weight[3];
};

template <class T>
HD inline T hat(T s) {
  return positive(1.0f - absolute(s));
}

// Each face takes the weighted mean of the particles within one cell of it:
//     u_f = sum h (v + c (x_f - x)) / sum h,   h the product of the hats along the axes
template <bool kAffine>
struct FaceSums {
  static constexpr int kSums = 6;
  View3<const float> x, v;  // sorted by cell
  AffineView c;
  Vec3 corner;  // of the cell [m]
  float size, inverse_size;
  template <class T>
  HD void operator()(const Particles<T>& at, T* sums) const {
    const T sx = (at(x.x) - corner.x) * inverse_size, sy = (at(x.y) - corner.y) * inverse_size,
            sz = (at(x.z) - corner.z) * inverse_size;
    const T x0 = hat(sx) * at.there, y0 = hat(sy) * at.there, z0 = hat(sz) * at.there;
    const T x5 = hat(sx - 0.5f), y5 = hat(sy - 0.5f), z5 = hat(sz - 0.5f);
    const T hu = x0 * (y5 * z5), hv = y0 * (x5 * z5), hw = z0 * (x5 * y5);
    T u = at(v.x), vv = at(v.y), w = at(v.z);
    if constexpr (kAffine) {
      const T mx = size * (0.5f - sx), my = size * (0.5f - sy), mz = size * (0.5f - sz);
      u += at(c.x.x) * (mx - 0.5f * size) + at(c.x.y) * my + at(c.x.z) * mz;
      vv += at(c.y.x) * mx + at(c.y.y) * (my - 0.5f * size) + at(c.y.z) * mz;
      w += at(c.z.x) * mx + at(c.z.y) * my + at(c.z.z) * (mz - 0.5f * size);
    }
    sums[0] += hu;
    sums[1] += hu * u;
    sums[2] += hv;
    sums[3] += hv * vv;
    sums[4] += hw;
    sums[5] += hw * w;
  }
};

struct ToFaces {
  TileView tiles;
  View3<const float> x, v;
  AffineView c;
  FacesView faces;  // out; a face that no particle reaches has weight and value 0

  HD_INLINE void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    const Vec3 corner = tiles.corner_of(cell);
    const float size = tiles.frame.size, inverse = tiles.frame.inverse_size;
    const auto sums = c.empty()
                          ? sum_around(tiles, cell, FaceSums<false>{x, v, c, corner, size, inverse})
                          : sum_around(tiles, cell, FaceSums<true>{x, v, c, corner, size, inverse});
    for (int a = 0; a < 3; ++a) {
      const float weight = sums[2 * a];
      faces.weight[a][cell] = weight;
      faces.value[a][cell] = weight > 1e-12f ? sums[2 * a + 1] / weight : 0.0f;
    }
  }
};

// Numbers at faces, read at a point within 7 cells of a tile's cells.
struct FaceField {
  TileView tiles;
  View<const float> value[3];

  struct Sample {
    float value;
    Vec3 slope;  // [1/m] times the value's unit
  };
  // Component a at a place `s` in cells from the first cell of `tile`. Where there is no tile the
  // value is 0.
  HD Sample at(int a, std::uint32_t tile, const Vec3& s) const {
    const Vec3 p = s - Vec3(a == 0 ? 0.0f : 0.5f, a == 1 ? 0.0f : 0.5f, a == 2 ? 0.0f : 0.5f);
    const auto below = [](float t) { return static_cast<int>(t + 16.0f) - 16; };  // t > -16
    const int i = below(p.x), j = below(p.y), k = below(p.z);
    const float fx = p.x - static_cast<float>(i), fy = p.y - static_cast<float>(j),
                fz = p.z - static_cast<float>(k);
    float sum = 0.0f;
    Vec3 slope{};
    for (int corner = 0; corner < 8; ++corner) {
      const int dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;
      const std::uint32_t cell = tiles.cell(tile, i + dx, j + dy, k + dz);
      const float number = cell == kNoCell ? 0.0f : value[a][cell];
      const float wx = dx ? fx : 1.0f - fx, wy = dy ? fy : 1.0f - fy, wz = dz ? fz : 1.0f - fz;
      sum += number * (wx * wy * wz);
      slope += number * Vec3((dx ? 1.0f : -1.0f) * (wy * wz), (dy ? 1.0f : -1.0f) * (wx * wz),
                             (dz ? 1.0f : -1.0f) * (wx * wy));
    }
    return {sum, tiles.frame.inverse_size * slope};
  }
  HD Vec3 velocity(std::uint32_t tile, const Vec3& s) const {
    return {at(0, tile, s).value, at(1, tile, s).value, at(2, tile, s).value};
  }
  // Where a point is, in cells from the first cell of a tile.
  HD Vec3 place(std::uint32_t tile, const Vec3& x) const {
    int cx, cy, cz;
    tiles.corner(tile, cx, cy, cz);
    return tiles.frame.in_cells(x) -
           Vec3(static_cast<float>(cx), static_cast<float>(cy), static_cast<float>(cz));
  }
};

// Particles take the grid's velocity (PIC), or their own and the grid's change (FLIP):
//     v = r (v + u(x) - u_before(x)) + (1 - r) u(x),   c = grad u(x) for APIC
struct FromFaces {
  FaceField now, before;
  View3<const float> x;
  float ratio;              // r, share of FLIP
  View3<float> v;           // in and out
  View3<float> cx, cy, cz;  // out; empty: none

  HD_INLINE void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const std::uint32_t tile = now.tiles.cell_of[i] / kTileCells;
    const Vec3 s = now.place(tile, x[i]);
    const FaceField::Sample u = now.at(0, tile, s), vv = now.at(1, tile, s), w = now.at(2, tile, s);
    Vec3 velocity(u.value, vv.value, w.value);
    if (ratio > 0.0f) {
      const Vec3 own = v[i];
      velocity += ratio * (own - before.velocity(tile, s));
    }
    v[i] = velocity;
    if (cx.size > 0) {
      cx[i] = u.slope;
      cy[i] = vv.slope;
      cz[i] = w.slope;
    }
  }
};

}  // namespace barchan::flip
