// The pressure solver on full tanks: walls around, the surface half a cell above the last centres,
// b random with a bias. Arguments: cells along each axis. Time: laying out the levels and solving
// to 1e-6, which `prepare` and `solve` give apart [ms]; then the stages.
#include "kernels/poisson.h"

#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "compute/device.h"
#include "compute/dispatch.h"
#include "spatial/poisson.h"

namespace barchan {

namespace {

using Size = std::array<int, 3>;

std::vector<Vec3> middles_of_tiles(const Size& n) {
  std::vector<Vec3> points;
  for (int z = 0; z < n[2]; z += kTileEdge) {
    for (int y = 0; y < n[1]; y += kTileEdge) {
      for (int x = 0; x < n[0]; x += kTileEdge) {
        points.emplace_back(float(x) + 4.0f, float(y) + 4.0f, float(z) + 4.0f);
      }
    }
  }
  return points;
}

struct Tank {
  Buffer<float> x, y, z, anchor, b, p;
  explicit Tank(Device& device)
      : x(device), y(device), z(device), anchor(device), b(device), p(device) {}

  void fill(Device& device, const TileView& grid, const Size& n) {
    std::vector<std::uint64_t> numbers(grid.number.size);
    device.download(numbers.data(), grid.number.data, numbers.size() * sizeof(std::uint64_t));
    const TileView host{grid.frame, {numbers.data(), numbers.size()}, {}, {}};
    std::vector<float> fx(grid.cells()), fy(fx), fz(fx), fa(fx), fb(fx);
    std::minstd_rand random(1);
    std::uniform_real_distribution<float> noise(-0.5f, 1.0f);
    for (std::size_t c = 0; c < fx.size(); ++c) {
      int i, j, k;
      host.corner(static_cast<std::uint32_t>(c / kTileCells), i, j, k);
      // The frame begins a tile before the tank.
      i += static_cast<int>(c % 8) - kTileEdge;
      j += static_cast<int>(c / 8 % 8) - kTileEdge;
      k += static_cast<int>(c / 64 % 8) - kTileEdge;
      if (i >= n[0] || j >= n[1] || k >= n[2]) continue;
      fx[c] = i > 0 ? 1.0f : 0.0f;
      fy[c] = j > 0 ? 1.0f : 0.0f;
      fz[c] = k > 0 ? 1.0f : 0.0f;
      fa[c] = k == n[2] - 1 ? 2.0f : 0.0f;
      fb[c] = noise(random);
    }
    x.upload(fx), y.upload(fy), z.upload(fz), anchor.upload(fa), b.upload(fb);
    p.resize(fx.size());
  }
};

double milliseconds(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

void run(benchmark::State& state, const std::string& name) {
  std::unique_ptr<Device> any;
  try {
    any = make_device(name, name == "cpu" ? 2 : 0);
  } catch (const Error&) {
    return state.SkipWithError("no such device here");
  }
  const Size n{int(state.range(0)), int(state.range(1)), int(state.range(2))};
  on_device(*any, [&]<class D>(D& device) {
    Buffer3 points(*any);
    points.upload(middles_of_tiles(n));
    TileGrid<D> grid(device);
    grid.build(std::as_const(points).view(), 1.0f, 0);
    Tank tank(*any);
    tank.fill(*any, grid.view(), n);
    PoissonSolver<D> solver(device);
    double preparing = 0.0, solving = 0.0;
    PoissonReport report;
    const auto once = [&] {
      auto start = std::chrono::steady_clock::now();
      solver.prepare(grid.view(),
                     {std::as_const(tank.x).view(), std::as_const(tank.y).view(),
                      std::as_const(tank.z).view(), std::as_const(tank.anchor).view()});
      any->wait();
      preparing += milliseconds(start);
      start = std::chrono::steady_clock::now();
      tank.p.clear_to_zero();
      report = solver.solve(std::as_const(tank.b).view(), tank.p.view(), 1e-6, 100);
      any->wait();
      solving += milliseconds(start);
    };
    once();
    preparing = solving = 0.0;
    any->profiler().clear();
    for (auto _ : state) once();
    const auto times = static_cast<double>(state.iterations());
    const double unknowns = double(n[0]) * n[1] * n[2];
    state.counters["prepare"] = preparing / times;
    state.counters["solve"] = solving / times;
    state.counters["cg iterations"] = report.iterations;
    state.counters["cells/us"] = unknowns * times / (1e3 * solving);
    state.counters["bytes"] = static_cast<double>(any->allocated()) / unknowns;
    if (!any->on_host()) any->profiler().enable(true), once();
    for (const Profiler::Stage& stage : any->profiler().stages()) {
      state.counters[stage.label] = stage.milliseconds / (any->on_host() ? times : 1.0);
    }
    return 0;
  });
}

}  // namespace

void add_poisson_benchmarks() {
  for (const char* device : {"cpu", "cuda"}) {
    auto* bench = benchmark::RegisterBenchmark((std::string(device) + "/poisson").c_str(),
                                               [device](benchmark::State& s) { run(s, device); });
    bench->Unit(benchmark::kMillisecond)->UseRealTime();
    for (const Size& n : {Size{30, 30, 60}, Size{64, 64, 64}, Size{100, 100, 100},
                          Size{128, 128, 128}, Size{256, 256, 256}}) {
      bench->Args({n[0], n[1], n[2]});
    }
    if (std::string(device) == "cuda") bench->Args({400, 400, 400});
  }
}

}  // namespace barchan
