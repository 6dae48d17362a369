// Velocities beyond the liquid: constant along the way to it,
//     grad u . grad d = 0,    |grad d| = 1
// (Zhu & Bridson 2005, section 4; Zhao 2005), both by upwind differences, layer after layer outward
// instead of sweeping: each cell is visited once, when all that is nearer to the liquid is known.
#pragma once

#include <cstdint>

#include "base/hd.h"
#include "compute/view.h"
#include "solvers/flip/liquid_kernels.h"
#include "solvers/flip/motion_kernels.h"
#include "solvers/flip/pressure_kernels.h"
#include "spatial/tile_layers.h"

namespace barchan::flip {

struct BeginExtension {
  FindChange change;
  View<const float> depth;  // [cells]
  View<float> distance;     // out [cells]
  HD void operator()(int item) const {
    const auto cell = static_cast<std::size_t>(item);
    change(item);
    distance[cell] = -depth[cell];
  }
};

// Distance of the cells of a layer from those inside it (Zhao 2005, with spacing 1).
struct ExtendDistance {
  TileView tiles;
  LayerView inner;
  View<float> distance;  // in: inner, out: this layer [cells]

  HD float at(const TileView::Neighbour& of) const {
    const bool known = inner.has(of.cell) && of.there;
    if (asking_pays() && !known) return ClearGrid::kFar;
    const float d = distance[of.cell];
    return known ? d : ClearGrid::kFar;
  }
  HD void operator()(int item) const {
    const auto cell = static_cast<std::uint32_t>(item);
    float n[3];
    BARCHAN_UNROLLED
    for (int a = 0; a < 3; ++a) {
      n[a] = min(at(tiles.neighbour(cell, a, -1)), at(tiles.neighbour(cell, a, 1)));
    }
    const float lo = min(min(n[0], n[1]), n[2]), hi = max(max(n[0], n[1]), n[2]);
    const float mid = max(min(n[0], n[1]), min(max(n[0], n[1]), n[2]));
    float d = lo + 1.0f;
    if (d > mid) d = 0.5f * (lo + mid + std::sqrt(2.0f - (lo - mid) * (lo - mid)));
    if (d > hi) {
      const float sum = lo + mid + hi;
      const float squares = lo * lo + mid * mid + hi * hi;
      d = (sum + std::sqrt(max(sum * sum - 3.0f * (squares - 1.0f), 0.0f))) / 3.0f;
    }
    distance[cell] = d;
  }
};

// Numbers at faces of a layer from the faces inside it, weighted by how much nearer they are. Face
// f across axis a is item a times the number of cells + f.
struct ExtendFaces {
  TileView tiles;
  LayerView inner;
  View<const float> distance;
  int count;           // of fields
  FaceView fields[3];  // in: inner, out: this layer

