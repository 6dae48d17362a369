// barchan check SCENE: what is wrong with it; else what it will need.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "base/units.h"
#include "commands.h"
#include "scene/scene.h"
#include "sim/driver.h"
#include "solvers/granular_sph/lattice.h"
#include "solvers/make_solver.h"
#include "solvers/pbf/lattice.h"

namespace barchan {

namespace {

struct Options {
  std::string scene;
  std::vector<std::string> settings;
};

constexpr double kMuchCompression = 0.05;  // excess density that is warned of

// Depth of the deepest fill: what its bounds have along gravity [m].
double depth_of(const Scene& scene) {
  const double g = length(scene.general.gravity);
  double depth = 0.0;
  for (const Fill& fill : scene.fills) {
    const Vec3d extent = bounds(fill.shape.shape).extent();
    double along = 0.0;
    for (int k = 0; k < 3; ++k) along += std::abs(scene.general.gravity[k]) * extent[k];
    if (g > 0.0) depth = std::max(depth, along / g);
  }
  return depth;
}

void print_compression(double C, double depth) {
  fmt::print("  squeezed   {:.2g} % at the bottom of {:.3g} m, by its own weight\n", 100.0 * C,
             depth);
}

// What gravity does to the deepest fill where iterations are fixed.
void foretell_compression(const Scene& scene, double dt) {
  const double g = length(scene.general.gravity), d = scene.general.resolution;
  const double depth = depth_of(scene);
  if (depth == 0.0 || scene.pbf.tolerance > 0.0) return;

  const double C = pbf::compression(g, depth, dt, d, scene.pbf);
  print_compression(C, depth);
  if (C <= kMuchCompression) return;
  // C goes with dt^2.
  const double substeps = std::ceil(std::sqrt(C / kMuchCompression) / (60.0 * dt));
  warn(
      "the weight of {:.3g} m of fluid will squeeze it by {:.2g} % at the bottom, more than {:.0f} "
      "%; pbf.substeps = {:.0f} would do",
      depth, 100.0 * C, 100.0 * kMuchCompression, substeps);
}

// The same of granular-sph, by its softness law. Iterations beyond the fewest are for impacts.
void foretell_softness(const Scene& scene, double dt) {
  const double g = length(scene.general.gravity), depth = depth_of(scene);
  if (depth == 0.0) return;
  const int n = scene.granular_sph.iterations_min;
  const double C = gsph::softness(g, depth, dt, scene.general.resolution, n);
  print_compression(C, depth);
  if (C <= kMuchCompression) return;
  warn(
      "the weight of {:.3g} m of material will squeeze it by {:.2g} % at the bottom, more than "
      "{:.0f} %; granular-sph.iterations_min = {:.0f} or granular-sph.fall = {:.2g} would do",
      depth, 100.0 * C, 100.0 * kMuchCompression, std::ceil(n * C / kMuchCompression),
      scene.granular_sph.fall * std::sqrt(kMuchCompression / C));
}

int check(const Options& options) {
  const Scene scene = load_scene(options.scene, options.settings);
  const std::unique_ptr<Device> device = make_device("cpu");
  const std::unique_ptr<Solver> solver = make_solver(scene, *device);
  const Driver driver(scene, *device, *solver);
  const State& state = driver.state();

  // Emitters at their full rate, and no sink: the most particles there may be.
  const double emitted = driver.emitters().due(scene.general.duration);
  const double most = static_cast<double>(state.size()) + emitted;
  double frame_bytes = 0.0, state_bytes = 0.0;
  for (const Column& column : state.columns()) {
    const double bytes = most * column.spec().components * size_of(column.spec().type);
    state_bytes += bytes;
    if (column.spec().in_frames) frame_bytes += bytes;
  }
  const double frames = static_cast<double>(scene.frame_count() / scene.cache.every + 1);
  // Two states, one frame being written and its file image.
  const double memory = 2.0 * state_bytes + 2.0 * frame_bytes;
  const double disk = frames * (frame_bytes + 16e3) + scene.cache.keep * (state_bytes + 16e3);
  const double d = scene.general.resolution;
  fmt::print("{}: {}\n", scene.name,
             scene.general.title.empty() ? "(no title)" : scene.general.title);
  fmt::print("  solver     {}\n", scene.general.solver);
  fmt::print("  spacing    {} m, radius {} m, support {} m\n", d, 0.5 * d, 2.0 * d);
  fmt::print("  particles  {}", human_count(state.size()));
  if (emitted > 0.0) {
    fmt::print(" at the start, {} emitted", human_count(static_cast<std::uint64_t>(emitted)));
  }
  fmt::print("\n");
  fmt::print("  solids     {}\n", scene.solids.size());
  fmt::print("  frames     {:.0f} over {} s, {} a second\n", frames, scene.general.duration,
             scene.general.fps);
  const double dt = std::min(solver->suggest_dt(state), 1.0 / scene.general.fps);
  fmt::print("  time step  {:.3g} s at the start\n", dt);
  if (scene.general.solver == "pbf") foretell_compression(scene, dt);
  if (scene.general.solver == "granular-sph") foretell_softness(scene, dt);
  fmt::print("  memory     about {}\n", human_bytes(memory));
  fmt::print("  disk       about {}\n", human_bytes(disk));
  for (const std::string& sentence : driver.emitters().overloads()) warn("{}", sentence);
  return 0;
}

}  // namespace

void add_check(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("check", "Say what is wrong with a scene, or what it needs");
  command->add_option("SCENE", options->scene, "A file or the name of a shipped scene")->required();
  add_set_option(*command, options->settings);
  command->callback([&line, options] { line.action = [options] { return check(*options); }; });
}

}  // namespace barchan
