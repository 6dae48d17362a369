// The friction of sand on a device: its stresses and tractions, laid on the grid of each step, and
// the iteration that finds them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "compute/buffer.h"
#include "compute/reduce_ops.h"
#include "params/scene_params.h"
#include "sim/state.h"
#include "solvers/flip/contacts.h"
#include "solvers/flip/face_buffer.h"
#include "solvers/flip/friction_schedule.h"
#include "solvers/flip/paper_kernels.h"
#include "solvers/flip/rigid_groups.h"
#include "solvers/flip/stress_kernels.h"
#include "solvers/flip/wall_kernels.h"
#include "spatial/tile_layers.h"

namespace barchan::flip {

struct StressBuffer {
  Buffer<float> normal[3], shear[3];
  explicit StressBuffer(Device& device)
      : normal{Buffer<float>(device), Buffer<float>(device), Buffer<float>(device)},
        shear{Buffer<float>(device), Buffer<float>(device), Buffer<float>(device)} {}
  void resize(std::size_t cells) {
    for (Buffer<float>& a : normal) a.resize(cells);
    for (Buffer<float>& a : shear) a.resize(cells);
  }
  StressView view() {
    return {{normal[0].view(), normal[1].view(), normal[2].view()},
            {shear[0].view(), shear[1].view(), shear[2].view()}};
  }
  ConstStressView read() const {
    return {{normal[0].view(), normal[1].view(), normal[2].view()},
            {shear[0].view(), shear[1].view(), shear[2].view()}};
  }
};

// What sand resists shear with: friction x pressure + cohesion [Pa].
struct Strength {
  double friction, cohesion;
};
// In the three forms that README.md compares.
inline Strength strength_of(const MaterialParams& material, const std::string& form) {
  const double phi = radians(material.friction_angle), c = material.cohesion;
  if (form == "plane-strain") return {std::sin(phi), c * std::cos(phi)};
  if (form == "zhu-bridson") return {std::sin(phi) / std::sqrt(3.0), c / std::sqrt(3.0)};
  return {std::tan(phi), c};
}
// What a surface of cells gets wrong in p, in units of rho g dx (Rest::pad): with less, the skin of
// a heap at phi - 3 slides off.
inline constexpr double kPressurePad = 0.25;

// The grid of this step, as friction sees it.
struct FrictionGrid {
  TileView tiles;
  View<const std::uint8_t> kind;
  View<const float> depth;  // [cells]
  View<const bool> closed;  // empty views: no solids
  ConstFaceView open;
  View<const Octants> octants;
  View<const float> wall;
  SolidsNow solids;
  View<const SolidMotion> motion;
  ConstFaceView began;  // velocities that the step began with
  Rest rest;
  Vec3 gravity;    // dt g [m/s]
  float friction;  // tan(phi)
  StuffView stuff;
  LayerView near;  // all cells that may hold sand, and those beside
};

template <class Device>
class Friction {
 public:
  explicit Friction(Device& device)
      : device_(device),
        roles_(device),
        fullness_(device),
        skin_(device),
        count_(device),
        was_(device),
        pace_(device),
        radius_(device),
        scale_(device),
        rest_{Buffer<float>(device), Buffer<float>(device), Buffer<float>(device)},
        s_(device),
        y_(device),
        x_(device),
        give_(device),
        edge_pace_{Buffer<float>(device), Buffer<float>(device), Buffer<float>(device)},
        v_(device),
        push_(device),
        sand_(device),
        walls_(device),
        t_(device),
        t_y_(device),
        sums_(device),
        groups_(device),
        limit_(device) {}