  HD float distance_at(int axis, std::uint32_t face) const {
    return 0.5f * (distance[face] + distance[tiles.neighbour(face, axis, -1).cell]);
  }
  HD void operator()(int item) const {
    const auto cells = static_cast<std::uint32_t>(tiles.cells());
    const auto axis = static_cast<int>(static_cast<std::uint32_t>(item) / cells);
    const std::uint32_t face = static_cast<std::uint32_t>(item) % cells;
    const std::uint32_t set = static_cast<std::uint32_t>(item) - face;
    const float here = distance_at(axis, face);
    std::uint32_t from[6];
    float one[6], weight[6], weights = 0.0f, known = 0.0f;  // one: where there is any, otherwise 0
    BARCHAN_UNROLLED_8
    for (int k = 0; k < 6; ++k) {
      const TileView::Neighbour at = tiles.neighbour(face, k % 3, k < 3 ? -1 : 1);
      from[k] = at.cell;
      one[k] = inner.has(set + at.cell) && at.there ? 1.0f : 0.0f;
      weight[k] = 0.0f;
      if (asking_pays() && !(one[k] > 0.0f)) continue;
      weight[k] = one[k] * max(here - distance_at(axis, at.cell), 0.0f);
      weights += weight[k];
      known += one[k];
    }
    const bool level = !(weights > 1e-3f);  // none is nearer: the plain mean
    const float scale = 1.0f / (level ? known : weights);
    BARCHAN_UNROLLED
    for (int f = 0; f < 3; ++f) {
      if (f >= count) break;
      const View<float> value = fields[f].across(axis);
      float sum = 0.0f;
      BARCHAN_UNROLLED_8
      for (int k = 0; k < 6; ++k) {
        if (asking_pays() && !(one[k] > 0.0f)) continue;
        sum += (level ? one[k] : weight[k]) * value[from[k]];
      }
      value[face] = scale * sum;
    }
  }
};

// All layers. A round takes faces two layers behind the cells, whose distances they need, and cells
// one layer behind the sets: then its parts do not need each other.
struct ExtendOutward {
  TileView tiles;
  LayerView near;  // where there is anything at all
  View<const std::uint8_t> kind;
  ConstFaceView open;
  View<const float> depth;         // [cells]
  View<float> distance;            // out [cells]
  FaceView u, change, shift;       // in and out; change in: u before
  LayerSets cell_sets, face_sets;  // room for layers + 1, and for three sets of `layers`
  int layers;

  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    const char* label = "extend";
    begin_together(device);
    for_each_of(device, label, near,
                BeginExtension{{{u.of[0], u.of[1], u.of[2]}, change}, depth, distance});
    cell_sets.mark(device, label, IsWet{kind});
    face_sets.mark(device, label, HasVelocity{tiles, kind, open});
    end_together(device);
    for (int round = 1; round <= layers + 3; ++round) {
      begin_together(device);
      if (round <= layers + 1) cell_sets.grow<GrowSet>(device, label, tiles, round);
      if (round <= layers) face_sets.grow<GrowSet>(device, label, tiles, round);
      const int cells = round - 1, faces = round - 3;
      const bool some_cells = cells >= 1 && cells <= layers + 1, some_faces = faces >= 1;
      const int fields = faces <= 2 ? 3 : 1;  // change and shift are read beside particles only
      for_each_of_both(
          device, label, some_cells ? cell_sets.layer(cells) : LayerView{},
          ExtendDistance{tiles, cell_sets.within(some_cells ? cells - 1 : 0), distance},
          some_faces ? face_sets.layer(faces) : LayerView{},
          ExtendFaces{tiles,
                      face_sets.within(some_faces ? faces - 1 : 0),
                      distance,
                      fields,
                      {u, change, shift}});
      end_together(device);
    }
  }
};

// Faces closed by a solid: beside liquid, which touches the wall, what goes into or off the wall is
// taken off, what goes along it stays. Elsewhere only what goes into it: there the liquid may
// leave.
struct MeetSolids {
  TileView tiles;
  SolidsNow solids;
  View<const std::uint8_t> kind;
  ConstFaceView open, u;
  FaceView met;  // out, closed faces only

  HD float mean(int of, int axis, std::uint32_t face) const {
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
      const int back = k & 1, on = k >> 1;
      const std::uint32_t at = tiles.beside(face, (of == 0 ? on : 0) - (axis == 0 ? back : 0),
                                            (of == 1 ? on : 0) - (axis == 1 ? back : 0),
                                            (of == 2 ? on : 0) - (axis == 2 ? back : 0));
      sum += at == kNoCell ? 0.0f : u.of[of][at];
    }
    return 0.25f * sum;
  }
  // Whether any of a cell's low faces, the parts, is closed.
  HD bool operator()(int item) const {
    const auto face = static_cast<std::size_t>(item);
    return !(open.of[0][face] > 0.0f && open.of[1][face] > 0.0f && open.of[2][face] > 0.0f);
  }
  static constexpr int kParts = 3;
  HD void parts(int item, int begin, int end) const {
    const auto face = static_cast<std::uint32_t>(item);
    for (int a = begin; a < end; ++a) {
      if (open.of[a][face] > 0.0f) continue;
      const Vec3 x = middle_of_face(tiles, face, a);
      const int wall = solids.nearest_solid(face / kTileCells, x);
      const Vec3 n = distance_now(solids.solids.data[wall], x).gradient;
      Vec3 slip = -1.0f * solids.velocity(wall, x);
      for (int of = 0; of < 3; ++of) slip[of] += of == a ? u.of[a][face] : mean(of, a, face);
      const std::uint32_t low = tiles.before(face, a);
      const bool wet = kind[face] == kLiquid || (low != kNoCell && kind[low] == kLiquid);
      const float across = dot(slip, n);
      met.of[a][face] = u.of[a][face] - (wet ? across : min(across, 0.0f)) * n[a];
    }
  }
};
struct KeepMet {
  ConstFaceView open, met;
  FaceView u;  // out, closed faces only
  HD void operator()(int item) const {
    const auto face = static_cast<std::uint32_t>(item);
    for (int a = 0; a < 3; ++a) {
      if (!(open.of[a][face] > 0.0f)) u.of[a][face] = met.of[a][face];
    }
  }
};

}  // namespace barchan::flip
