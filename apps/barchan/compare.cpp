// barchan compare SCENE --solvers a,b: the same shot by several solvers, side by side.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "api/pictures.h"
#include "base/error.h"
#include "base/log.h"
#include "cache/frame_file.h"
#include "commands.h"
#include "harness/compare.h"
#include "progress.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

struct Options {
  std::string scene, out, device = "cpu";
  std::vector<std::string> solvers = {"flip", "pbf", "granular-sph", "dem"};
  std::vector<std::string> settings;
  int threads = 0, pictures = 5, frames = 0;
};

// A run that is to be made, with the scene as its solver takes it.
struct Planned {
  ComparedRun run;
  Scene scene;
};

// All scenes are read before the first is simulated.
std::vector<Planned> plan(const Options& options, const Scene& scene, const fs::path& folder) {
  std::vector<Planned> planned;
  for (const std::string& solver : options.solvers) {
    const MaterialMap map = map_materials(scene, solver);
    Planned one{{solver, map.notes, map.refused, folder / solver, {}}, scene};
    if (map.refused.empty()) {
      std::vector<std::string> settings = map.settings;
      settings.push_back("solver=" + solver);
      settings.insert(settings.end(), options.settings.begin(), options.settings.end());
      one.scene = load_scene(options.scene, settings);
      one.scene.general.duration = scene.general.duration;
    }
    planned.push_back(std::move(one));
  }
  return planned;
}

void simulate(const Options& options, const CommandLine& line, const Planned& planned) {
  RunRequest request;
  request.scene = planned.scene;
  request.scene_argument = options.scene;
  request.command = line.words;
  request.device = options.device;
  request.threads = options.threads;
  request.folder = planned.run.folder;
  request.mode = RunMode::overwrite;
  run_with_progress(std::move(request));
}

// Frames that are evenly spread over the shot, the last one among them; the start is the same in
// all.
std::vector<std::int64_t> shown_frames(const Scene& scene, int count) {
  const auto there = static_cast<std::size_t>(scene.frame_count() / scene.cache.every + 1);
  std::vector<std::int64_t> frames;
  for (const std::size_t at : spread_over(there, count + 1)) {
    if (at > 0 || there == 1) frames.push_back(scene.cache.every * static_cast<std::int64_t>(at));
  }
  return frames;
}

void draw(const Options& options, const std::vector<std::int64_t>& frames, Planned& planned) {
  Scene scene = planned.scene;
  scene.render.width = 640;
  scene.render.height = 360;
  const RunFolder run(planned.run.folder);
  Pictures studio(run.path(), scene, options.threads);
  fs::create_directories(run.path() / "images");
  for (const std::int64_t number : frames) {
    const LoadedFrame frame = read_frame(run.frame(number));
    planned.run.pictures.push_back(run.path() / "images" / fmt::format("frame_{:06}.png", number));
    write_png(planned.run.pictures.back(), studio.picture(studio.light(frame), frame));
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text = "barchan";
  for (std::size_t i = 1; i < words.size(); ++i) text += " " + words[i];
  return text;
}

int compare(const Options& options, const CommandLine& line) {
  Scene scene = load_scene(options.scene, options.settings);
  if (options.frames > 0) scene.general.duration = options.frames / scene.general.fps;
  const fs::path folder =
      options.out.empty() ? fs::path("out/compare") / scene.name : fs::path(options.out);
  std::vector<Planned> planned = plan(options, scene, folder);
  if (std::none_of(planned.begin(), planned.end(),
                   [](const Planned& one) { return one.run.fault.empty(); })) {
    reject("nothing to compare: {}", planned.front().run.fault);
  }
  const std::vector<std::int64_t> frames = shown_frames(planned.front().scene, options.pictures);
  int exit_code = 0;
  for (Planned& one : planned) {
    if (!one.run.fault.empty()) {
      note("{} is left out: {}", one.run.solver, one.run.fault);
      continue;
    }
    note("{}", one.run.solver);
    try {
      simulate(options, line, one);
    } catch (const Error& error) {  // the others are still worth comparing
      log_message(LogLevel::error, error.what());
      one.run.fault = error.what();
      exit_code = 1;
      continue;
    }
    try {
      draw(options, frames, one);
    } catch (const Error& error) {  // without pictures there are numbers still
      log_message(LogLevel::error, error.what());
      exit_code = 1;
    }
  }
  std::vector<double> times;
  for (const std::int64_t f : frames) times.push_back(static_cast<double>(f) / scene.general.fps);
  std::vector<ComparedRun> runs;
  for (const Planned& one : planned) runs.push_back(one.run);
  write_comparison(planned.front().scene, runs, times, joined(line.words), folder / "index.html");
  note("{}", (folder / "index.html").string());
  return exit_code;
}

}  // namespace

void add_compare(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("compare", "The same shot by several solvers, side by side on a page");
  command->add_option("SCENE", options->scene, "A file or a shipped scene")->required();
  command
      ->add_option("--solvers", options->solvers, "Which; the first is the measure of the others")
      ->delimiter(',')
      ->check(CLI::IsMember({"ballistic", "flip", "pbf", "granular-sph", "dem"}));
  command->add_option("--out", options->out, "Folder for runs and page; out/compare/SCENE");
  command->add_option("--frames", options->frames, "Only so many")->check(CLI::PositiveNumber);
  command->add_option("--pictures", options->pictures, "Of each run; 5")->check(CLI::Range(1, 100));
  add_set_option(*command, options->settings);
  add_device_options(*command, options->device, options->threads);
  command->callback(
      [&line, options] { line.action = [&line, options] { return compare(*options, line); }; });
}

}  // namespace barchan
