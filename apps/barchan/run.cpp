// barchan run SCENE
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "api/run.h"
#include "api/view_session.h"
#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "commands.h"
#include "progress.h"
#include "signals.h"
#include "view_place.h"

namespace barchan {

namespace {

using Json = nlohmann::ordered_json;

struct RunOptions {
  std::string scene, device = "cpu", out;
  int threads = 0;
  std::int64_t frames = -1;
  bool resume = false, overwrite = false, json_log = false, view = false;
  std::vector<std::string> settings;
  ViewPlace place;
};

std::string size_line(const Scene& scene) {
  const double d = scene.general.resolution;
  return fmt::format("spacing {} m, radius {} m, support {} m", d, 0.5 * d, 2.0 * d);
}

RunRequest request_of(const RunOptions& options, const CommandLine& line) {
  RunRequest request;
  request.scene = load_scene(options.scene, options.settings);
  if (options.frames >= 0) {
    request.scene.general.duration =
        static_cast<double>(options.frames) / request.scene.general.fps;
  }
  request.scene_argument = options.scene;
  request.command = line.words;
  request.device = options.device;
  request.threads = options.threads;
  request.folder = options.out.empty() ? std::filesystem::path("out") / request.scene.name
                                       : std::filesystem::path(options.out);
  request.mode = options.resume      ? RunMode::resume
                 : options.overwrite ? RunMode::overwrite
                                     : RunMode::create;
  request.stop = stop_asked;
  return request;
}

Json start_event(const RunInfo& info, const State& state, const RunRequest& request) {
  return {{"event", "start"},
          {"scene", info.scene},
          {"solver", info.solver},
          {"device", info.device},
          {"threads", info.threads},
          {"particles", state.size()},
          {"folder", request.folder.string()},
          {"frame", state.frame}};
}

void note_start(const RunInfo& info, const State& state, const RunRequest& request) {
  note("{}: {}, {} particles, {} -> {}", info.scene, info.solver, human_count(state.size()),
       size_line(request.scene), request.folder.string());
  if (state.step > 0) note("going on from frame {} (t = {:.4f} s)", state.frame, state.time);
}

Json end_event(const RunInfo& info) {
  return {{"event", name_of(info.state)},
          {"frames", info.frames},
          {"steps", info.steps},
          {"wall_seconds", info.wall_seconds}};
}

void note_end(const RunInfo& info, const RunRequest& request) {
  if (info.state == RunState::done) {
    note("{}: {} frame{} in {}", request.folder.string(), info.frames, info.frames == 1 ? "" : "s",
         human_seconds(info.wall_seconds));
  } else {
    note("interrupted at t = {:.4f} s; a checkpoint is written, go on with --resume", info.time);
  }
}

int run(const RunOptions& options, const CommandLine& line, bool quiet) {
  RunRequest request = request_of(options, line);
  catch_signals();
  using Style = ProgressLine::Style;
  ProgressLine progress(options.json_log ? Style::json : quiet ? Style::quiet : Style::automatic);
  std::unique_ptr<ViewFeed> feed;
  std::unique_ptr<RunWatch> watch;
  if (options.view) {
    feed = std::make_unique<ViewFeed>(
        ViewPlace{options.place.host, options.place.port, chosen_token()});
    watch = std::make_unique<RunWatch>(options.scene, request.scene, *feed, request.stop);
  }
  request.progress = [&](const Progress& p) {
    progress.show(p);
    if (watch) watch->stepped(p);
  };
  request.started = [&](const RunInfo& info, const Driver& driver) {
    if (watch) {
      note("watch it at {}", feed->url());
      watch->started(driver);
    }
    if (options.json_log) {
      progress.event(start_event(info, driver.state(), request).dump());
    } else {
      note_start(info, driver.state(), request);
    }
  };
  RunInfo info;
  try {
    info = run_scene(request);
  } catch (const std::exception& error) {
    progress.event(Json{{"event", "failed"}, {"why", error.what()}}.dump());
    throw;
  }
  if (options.json_log) {
    progress.event(end_event(info).dump());
  } else {
    note_end(info, request);
  }
  return info.state == RunState::done ? 0 : 1;
}

}  // namespace

void add_run(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scene into a folder of frames");
  command->add_option("SCENE", options->scene, "A file or the name of a shipped scene")->required();
  command->add_option("--device", options->device, "cpu or cuda");
  command->add_option("--threads", options->threads, "CPU threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  command->add_option("--frames", options->frames, "How many frames, instead of the duration")
      ->check(CLI::Range(0, 10000000));
  command->add_option("--out", options->out, "Run folder; out/<scene> by default");
  auto* resume = command->add_flag("--resume", options->resume, "Go on from the last checkpoint");
  command->add_flag("--overwrite", options->overwrite, "Start again")->excludes(resume);
  command->add_option("--set", options->settings, "section.key=value, as often as needed")
      ->allow_extra_args(false);
  command->add_flag("--json-log", options->json_log, "Progress as JSON lines on stdout");
  command->add_flag("--view", options->view, "Watch it in the browser");
  add_view_place(*command, options->place);
  command->callback([&app, &line, options] {
    line.action = [&app, &line, options] {
      return run(*options, line, app.get_option("--quiet")->count() > 0);
    };
  });
}

}  // namespace barchan
