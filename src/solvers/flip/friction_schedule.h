// The order of the kernels of stress_kernels.h and wall_kernels.h, as schedules: on a GPU each is
// one launch (compute/grid.cuh).
//
// What is not said here and differs between devices: cells_for and for_each_of
// (spatial/tile_rows_cpu.h, spatial/tile_cells.cuh); cells_then_walls, sum_cells_then_walls and
// shove_cells (sand_rows_cpu.h, sand_cells.cuh).
#pragma once

#include <cmath>
#include <cstdint>

#include "base/hd.h"
#include "solvers/flip/stress_kernels.h"
#include "solvers/flip/wall_kernels.h"
#include "spatial/tile_layers.h"

namespace barchan::flip {

// The wall cells, one after the other, and where each cell of the grid is among them.
struct WallList {
  View<const WallCell> cells;
  View<const std::uint8_t> roles;
  View<const std::uint32_t> number;  // of cells that have role::kTouches
};

// Two kernels of the same items. The second may see what the first did to its own item.
template <class First, class Second>
struct InTurn {
  First first;
  Second second;
  HD void operator()(int item) const {
    first(item);
    second(item);
  }
};

HD inline ConstStressView read(const StressView& s) {
  return {{s.normal[0], s.normal[1], s.normal[2]}, {s.shear[0], s.shear[1], s.shear[2]}};
}
HD inline ConstFaceView read(const FaceView& u) {
  return {{u.of[0], u.of[1], u.of[2]}};
}

// What the schedules work on.
struct SandView {
  TileView tiles;
  CellSet cells;  // cells, faces and edges that take part
  View<const std::uint8_t> kind, roles;
  ConstFaceView open;
  ConstPaceView pace;
  WallList walls;
  View<float> radius, scale, rest[3];
  StressView s, y, x;  // stresses, with momentum, and before they yield
  FaceView v, push;
  View3<float> t, t_y;  // tractions, of the wall cells

  HD std::int64_t wall_count() const { return static_cast<std::int64_t>(walls.cells.size); }

  HD PushFromWalls push_from_walls(const ConstStressView& by, const View3<const float>& on) const {
    return {tiles, open, walls.cells, by, on, push};
  }
  HD MeasureCells measure_cells(const ConstStressView& of) const {
    return {of, radius, scale, {rest[0], rest[1], rest[2]}};
  }
  HD MeasureAtWalls measure_at_walls(const ConstStressView& of) const {
    return {tiles, walls.cells, roles, of, t, radius, scale, {rest[0], rest[1], rest[2]}};
  }

  HD_SCHEDULE
  template <class Device>
  HD void find_radii(Device& device, View<const float> q, const YieldRadius& yield) const {
    for_each(device, "friction", static_cast<std::int64_t>(tiles.cells()),
             FindRadii{kind, q, yield, radius});
  }
  // u = u0 + div s, after push_from_walls.
  HD_SCHEDULE
  template <class Device, class Cells>
  HD void shove(Device& device, const Cells& these, const ConstStressView& by,
                const ConstFaceView& u0, const FaceView& u) const {
    shove_cells(device, "friction", these, Shove{pace.give, by, u0, u},
                ShoveAtWalls{{tiles, open, pace.give, roles}, walls.cells, read(push), u});
  }
  // No stress is beyond the yield surface.
  HD_SCHEDULE
  template <class Device, class Cells>
  HD void admit(Device& device, const Cells& these) const {
    cells_then_walls(device, "friction", these, measure_cells(read(s)), walls,
                     measure_at_walls(read(s)));
    for_each_of(device, "friction", these, Admit{tiles, roles, scale, s});
  }
};

// u = u0 + div s.
struct AddStress {
  SandView sand;
  ConstFaceView u0;
  FaceView u;  // out
  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    const auto cells = cells_for(device, sand.cells);
    for_each(device, "friction: walls", sand.wall_count(),
             sand.push_from_walls(read(sand.s), sand.t));
    sand.shove(device, cells, read(sand.s), u0, u);
  }
};

