// The friction of sand by itself, on a clump of cells in empty space: what it takes from the flow.
#include "solvers/flip/friction.h"

#include <cmath>

#include "compute/cpu.h"
#include "sand_grid.h"
#include "solvers/flip/sand_rows_cpu.h"
#include "unit/devices.h"

namespace barchan::flip {
namespace {

using Cell = KeptStresses::Cell;

// Cells of 1 m: [-5, 5) x [0, 6) x [0, 7), with an arm.
struct Clump {
  explicit Clump(Cpu& cpu)
      : device(cpu), grid(cpu), near(cpu), kind(cpu), depth(cpu), q(cpu), u0(cpu), u(cpu) {
    std::vector<Vec3> points;
    for (int x = -5; x < 9; ++x) {
      for (int y = 0; y < 6; ++y) {
        for (int z = 0; z < 7; ++z) {
          if (x >= 5 && (y > 1 || z > 0)) continue;
          points.push_back(Vec3(static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f,
                                static_cast<float>(z) + 0.5f));
        }
      }
    }
    Buffer3 at(cpu);
    at.upload(points);
    grid.build(std::as_const(at).view(), 1.0f, 3);
    near.build<GrowSetAround>("test", grid.view(), HasParticles{grid.view()}, 2);
    const std::size_t all = grid.view().cells();
    for (Buffer<float>* field : {&depth, &q}) field->resize(all);
    kind.resize(all), u0.resize(all), u.resize(all);
    std::uint32_t random = 7;
    const auto noise = [&] {
      random = random * 1664525u + 1013904223u;
      return static_cast<float>(random >> 8) / 16777216.0f - 0.5f;
    };
    for (std::uint32_t c = 0; c < all; ++c) {
      const bool sand = HasParticles{grid.view()}(c);
      kind.view()[c] = sand ? kLiquid : kAir;
      depth.view()[c] = sand ? 0.5f : -1.0f;
      const Vec3 x = grid.view().corner_of(c);
      q.view()[c] = sand ? 0.05f * (8.0f - x.y) : 0.0f;
      for (int a = 0; a < 3; ++a) {
        u0.of[a].view()[c] = 0.2f * noise() + (a == 0 ? 0.3f * x.y : 0.0f);
        u.of[a].view()[c] = u0.of[a].view()[c];
      }
    }
  }
  FrictionGrid friction_grid() {
    return {grid.view(), kind.view(), depth.view(),  {}, {}, {}, {}, {}, {}, {}, {}, {},
            0.5f,        {},          near.within(2)};
  }
  bool sand(std::uint32_t c) const { return c != kNoCell && kind.view()[c] == kLiquid; }
  // f(axis, low cell's number, mass) of the faces that sand flows through: half of it at the
  // surface.
  template <class F>
  void faces(const F& f) const {
    for (std::uint32_t c = 0; c < grid.view().cells(); ++c) {
      for (int a = 0; a < 3; ++a) {
        const int sides = (sand(c) ? 1 : 0) + (sand(grid.view().before(c, a)) ? 1 : 0);
        if (sides > 0) f(a, c, 0.5 * sides);
      }
    }
  }
  double energy(const FaceBuffer& of) const {
    double sum = 0.0;
    faces([&](int a, std::uint32_t c, double mass) {
      const auto v = static_cast<double>(of.of[a].view()[c]);
      sum += 0.5 * mass * v * v;
    });
    return sum;
  }
  // Sum of s : D over cells and edges; `least`: the smallest of a cell.
  double work(const KeptStresses& s, const FaceBuffer& of, double& least) const {
    const TileView tiles = grid.view();
    const auto at = [&](int a, std::uint32_t c) { return static_cast<double>(of.of[a].view()[c]); };
    double sum = 0.0;
    for (std::uint32_t c = 0; c < tiles.cells(); ++c) {
      const Vec3 x = tiles.corner_of(c);
      const Cell cell{static_cast<int>(x.x), static_cast<int>(x.y), static_cast<int>(x.z)};
      double here = 0.0;
      for (int a = 0; a < 3; ++a) {
        const int b = (a + 1) % 3, d = (a + 2) % 3;
        if (sand(c)) here += s.stress(a, cell) * (at(a, tiles.behind(c, a)) - at(a, c));
        const double edge = s.stress(3 + a, cell);
        if (edge == 0.0) continue;
        here +=
            edge * (at(b, c) - at(b, tiles.before(c, d)) + at(d, c) - at(d, tiles.before(c, b)));
      }
      least = std::min(least, here);
      sum += here;
    }
    return sum;
  }

  Cpu& device;
  TileGrid<Cpu> grid;
  TileLayers<Cpu> near;
  Buffer<std::uint8_t> kind;
  Buffer<float> depth, q;
  FaceBuffer u0, u;
};

constexpr YieldRadius kYield{0.5f, 0.0f, 1.0f, {0.01f}, {}};

TEST(FlipFriction, TakesFromTheFlowWhatItsStressesWork) {
  Cpu device(2);
  for (const int iterations : {4, 40, 400}) {
    Clump clump(device);
    Friction<Cpu> friction(device);
    State before(device), after(device);
    friction.begin(clump.friction_grid(), before, 1.0);
    friction.relax(clump.friction_grid(), clump.q.view(), kYield, clump.u0.read(), 0.0, iterations);
    friction.add(clump.friction_grid(), clump.u0.read(), clump.u.view());
    friction.keep(clump.friction_grid(), clump.q.view(), 1.0, after);
    const KeptStresses s(after);

    // u = u0 + div s / m, so that the energy falls by s : D, at the mean of both velocities.
    double least = 0.0;
    const double first = clump.work(s, clump.u0, least);
    least = 0.0;
    const double last = clump.work(s, clump.u, least);
    const double lost = clump.energy(clump.u0) - clump.energy(clump.u);
    EXPECT_GT(lost, 0.0);
    EXPECT_NEAR(lost, 0.5 * (first + last), 1e-5 * first) << iterations;
    EXPECT_GT(last, 0.0) << iterations;
    if (iterations == 400) {
      EXPECT_GT(least, -1e-3 * last) << "in each cell, once it is found";
    }
  }
}

// The papers' rule in one go.
TEST(FlipFriction, InOneGoItTakesEnergyToo) {
  Cpu device(2);
  Clump clump(device);
  Friction<Cpu> friction(device);
  State before(device);
  friction.begin(clump.friction_grid(), before, 0.0);
  friction.stop_each(clump.friction_grid(), clump.q.view(), kYield, clump.u0.read(),
                     clump.u.view());
  EXPECT_LT(clump.energy(clump.u), clump.energy(clump.u0));
}

}  // namespace
}  // namespace barchan::flip