  // Lays the stresses of the last step on this grid. `per_pascal`: dt / (rho dx) [m/s / Pa].
  void begin(const FrictionGrid& grid, const State& now, double per_pascal) {
    const auto cells = grid.tiles.cells();
    for (Buffer<float>* field : {&fullness_, &pace_, &edge_pace_[0], &edge_pace_[1], &edge_pace_[2],
                                 &radius_, &scale_, &rest_[0], &rest_[1], &rest_[2]}) {
      field->resize(cells);
    }
    for (StressBuffer* stress : {&s_, &y_, &x_}) stress->resize(cells);
    for (FaceBuffer* faces : {&give_, &v_, &push_}) faces->resize(cells);
    v_.clear_to_zero();  // rows of cells are read whole, whatever takes part in them
    skin_.resize(cells);
    roles_.resize(cells);
    roles_.clear_to_zero();
    for_each_of(device_, "friction: set up", grid.near,
                FindRoles{grid.tiles, grid.kind, grid.depth, grid.open, roles_.view()});
    for_each(
        device_, "friction: set up", static_cast<std::int64_t>(cells),
        FindFullness{grid.tiles, roles(), grid.depth, grid.closed, fullness_.view(), skin_.view()});
    for_each(device_, "friction: set up", static_cast<std::int64_t>(cells),
             FindPace{grid.tiles,
                      roles(),
                      std::as_const(fullness_).view(),
                      grid.closed,
                      grid.open,
                      grid.stuff,
                      {give_.view(),
                       pace_.view(),
                       {edge_pace_[0].view(), edge_pace_[1].view(), edge_pace_[2].view()}}});
    sand_.build("friction: set up", grid.tiles, HasRole{roles()});
    list_walls(grid);

    const KeptView kept = kept_in(now);
    const std::size_t tiles = grid.tiles.number.size;
    was_.resize(tiles);
    for_each(device_, "friction: set up", static_cast<std::int64_t>(tiles),
             FindKept{grid.tiles, kept.tile, was_.view()});
    const auto scale = static_cast<float>(per_pascal);
    for_each(
        device_, "friction: set up", static_cast<std::int64_t>(cells),
        Recall{kept, std::as_const(was_).view(), roles(), scale, s_.view(), y_.view(), x_.view()});
    t_.resize(wall_count_);
    t_y_.resize(wall_count_);
    for_each(device_, "friction: set up", static_cast<std::int64_t>(wall_count_),
             RecallWalls{kept, std::as_const(was_).view(), walls(), scale, t_.view(), t_y_.view()});
  }

  // The pressure to begin with.
  void recall_pressure(const FrictionGrid& grid, const State& now, double per_pascal,
                       View<float> q) {
    for_each_of(device_, "friction: set up", grid.near,
                RecallPressure{kept_in(now), std::as_const(was_).view(), grid.kind,
                               static_cast<float>(per_pascal), q});
  }

  // u = u0 + div s.
  void add(const FrictionGrid& grid, ConstFaceView u0, FaceView u) {
    in_one_launch(device_, "friction", cells_of(grid), AddStress{sand(grid), u0, u});
  }

  // The stresses that stop, as far as they may, what moves with u0 and with them; from those there
  // are. Until they change by less than `enough` [m/s] on the mean, or `most` times.
  void relax(const FrictionGrid& grid, View<const float> q, YieldRadius yield, ConstFaceView u0,
             double enough, int most) {
    yield.skin = skin();
    yield_ = yield;
    in_one_launch(device_, "friction", cells_of(grid),
                  Relax{sand(grid), q, yield, u0, enough, most});
  }