// s = y + w D'(u).
struct TryFrom {
  SandView sand;
  ConstFaceView u;
  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    cells_then_walls(
        device, "friction", cells_for(device, sand.cells),
        TryStress{sand.pace, u, read(sand.y), sand.s}, sand.walls,
        TryAtWalls{
            {sand.tiles, sand.open, u}, sand.walls.cells, sand.pace.normal, read(sand.y), sand.s});
  }
};

// How far s is from the yield surface that the pressure q makes ...
struct MeasureStress {
  SandView sand;
  View<const float> q;
  YieldRadius yield;
  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    sand.find_radii(device, q, yield);
    cells_then_walls(device, "friction", cells_for(device, sand.cells),
                     sand.measure_cells(read(sand.s)), sand.walls,
                     sand.measure_at_walls(read(sand.s)));
  }
};
// ... and back to it.
struct AdmitStress {
  SandView sand;
  View<const float> q;
  YieldRadius yield;
  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    sand.find_radii(device, q, yield);
    sand.admit(device, cells_for(device, sand.cells));
  }
};

// Friction::relax. A stage that a wall cell sees to after its own cell's may read of others only
// what no stage beside it writes.
struct Relax {
  static constexpr int kThreads = 640;  // of a block of a GPU: all in registers
  static constexpr int kLook = 4;       // iterations between looks at the progress
  SandView sand;
  View<const float> q;
  YieldRadius yield;
  ConstFaceView u0;
  double enough;  // [m/s]
  int most;

  HD_SCHEDULE
  template <class Device>
  HD void operator()(Device& device) const {
    const auto cells = cells_for(device, sand.cells);
    begin_together(device);
    sand.find_radii(device, q, yield);
    for_each(device, "friction: walls", sand.wall_count(),
             sand.push_from_walls(read(sand.y), sand.t_y));
    end_together(device);

    double theta = 1.0;
    for (int done = 0; done < most; done += kLook) {
      Progress progress;
      for (int k = 1; k <= kLook; ++k) {
        const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * theta * theta));
        const auto momentum = static_cast<float>((theta - 1.0) / next);
        theta = next;
        iterate(device, cells, momentum, k == kLook ? &progress : nullptr);
      }
      if (progress.change <= enough * enough * progress.cells) break;
      if (progress.against > 0.0) theta = 1.0;
    }

    // The next iteration begins with what may be, and without momentum.
    sand.admit(device, cells);
    begin_together(device);
    for_each_of(device, "friction", cells, CopyStress{read(sand.s), sand.y});
    for_each(device, "friction: walls", sand.wall_count(), CopyTraction{sand.t, sand.t_y});
    end_together(device);
  }

  HD_SCHEDULE
  template <class Device, class Cells>
  HD void iterate(Device& device, const Cells& cells, float momentum, Progress* progress) const {
    const WallList& walls = sand.walls;
    const ConstStressView s = read(sand.s), y = read(sand.y), x = read(sand.x);
    const WallFlow flow{sand.tiles, sand.open, read(sand.v)};
    sand.shove(device, cells, y, u0, sand.v);
    cells_then_walls(device, "friction", cells, TryStress{sand.pace, read(sand.v), y, sand.x},
                     walls, TryAtWalls{flow, walls.cells, sand.pace.normal, y, sand.x});
    using AtWalls = InTurn<MeasureAtWalls, YieldAtWalls>;
    cells_then_walls(device, "friction", cells, sand.measure_cells(x), walls,
                     AtWalls{sand.measure_at_walls(x),
                             {flow, walls.cells, sand.kind, q, s, sand.t, sand.t_y, momentum}});
    const Yield back{sand.pace, sand.radius, sand.scale, {sand.rest[0], sand.rest[1], sand.rest[2]},
                     x,         sand.s,      sand.y,     momentum};
    const PushFromWalls push = sand.push_from_walls(y, sand.t_y);
    if (progress == nullptr) {
      cells_then_walls(device, "friction", cells, WithoutSums<Yield>{back}, walls, push);
    } else {
      const auto sums = sum_cells_then_walls(device, "friction", cells, back, walls, push);
      *progress = {sums.of[0], sums.of[1], sums.of[2]};
    }
  }
};

}  // namespace barchan::flip
