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
#include "compute/bits.h"
#include "compute/lanes.h"
#include "compute/view.h"
#include "math/vec3.h"
#include "solvers/flip/solid_kernels.h"
#include "spatial/cell_sums.h"
#include "spatial/tile_grid.h"

namespace barchan::flip {

// The particles' affine velocities (Jiang et al. 2015); empty views: none.
struct AffineView {
  View3<const float> x, y, z;  // grad v_x, grad v_y, grad v_z [1/s]
  HD bool empty() const { return x.size == 0; }
};

template <class T>
HD inline T hat(T s) {
  return positive(1.0f - absolute(s));
}

// Each face takes the weighted mean of the particles within one cell of it:
//     u_f = sum h (v + c (x_f - x)) / sum h,   h the product of the hats along the axes
template <bool kAffine>
struct FaceSums {
  static constexpr int kSums = 7;
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
    sums[6] += x5 * y5 * z5 * at.there;
  }
};

struct ToFaces {
  TileView tiles;
  View3<const float> x, v;
  AffineView c;
  FaceView u;        // out; 0 where no particle is near
  View<float> fill;  // out: sums of hats about the cells' middles

  HD_INLINE void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    put(cell, c.empty() ? sums_at<false>(cell) : sums_at<true>(cell));
  }
  template <bool kAffine, int kThreads = 1>
  HD_INLINE HD Sums<FaceSums<kAffine>::kSums> sums_at(std::uint32_t cell) const {
    const FaceSums<kAffine> sum{
        x, v, c, tiles.corner_of(cell), tiles.frame.size, tiles.frame.inverse_size};
    return sum_around<kThreads>(tiles, cell, sum);
  }
  HD_INLINE HD void put(std::uint32_t cell, const Sums<FaceSums<false>::kSums>& sums) const {
    for (int a = 0; a < 3; ++a) {
      const float weight = sums[2 * a];
      u.of[a][cell] = weight > 1e-12f ? sums[2 * a + 1] / weight : 0.0f;
    }
    fill[cell] = sums[6];
  }
};

// ---- From the grid to the particles. A window shows the faces around one tile: corners() gives
// the eight numbers of component a whose lowest is at cell (i, j, k), counted from the tile's first
// one, x fastest. T is a float (GPU) or Lanes (CPU: window_cpu.h).
struct TileWindow {
  TileView tiles;
  std::uint32_t tile;
  ConstFaceView faces;
  HD void corners(int a, int i, int j, int k, float* v) const {
    for (int corner = 0; corner < 8; ++corner) {
      const std::uint32_t cell =
          tiles.cell(tile, i + (corner & 1), j + (corner >> 1 & 1), k + (corner >> 2));
      v[corner] = cell == kNoCell ? 0.0f : faces.of[a][cell];
    }
  }
};

template <class T>
struct Sample {
  T value;
  T slope[3];  // per cell
};

// Component a at a place in cells from the tile's first one, above -16.
template <class T, class Window>
HD_INLINE HD inline Sample<T> sample(const Window& window, int a, T sx, T sy, T sz) {
  const T px = sx - (a == 0 ? 0.0f : 0.5f), py = sy - (a == 1 ? 0.0f : 0.5f),
          pz = sz - (a == 2 ? 0.0f : 0.5f);
  const auto i = to_int(px + 16.0f) - 16, j = to_int(py + 16.0f) - 16, k = to_int(pz + 16.0f) - 16;
  const T fx = px - to_float(i), fy = py - to_float(j), fz = pz - to_float(k);
  T v[8];
  window.corners(a, i, j, k, v);
  const T x00 = v[1] - v[0], x10 = v[3] - v[2], x01 = v[5] - v[4], x11 = v[7] - v[6];
  const T v00 = v[0] + fx * x00, v10 = v[2] + fx * x10, v01 = v[4] + fx * x01,
          v11 = v[6] + fx * x11;
  const T y0 = v10 - v00, y1 = v11 - v01;
  const T v0 = v00 + fy * y0, v1 = v01 + fy * y1;
  const T x0 = x00 + fy * (x10 - x00), x1 = x01 + fy * (x11 - x01);
  return {v0 + fz * (v1 - v0), {x0 + fz * (x1 - x0), y0 + fz * (y1 - y0), v1 - v0}};
}

// A particle's step, or those of several: new velocities,
//     v = r (v + du(x)) + (1 - r) u(x),   du what the grid's velocity changed by
// (PIC: r = 0; APIC: r = 0 and the slopes of u), and the way along u, by the midpoint rule in
// sub-steps of under one cell each.
struct Carry {
  float cells_per_speed;  // dt / dx: cells that 1 m/s makes in the step [s/m]
  float inverse_size;     // 1 / dx [1/m]
  float ratio;            // r
  float most;             // cells that a particle may move along an axis; the rest is cut off

  template <class T>
  struct Particle {
    T place[3];     // in and out: from the tile's first cell [cells]
    T v[3];         // in and out [m/s]
    T slope[3][3];  // out: grad v_x, grad v_y, grad v_z [1/s]
  };

