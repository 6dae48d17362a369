// Sorting, neighbour lists and a density pass: jittered lattice, support of two spacings, about 32
// neighbours. Arguments: particles. The stages of each are printed by their profiler labels, in ms,
// and the bytes of device memory a particle.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "base/error.h"
#include "compute/device.h"
#include "compute/dispatch.h"
#include "kernels/density_pass.h"
#include "kernels/files.h"
#include "kernels/poisson.h"
#include "kernels/surface.h"
#include "kernels/view.h"
#include "spatial/neighbours.h"

namespace barchan {

namespace {

constexpr float kSpacing = 0.01f;
constexpr float kSupport = 2.0f * kSpacing;

// In random order, so that sorting has to work.
std::vector<Vec3> jittered_cube(std::int64_t n) {
  const auto side = static_cast<int>(std::lround(std::cbrt(static_cast<double>(n))));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> jitter(-0.25f, 0.25f);
  std::vector<Vec3> points;
  for (int z = 0; z < side; ++z) {
    for (int y = 0; y < side; ++y) {
      for (int x = 0; x < side; ++x) {
        points.push_back(kSpacing * Vec3{float(x) + jitter(random), float(y) + jitter(random),
                                         float(z) + jitter(random)});
      }
    }
  }
  // Nearly sorted, as particles are after one step: each swaps places with one not far away.
  for (std::size_t i = 0; i + 64 < points.size(); ++i) {
    std::swap(points[i], points[i + random() % 64]);
  }
  return points;
}

std::unique_ptr<Device> device_of(const std::string& name) {
  try {
    return make_device(name, name == "cpu" ? 2 : 0);
  } catch (const Error&) {
    return nullptr;
  }
}

template <class D>
struct Fixture {
  Fixture(D& d, Device& base, std::int64_t n)
      : device(d),
        any(base),
        x(base),
        sorted(base),
        cells(d),
        near(d),
        density(base),
        packed(base) {
    x.upload(jittered_cube(n));
    density.resize(x.size());
    sort();
    lists();
  }
  // Sorted copies in the layout that suits the device.
  void sort() {
    cells.sort(std::as_const(x).view(), kSupport);
    if (any.on_host()) {
      permute(any, std::as_const(x).view(), cells.order(), sorted);
    } else {
      permute_packed(device, std::as_const(x).view(), cells.order(), packed);
    }
  }
  void lists() {
    if (any.on_host()) {
      near.build(cells.cells(), std::as_const(sorted).view(), kSupport);
    } else {
      near.build(cells.cells(), std::as_const(packed).view(), kSupport);
    }
  }
  D& device;
  Device& any;  // the same, for code that needs no template
  Buffer3 x, sorted;
  CellSort<D> cells;
  NeighbourSearch<D> near;
  Buffer<float> density;
  Buffer<Float4> packed;  // the sorted points
};

enum class Work { sort, lists, sort_and_lists, reference_lists, density };

template <class D>
void work_once(Fixture<D>& f, Work work) {
  const View3<const float> s = std::as_const(f.sorted).view();
  switch (work) {
    case Work::sort:
      return f.sort();
    case Work::lists:
      return f.lists();
    case Work::sort_and_lists:
      f.sort();
      return f.lists();
    case Work::reference_lists:
      return f.near.build_reference(f.cells.cells(), s, f.cells.cells(), s, kSupport);
    case Work::density:
      if constexpr (std::is_same_v<D, Cpu>) {
        return density_pass(f.device, DensityPass<View3<const float>>{
                                          f.near.view(), s, Poly6(kSupport), f.density.view()});
      } else {
        const View<const Float4> packed = std::as_const(f.packed).view();
        return density_pass(f.device,
                            DensityPass<View<const Float4>>{f.near.view(), packed, Poly6(kSupport),
                                                            f.density.view()});
      }
  }
}

void run(benchmark::State& state, const std::string& device_name, Work work) {
  const auto device = device_of(device_name);
  if (!device) return state.SkipWithError("no such device here");
  on_device(*device, [&]<class D>(D& d) {
    Fixture<D> fixture(d, *device, state.range(0));
    device->profiler().clear();
    for (auto _ : state) {
      work_once(fixture, work);
      device->wait();
    }
    // On a GPU also many in a row, without waiting in between; and the stages in runs of their own,
    // because the events that time them keep launches apart.
    if (!device->on_host()) {
      constexpr int kMany = 50;
      const auto start = std::chrono::steady_clock::now();
      for (int k = 0; k < kMany; ++k) work_once(fixture, work);
      device->wait();
      const std::chrono::duration<double, std::milli> all =
          std::chrono::steady_clock::now() - start;
      state.counters["in a row"] = all.count() / kMany;
      device->profiler().enable(true);
      for (int k = 0; k < 20; ++k) work_once(fixture, work);
    }
    for (const Profiler::Stage& stage : device->profiler().stages()) {
      state.counters[stage.label] = stage.milliseconds / static_cast<double>(stage.calls) *
                                    (stage.label == "permute" ? 3.0 : 1.0);
    }
    state.counters["bytes"] =
        static_cast<double>(device->allocated()) / static_cast<double>(fixture.x.size());
    state.counters["neighbours"] =
        static_cast<double>(fixture.near.pairs()) / static_cast<double>(fixture.x.size());
    return 0;
  });
}

void add(const char* device, std::int64_t particles) {
  constexpr std::int64_t kTooMany = 50'000'000;  // for more than a look at the memory
  const std::pair<const char*, Work> all[] = {{"sort", Work::sort},
                                              {"lists", Work::lists},
                                              {"sort_and_lists", Work::sort_and_lists},
                                              {"reference_lists", Work::reference_lists},
                                              {"density", Work::density}};
  for (const auto& [name, work] : all) {
    if (work == Work::reference_lists && std::string(device) != "cpu") continue;
    if (work != Work::sort_and_lists && particles > kTooMany) continue;
    benchmark::RegisterBenchmark((std::string(device) + "/" + name).c_str(),
                                 [device, work](benchmark::State& s) { run(s, device, work); })
        ->Arg(particles)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace barchan

int main(int argc, char** argv) {
  mallopt(M_MMAP_MAX, 0);  // as the program does (apps/barchan/main.cpp)
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  for (const std::int64_t n : {100'000, 1'000'000, 10'000'000}) barchan::add("cpu", n);
  for (const std::int64_t n : {100'000, 1'000'000, 10'000'000, 100'000'000}) {
    barchan::add("cuda", n);
  }
  barchan::add_file_benchmarks();
  barchan::add_view_benchmarks();
  barchan::add_surface_benchmarks();
  barchan::add_poisson_benchmarks();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