  // The papers' way, in one go: each cell by itself, but groups of cells that do not shear as one.
  // u from u0, which moved with no stress so far.
  void stop_each(const FrictionGrid& grid, View<const float> q, YieldRadius yield, ConstFaceView u0,
                 FaceView u) {
    const auto cells = static_cast<std::int64_t>(grid.tiles.cells());
    const auto walls_here = static_cast<std::int64_t>(wall_count_);
    const WallFlow flow{grid.tiles, grid.open, u0};
    for_each(device_, "friction", cells,
             WholePace{roles(),
                       {{},
                        pace_.view(),
                        {edge_pace_[0].view(), edge_pace_[1].view(), edge_pace_[2].view()}}});
    in_one_launch(device_, "friction", cells, TryFrom{sand(grid), u0});
    yield.skin = skin();
    limit_.resize(wall_count_);
    const YieldAtWalls how{flow, walls(), grid.kind, q, y_.read(), {}, {}, 0.0f};
    for_each(device_, "friction: walls", walls_here, FindLimits{how, limit_.view()});
    for_each(device_, "friction: walls", walls_here,
             StopAtWalls{flow, walls(), std::as_const(limit_).view(), t_.view()});

    // Rigid groups, then what slides.
    YieldRadius well_inside = yield;
    well_inside.share = WellInside::kWell;
    in_one_launch(device_, "friction", cells, MeasureStress{sand(grid), q, well_inside});
    groups_.find(grid.tiles, roles(),
                 WellInside{roles(), std::as_const(radius_).view(), std::as_const(scale_).view()});
    yield_ = yield;
    in_one_launch(device_, "friction", cells, AdmitStress{sand(grid), q, yield});
    const View<const std::uint32_t> number = std::as_const(count_).view();
    for_each(device_, "friction", groups_.cells(),
             RelieveGroups{groups_.view(), roles(), number, s_.view(), t_.view()});
    add(grid, u0, u);
    groups_.move(roles(), give_.read(), {roles(), walls(), number, limit_.view()}, u, t_.view());
  }

  // What the sand's stresses do to a solid, over a full cell's mass, where the host may read it
  // later.
  void push_solid(const FrictionGrid& grid, int solid, SixSums* sum) {
    reduce_to<JoinSix>(device_, "push solids", static_cast<std::int64_t>(wall_count_),
                       PushOnSolid{grid.tiles, grid.open, walls(), grid.motion, s_.read(),
                                   std::as_const(t_).view(), solid},
                       sum);
  }
  // To each of them.
  std::vector<Push> push_solids(const FrictionGrid& grid, std::size_t solids) {
    std::vector<Push> pushes(solids);
    if (wall_count_ == 0) return pushes;
    sums_.resize(solids);
    for (std::size_t s = 0; s < solids; ++s) {
      push_solid(grid, static_cast<int>(s), sums_.data() + s);
    }
    const std::vector<SixSums> sums = sums_.download();
    for (std::size_t s = 0; s < solids; ++s) {
      const double* of = sums[s].of;
      pushes[s] = {{of[0], of[1], of[2]}, {of[3], of[4], of[5]}};
    }
    return pushes;
  }

  // Solids have other velocities now.
  void list_walls(const FrictionGrid& grid) {
    wall_count_ = 0;
    const auto cells = grid.tiles.cells();
    if (grid.open.of[0].size == 0) return;
    count_.resize(cells);
    for_each(device_, "friction: set up", static_cast<std::int64_t>(cells),
             CountWalls{roles(), count_.view()});
    wall_count_ =
        device_.exclusive_scan("friction: set up", std::as_const(count_).view(), count_.view());
    walls_.resize(wall_count_);
    for_each(device_, "friction: set up", static_cast<std::int64_t>(cells),
             ListWalls{grid.tiles, roles(), grid.open, grid.octants, grid.wall, grid.solids,
                       give_.read(), grid.kind, std::as_const(fullness_).view(), skin(), grid.rest,
                       grid.began, grid.gravity, grid.friction, grid.stuff,
                       std::as_const(count_).view(), walls_.view()});
  }