  template <class T, class Window>
  HD_INLINE HD void velocity(const Window& u, const T* s, T* out) const {
    BARCHAN_UNROLLED
    for (int a = 0; a < 3; ++a) out[a] = sample(u, a, s[0], s[1], s[2]).value;
  }
  template <class T>
  HD_INLINE HD static T size_of(const T* v) {
    return square_root(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  template <class T>
  HD_INLINE HD static T larger(T a, T b) {
    return choose(a > b, a, b);
  }
  // What is no number stays within, too: nothing is read from beyond the window.
  template <class T>
  HD_INLINE HD T kept(T to, T from) const {
    const T low = choose(to > from - most, to, from - most);
    return choose(low < from + most, low, from + most);
  }

  // Returns how far it went along the axis where that is most [cells].
  template <class T, class Window>
  HD_INLINE HD T operator()(const Window& u, const Window& change, const Window& shift,
                            Particle<T>& p) const {
    const T start[3] = {p.place[0], p.place[1], p.place[2]};
    T now[3];
    BARCHAN_UNROLLED
    for (int a = 0; a < 3; ++a) {
      const Sample<T> at = sample(u, a, start[0], start[1], start[2]);
      now[a] = at.value;
      for (int b = 0; b < 3; ++b) p.slope[a][b] = at.slope[b] * inverse_size;
    }
    T moved[3];
    velocity(shift, start, moved);
    if (ratio > 0.0f) {
      T changed[3];
      velocity(change, start, changed);
      // Particles that stay at a wall while others arrive would add up the changes of all: none is
      // made faster than it was and than 1.5 times the grid's velocity and 1.25 its change (less
      // would cut off what eddies give and take).
      const T most_speed = larger(size_of(p.v), 1.5f * size_of(now) + 1.25f * size_of(changed));
      BARCHAN_UNROLLED
      for (int a = 0; a < 3; ++a) {
        p.v[a] = ratio * (p.v[a] + changed[a]) + (1.0f - ratio) * now[a];
      }
      const T speed = size_of(p.v) + 1e-12f;
      const T kept = choose(speed > most_speed, most_speed / speed, speed * 0.0f + 1.0f);
      BARCHAN_UNROLLED
      for (int a = 0; a < 3; ++a) p.v[a] = kept * p.v[a];
    } else {
      BARCHAN_UNROLLED
      for (int a = 0; a < 3; ++a) p.v[a] = now[a];
    }

    // Sub-steps as this particle needs them.
    const T way = cells_per_speed * size_of(now);
    const T count = to_float(to_int(choose(way < 15.0f, way, way * 0.0f + 15.0f))) + 1.0f;
    const T h = cells_per_speed / count;
    const int rounds = static_cast<int>(largest_of(count));
    for (int k = 0; k < rounds; ++k) {
      const T on = choose(count > static_cast<float>(k), h, h * 0.0f);
      if (k > 0) velocity(u, p.place, now);
      T middle[3], there[3];
      BARCHAN_UNROLLED
      for (int a = 0; a < 3; ++a) middle[a] = kept(p.place[a] + 0.5f * on * now[a], start[a]);
      velocity(u, middle, there);
      BARCHAN_UNROLLED
      for (int a = 0; a < 3; ++a) p.place[a] = kept(p.place[a] + on * there[a], start[a]);
    }
    T farthest = 0.0f * p.place[0];
    BARCHAN_UNROLLED
    for (int a = 0; a < 3; ++a) {
      p.place[a] = kept(p.place[a] + moved[a], start[a]);
      farthest = larger(farthest, absolute(p.place[a] - start[a]));
    }
    return farthest;
  }
  // Whether it would have gone farther than it may.
  HD bool cut_off(float farthest) const { return farthest > most - 0.01f; }
};

// All that carry() needs.
struct CarryParticles {
  TileView tiles;
  ConstFaceView u, change, shift;  // change: only where ratio > 0; shift: [cells]
  Carry carry;
  View3<const float> x;
  View3<float> v;                    // in and out
  View3<float> moved_to;             // out
  View3<float> cx, cy, cz;           // out; empty: none
  std::uint32_t* cut_off = nullptr;  // in: 0; out: 1 if a particle was; null: nobody asks

  HD void note(float farthest) const {
    if (cut_off && carry.cut_off(farthest)) set_bits(cut_off, 1u);
  }
  HD Vec3 first_cell(std::uint32_t tile) const {
    int i, j, k;
    tiles.corner(tile, i, j, k);
    return {static_cast<float>(i), static_cast<float>(j), static_cast<float>(k)};
  }
  HD void operator()(int item) const {
    const auto i = static_cast<std::size_t>(item);
    const std::uint32_t tile = tiles.cell_of[i] / kTileCells;
    const Vec3 from = x[i], own = v[i];
    const Vec3 s = tiles.frame.in_cells(from) - first_cell(tile);
    Carry::Particle<float> p{{s.x, s.y, s.z}, {own.x, own.y, own.z}, {}};
    const float farthest = carry(TileWindow{tiles, tile, u}, TileWindow{tiles, tile, change},
                                 TileWindow{tiles, tile, shift}, p);
    note(farthest);
    v[i] = Vec3(p.v[0], p.v[1], p.v[2]);
    moved_to[i] = from + tiles.frame.size * (Vec3(p.place[0], p.place[1], p.place[2]) - s);
    if (cx.size > 0) {
      cx[i] = Vec3(p.slope[0][0], p.slope[0][1], p.slope[0][2]);
      cy[i] = Vec3(p.slope[1][0], p.slope[1][1], p.slope[1][2]);
      cz[i] = Vec3(p.slope[2][0], p.slope[2][1], p.slope[2][2]);
    }
  }
};

}  // namespace barchan::flip
