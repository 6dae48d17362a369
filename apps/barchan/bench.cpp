// barchan bench SCENE: steps without frames; ms a step, stages, memory, as a table and JSON.
#include <fmt/core.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/units.h"
#include "commands.h"
#include "compute/buffer.h"
#include "sim/driver.h"
#include "solvers/make_solver.h"

namespace barchan {

namespace {

struct Options {
  std::string scene, device = "cpu", json;
  int steps = 50, warmup = 10, threads = 0;
  std::vector<std::string> settings;
};

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Bytes a second that a plain copy moves, read and written: the ceiling that steps are held
// against.
double copy_bandwidth(Device& device) {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  Buffer<std::byte> a(device, kBytes), b(device, kBytes);
  a.clear_to_zero();
  double best = 1e30;
  for (int repeat = 0; repeat < 5; ++repeat) {
    device.wait();
    const auto start = Clock::now();
    device.copy(b.data(), a.data(), kBytes);
    device.wait();
    best = std::min(best, milliseconds_since(start));
  }
  return 2.0 * static_cast<double>(kBytes) / (best * 1e-3);
}

double peak_memory(Device& device) {
  if (!device.on_host()) return static_cast<double>(device.peak_allocated());
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Measured {
  std::vector<double> ms;
  double iterations = 0.0;
  std::uint64_t pairs = 0, boundary = 0;
};

Measured measure(Driver& driver, Device& device, int steps, int warmup) {
  Measured measured;
  for (int s = 0; s < warmup; ++s) driver.step_within_frame();
  device.wait();
  device.profiler().clear();
  for (int s = 0; s < steps; ++s) {
    const auto start = Clock::now();
    const StepReport report = driver.step_within_frame();
    device.wait();
    measured.ms.push_back(milliseconds_since(start));
    measured.iterations += report.iterations;
    measured.pairs += report.pairs;
    measured.boundary = report.boundary_particles;
  }
  return measured;
}

void print_table(const nlohmann::ordered_json& result) {
  for (const auto& [key, value] : result.items()) {
    if (value.is_object()) {
      fmt::print("stages [ms per step]\n");
      for (const auto& [label, ms] : value.items()) {
        fmt::print("  {:<26}{:10.4f}\n", label, ms.get<double>());
      }
    } else if (value.is_number_float()) {
      fmt::print("{:<24}{:.6g}\n", key, value.get<double>());
    } else {
      fmt::print("{:<24}{}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
}

int bench(const Options& options) {
  const Scene scene = load_scene(options.scene, options.settings);
  const std::unique_ptr<Device> device = make_device(options.device, options.threads);
  const std::unique_ptr<Solver> solver = make_solver(scene, *device);
  Driver driver(scene, *device, *solver);
  // Times of whole steps first, undisturbed; on a GPU the stages come from a second, timed run.
  const Measured measured = measure(driver, *device, options.steps, options.warmup);
  if (!device->on_host()) {
    device->profiler().enable(true);
    measure(driver, *device, options.steps, 0);
  }
  const double memory = peak_memory(*device);
  const double bandwidth = copy_bandwidth(*device);
  const auto particles = static_cast<double>(driver.state().size());
  const double ms = median(measured.ms);
  const double steps = options.steps;
  const double floor_ms = solver->floor_bytes(driver.state().size()) / bandwidth * 1e3;

  nlohmann::ordered_json result;
  const auto or_null = [](double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
  };
  result["scene"] = options.scene;
  result["device"] = device->description();
  result["threads"] = device->threads();
  result["particles"] = driver.state().size();
  result["boundary_particles"] = measured.boundary;
  result["steps"] = options.steps;
  result["ms_per_step_median"] = ms;
  result["ms_per_step_min"] = *std::min_element(measured.ms.begin(), measured.ms.end());
  result["ns_per_particle_step"] = or_null(ms * 1e6 / particles);
  result["iterations_mean"] = or_null(measured.iterations / steps);
  const double pairs = static_cast<double>(measured.pairs) / steps;
  result["neighbours_mean"] = pairs > 0.0 ? or_null(pairs / particles) : or_null(NAN);
  result["pairs_per_second"] = pairs > 0.0 ? or_null(pairs / (ms * 1e-3)) : or_null(NAN);
  result["stages"] = nlohmann::ordered_json::object();
  for (const Profiler::Stage& stage : device->profiler().stages()) {
    result["stages"][stage.label] = stage.milliseconds / steps;
  }
  result["bytes_per_second"] = floor_ms > 0.0 ? or_null(floor_ms / ms * bandwidth) : or_null(NAN);
  result["copy_bytes_per_second"] = bandwidth;
  result["floor_share"] = floor_ms > 0.0 ? or_null(floor_ms / ms) : or_null(NAN);
  result["peak_memory_bytes"] = static_cast<std::uint64_t>(memory);
  print_table(result);
  if (!options.json.empty()) write_file_atomic(options.json, result.dump(2) + "\n");
  return 0;
}

}  // namespace

void add_bench(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench", "Time a scene's steps without writing frames");
  command->add_option("SCENE", options->scene, "A file or the name of a shipped scene")->required();
  command->add_option("--steps", options->steps, "Steps that are timed")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--warmup", options->warmup, "Steps before")->check(CLI::Range(0, 1000000));
  add_device_options(*command, options->device, options->threads);
  command->add_option("--json", options->json, "Also write the result to this file");
  add_set_option(*command, options->settings);
  command->callback([&line, options] { line.action = [options] { return bench(*options); }; });
}

}  // namespace barchan
