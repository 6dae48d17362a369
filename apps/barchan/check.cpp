// barchan check SCENE: what is wrong with it; else what it will need.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "base/log.h"
#include "base/units.h"
#include "commands.h"
#include "math/svd3.h"
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

// Particles that lie on each other, two spacings across.
struct Pile {
  double height = 0.0;  // of their volume [m]
  double load = 0.0;    // height that weighs as much with the density of the lowest one [m]
};

// The pile that squeezes its lowest particle most. What hangs more than two spacings above others
// is a pile of its own.
Pile heaviest_pile(const Scene& scene, const State& state) {
  const double g = length(scene.general.gravity), d = scene.general.resolution;
  if (g == 0.0 || state.size() == 0) return {};
  const Vec3d down = scene.general.gravity / g, u = any_perpendicular(down), v = cross(down, u);
  struct Placed {
    double u, v, height, density;
  };
  std::vector<Placed> all;
  all.reserve(state.size());
  for (std::size_t i = 0; i < state.size(); ++i) {
    const Vec3d x(state.position()[i]);
    all.push_back(
        {dot(u, x), dot(v, x), -dot(down, x), scene.materials[state.material()[i]].params.density});
  }
  double first_u = all.front().u, first_v = all.front().v;
  for (const Placed& one : all) {
    first_u = std::min(first_u, one.u);
    first_v = std::min(first_v, one.v);
  }
  for (Placed& one : all) {
    one.u = std::floor((one.u - first_u) / (2.0 * d) + 0.25);
    one.v = std::floor((one.v - first_v) / (2.0 * d) + 0.25);
  }
  std::sort(all.begin(), all.end(), [](const Placed& a, const Placed& b) {
    return std::tie(a.u, a.v, a.height) < std::tie(b.u, b.v, b.height);
  });

  Pile heaviest, pile;
  for (std::size_t i = 0, lowest = 0; i < all.size(); ++i) {
    const bool on_the_last = i > 0 && all[i].u == all[i - 1].u && all[i].v == all[i - 1].v &&
                             all[i].height < all[i - 1].height + 2.0 * d;
    if (!on_the_last) {
      pile = {};
      lowest = i;
    }
    pile.height += d / 4.0;
    pile.load += d / 4.0 * all[i].density / all[lowest].density;
    if (pile.load > heaviest.load) heaviest = pile;
  }
  return heaviest;
}

void print_compression(double C, const Pile& pile) {
  fmt::print("  squeezed   {:.2g} % at the bottom of {:.3g} m, by its own weight\n", 100.0 * C,
             pile.height);
}

// What gravity does to the heaviest pile where iterations are fixed.
void foretell_compression(const Scene& scene, const State& state, double dt) {
  if (scene.pbf.tolerance > 0.0) return;
  const double g = length(scene.general.gravity), d = scene.general.resolution;
  const Pile pile = heaviest_pile(scene, state);
  if (pile.load == 0.0) return;

  const double C = pbf::compression(g, pile.load, dt, d, scene.pbf);
  print_compression(C, pile);
  if (C <= kMuchCompression) return;
  // C goes with dt^2.
  const double substeps = std::ceil(std::sqrt(C / kMuchCompression) / (60.0 * dt));
  warn(
      "the weight of {:.3g} m of fluid will squeeze it by {:.2g} % at the bottom, more than {:.0f} "
      "%; pbf.substeps = {:.0f} would do",
      pile.height, 100.0 * C, 100.0 * kMuchCompression, substeps);
}

// The same of granular-sph, by its softness law. Iterations beyond the fewest are for impacts.
void foretell_softness(const Scene& scene, const State& state, double dt) {
  const double g = length(scene.general.gravity);
  const Pile pile = heaviest_pile(scene, state);
  if (pile.load == 0.0) return;
  const int n = scene.granular_sph.iterations_min;
  const double C = gsph::softness(g, pile.load, dt, scene.general.resolution, n);
  print_compression(C, pile);
  if (C <= kMuchCompression) return;
  warn(
      "the weight of {:.3g} m of material will squeeze it by {:.2g} % at the bottom, more than "
      "{:.0f} %; granular-sph.iterations_min = {:.0f} or granular-sph.fall = {:.2g} would do",
      pile.height, 100.0 * C, 100.0 * kMuchCompression, std::ceil(n * C / kMuchCompression),
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
  if (scene.general.solver == "pbf") foretell_compression(scene, state, dt);
  if (scene.general.solver == "granular-sph") foretell_softness(scene, state, dt);
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
