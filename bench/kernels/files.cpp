// Writing and reading one frame: time, and the process's peak memory (run one benchmark at a time
// with --benchmark_filter for a peak of its own).
#include "kernels/files.h"

#include <benchmark/benchmark.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <limits>

#include "cache/frame_file.h"

namespace barchan {

namespace {

namespace fs = std::filesystem;

Frame frame_of(std::int64_t n) {
  Frame frame;
  frame.spacing = 0.01;
  frame.materials = {"sand"};
  const auto count = static_cast<std::size_t>(n);
  for (const ColumnSpec& spec :
       {ColumnSpec{"position", Type::f32, 3, true}, ColumnSpec{"velocity", Type::f32, 3, true},
        ColumnSpec{"id", Type::u64, 1, true}, ColumnSpec{"material", Type::u8, 1, true}}) {
    frame.columns.push_back(make_host_column(spec, count));
  }
  for (std::size_t i = 0; i < count; ++i) {
    frame.columns[0].component<float>(0)[i] = 0.01f * static_cast<float>(i % 1000);
    frame.columns[2].component<std::uint64_t>(0)[i] = i;
  }
  return frame;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

fs::path scratch_file() {
  return fs::temp_directory_path() / ("barchan-bench-" + std::to_string(::getpid()) + ".h5");
}

void write_one(benchmark::State& state) {
  const Frame frame = frame_of(state.range(0));
  for (auto _ : state) write_frame(scratch_file(), frame);
  state.counters["MB"] = static_cast<double>(fs::file_size(scratch_file())) * 1e-6;
  state.counters["peak MB"] = peak_megabytes();
  fs::remove(scratch_file());
}

void read_one(benchmark::State& state) {
  write_frame(scratch_file(), frame_of(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(read_frame(scratch_file()).position.data());
  state.counters["peak MB"] = peak_megabytes();
  fs::remove(scratch_file());
}

}  // namespace

void add_file_benchmarks() {
  mallopt(M_MMAP_MAX, 0);  // as the program does, see apps/barchan/main.cpp
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  for (const std::int64_t n : {1'000'000, 10'000'000}) {
    benchmark::RegisterBenchmark("frame/write", write_one)
        ->Arg(n)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
    benchmark::RegisterBenchmark("frame/read", read_one)
        ->Arg(n)
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

}  // namespace barchan