  // For the next step, in pascals: no stress beyond what the pressure q in the end allows.
  void keep(const FrictionGrid& grid, View<const float> q, double per_pascal, State& next) {
    const std::size_t tiles = grid.tiles.number.size, cells = grid.tiles.cells();
    in_one_launch(device_, "friction", cells_of(grid), AdmitStress{sand(grid), q, yield_});
    Column& tile = next.keep({"grid_tile", Type::u64, 1, false}, tiles);
    Column& stress = next.keep({"grid_stress", Type::f32, 6, false}, cells);
    Column& traction = next.keep({"grid_traction", Type::f32, 3, false}, cells);
    Column& pressure = next.keep({"grid_pressure", Type::f32, 1, false}, cells);
    Column& kind = next.keep({"grid_kind", Type::u8, 1, false}, cells);
    const auto numbers = [&](Column& column, int c) {
      return View<float>{const_cast<float*>(column.component<float>(c)), cells};
    };
    for_each(device_, "friction: keep", static_cast<std::int64_t>(tiles),
             TileKeys{grid.tiles,
                      {const_cast<std::uint64_t*>(tile.component<std::uint64_t>(0)), tiles}});
    const auto scale = static_cast<float>(1.0 / per_pascal);
    Keep how{s_.read(),
             q,
             roles(),
             grid.kind,
             scale,
             {},
             {},
             numbers(pressure, 0),
             {const_cast<std::uint8_t*>(kind.component<std::uint8_t>(0)), cells}};
    for (int k = 0; k < 6; ++k) how.stress[k] = numbers(stress, k);
    for (int k = 0; k < 3; ++k) how.traction[k] = numbers(traction, k);
    for_each(device_, "friction: keep", static_cast<std::int64_t>(cells), how);
    KeepWalls at_walls{walls(), std::as_const(t_).view(), scale, {}};
    for (int k = 0; k < 3; ++k) at_walls.traction[k] = numbers(traction, k);
    for_each(device_, "friction: keep", static_cast<std::int64_t>(wall_count_), at_walls);
  }

  static KeptView kept_in(const State& now) {
    KeptView kept;
    const Column* tile = now.kept("grid_tile");
    if (tile == nullptr) return kept;
    const std::size_t cells = tile->size() * kTileCells;
    const auto numbers = [&](const char* name, int c) {
      return View<const float>{now.kept(name)->component<float>(c), cells};
    };
    kept.tile = {tile->component<std::uint64_t>(0), tile->size()};
    for (int k = 0; k < 6; ++k) kept.stress[k] = numbers("grid_stress", k);
    for (int k = 0; k < 3; ++k) kept.traction[k] = numbers("grid_traction", k);
    kept.pressure = numbers("grid_pressure", 0);
    kept.kind = {now.kept("grid_kind")->component<std::uint8_t>(0), cells};
    return kept;
  }

 private:
  View<const std::uint8_t> roles() const { return roles_.view(); }
  View<const WallCell> walls() const { return {walls_.data(), wall_count_}; }

  View<const bool> skin() const { return skin_.view(); }
  static std::int64_t cells_of(const FrictionGrid& grid) {
    return static_cast<std::int64_t>(grid.tiles.cells());
  }
  SandView sand(const FrictionGrid& grid) {
    return {grid.tiles,
            sand_.set(grid.tiles),
            grid.kind,
            roles(),
            grid.open,
            {give_.read(),
             std::as_const(pace_).view(),
             {std::as_const(edge_pace_[0]).view(), std::as_const(edge_pace_[1]).view(),
              std::as_const(edge_pace_[2]).view()}},
            {walls(), roles(), std::as_const(count_).view()},
            radius_.view(),
            scale_.view(),
            {rest_[0].view(), rest_[1].view(), rest_[2].view()},
            s_.view(),
            y_.view(),
            x_.view(),
            v_.view(),
            push_.view(),
            t_.view(),
            t_y_.view()};
  }

  Device& device_;
  std::size_t wall_count_ = 0;
  YieldRadius yield_{};
  Buffer<std::uint8_t> roles_;
  Buffer<float> fullness_;
  Buffer<bool> skin_;
  Buffer<std::uint32_t> count_, was_;
  Buffer<float> pace_, radius_, scale_, rest_[3];
  StressBuffer s_, y_, x_;  // stresses, with momentum, and before they yield
  FaceBuffer give_;
  Buffer<float> edge_pace_[3];
  FaceBuffer v_, push_;
  TileCells<Device> sand_;  // cells, faces and edges that take part
  Buffer<WallCell> walls_;
  Buffer3 t_, t_y_;  // tractions, of the wall cells
  Buffer<SixSums> sums_;
  RigidGroups<Device> groups_;  // of stop_each
  Buffer<float> limit_;         // most friction of each wall cell [m/s]
};

}  // namespace barchan::flip
