// Surfaces of 441k particles on 2 threads: a rough pool with drops above it, about as much surface
// as a dam break has in the middle of its splash; alone, and with one particle a hundred box
// lengths away. Stages by their profiler labels, in ms.
#include "kernels/surface.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <string>

#include "surface/surface.h"

namespace barchan {

namespace {

constexpr double kSpacing = 0.01;  // [m]

std::vector<Vec3> pool_with_drops(std::size_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  constexpr int kLong = 110, kWide = 70;  // [spacings]
  std::vector<Vec3> points;
  const auto put = [&](double x, double y, double z) {
    const auto jitter = [&] { return 0.5 * unit(random) - 0.25; };
    points.push_back(Vec3(kSpacing * Vec3d(x + jitter(), y + jitter(), z + jitter())));
  };
  const std::size_t drops = count / 200;
  for (int y = 0; points.size() + drops < count; ++y) {
    for (int z = 0; z < kWide; ++z) {
      for (int x = 0; x < kLong; ++x) {
        const double top =
            60.0 + 12.0 * std::sin(0.06 * x) * std::cos(0.05 * z) + std::sin(0.5 * x);
        if (y < top) put(x, y, z);
      }
    }
    if (y > 100) break;
  }
  while (points.size() < count) {
    put(kLong * unit(random), 75.0 + 40.0 * unit(random), kWide * unit(random));
  }
  points.resize(count);
  return points;
}

void run(benchmark::State& state, const SurfaceParams& params, bool far) {
  std::vector<Vec3> points = pool_with_drops(441'000);
  if (far) points.emplace_back(110.0f, 110.0f, 110.0f);
  const std::vector<Vec3> velocity(points.size(), Vec3(1.0f, 0.0f, 0.0f));
  Cpu device(2);
  std::size_t triangles = 0;
  for (auto _ : state) {
    triangles =
        make_surface({points, velocity, kSpacing, 0.5 * kSpacing}, params, device).triangles.size();
  }
  for (const Profiler::Stage& stage : device.profiler().stages()) {
    state.counters[stage.label] = stage.milliseconds / static_cast<double>(state.iterations());
  }
  state.counters["triangles"] = static_cast<double>(triangles);
}

}  // namespace

void add_surface_benchmarks() {
  for (const char* method : {"zhu-bridson", "anisotropic", "blobby"}) {
    for (const double voxel : {0.5, 1.0}) {
      for (const bool far : {false, true}) {
        SurfaceParams params;
        params.method = method;
        params.voxel = voxel;
        const std::string name = std::string("surface/") + method + "/voxel " +
                                 (voxel == 1.0 ? "1" : "0.5") + (far ? "/one far away" : "");
        benchmark::RegisterBenchmark(name.c_str(),
                                     [params, far](benchmark::State& s) { run(s, params, far); })
            ->Unit(benchmark::kMillisecond)
            ->UseRealTime();
      }
    }
  }
}

}  // namespace barchan
