// barchan run SCENE
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>

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

RunRequest request_of(const RunOptions& options, const CommandLine& line) {
  RunRequest request;
  request.scene = load_scene(options.scene, options.settings);
  SceneParams& general = request.scene.general;
  if (options.frames >= 0) general.duration = static_cast<double>(options.frames) / general.fps;
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

// What there is to say of a run: a progress line and sentences for people, or JSON lines.
class Account {
 public:
  Account(const RunRequest& request, bool json)
      : request_(request),
        json_(json),
        line_(json             ? ProgressLine::Style::json
              : log_is_quiet() ? ProgressLine::Style::quiet
                               : ProgressLine::Style::automatic) {}

  void started(const RunInfo& info, const State& state) const {
    if (json_) return tell_start(info, state);
    const double d = request_.scene.general.resolution;
    note("{}: {}, {} particles, spacing {} m, radius {} m, support {} m -> {}", info.scene,
         info.solver, human_count(state.size()), d, 0.5 * d, 2.0 * d, request_.folder.string());
    if (state.step > 0) {
      note("going on from frame {} (t = {:.4f} s)", state.frame, state.time);
    }
  }

  void stepped(const Progress& progress) { line_.show(progress); }

  void failed(const std::exception& error) const {
    tell({{"event", "failed"}, {"why", error.what()}});
  }

  void ended(const RunInfo& info) const {
    if (json_) {
      tell({{"event", name_of(info.state)},
            {"frames", info.frames},
            {"steps", info.steps},
            {"wall_seconds", info.wall_seconds}});
    } else if (info.state == RunState::done) {
      note("{}: {} frame{} in {}", request_.folder.string(), info.frames,
           info.frames == 1 ? "" : "s", human_seconds(info.wall_seconds));
    } else {
      note("interrupted at t = {:.4f} s; a checkpoint is written, go on with --resume", info.time);
    }
  }

 private:
  void tell(const Json& event) const { line_.event(event.dump()); }

  void tell_start(const RunInfo& info, const State& state) const {
    tell({{"event", "start"},
          {"scene", info.scene},
          {"solver", info.solver},
          {"device", info.device},
          {"threads", info.threads},
          {"particles", state.size()},
          {"folder", request_.folder.string()},
          {"frame", state.frame}});
  }

  const RunRequest& request_;
  bool json_;
  ProgressLine line_;
};

// Lets people watch the run, and pause it, in the browser.
class Audience {
 public:
  Audience(const RunRequest& request, const ViewPlace& place)
      : feed_(ViewPlace{place.host, place.port, chosen_token()}),
        watch_(request.scene_argument, request.scene, feed_, request.stop) {}

  void started(const Driver& driver) {
    note("watch it at {}", feed_.url());
    watch_.started(driver);
  }
  void stepped(const Progress& progress) { watch_.stepped(progress); }

 private:
  ViewFeed feed_;
  RunWatch watch_;
};

int run(const RunOptions& options, const CommandLine& line) {
  RunRequest request = request_of(options, line);
  catch_signals();
  Account account(request, options.json_log);
  std::optional<Audience> audience;
  if (options.view) audience.emplace(request, options.place);
  request.started = [&](const RunInfo& info, const Driver& driver) {
    if (audience) audience->started(driver);
    account.started(info, driver.state());
  };
  request.progress = [&](const Progress& progress) {
    account.stepped(progress);
    if (audience) audience->stepped(progress);
  };
  try {
    const RunInfo info = run_scene(request);
    account.ended(info);
    return info.state == RunState::done ? 0 : 1;
  } catch (const std::exception& error) {
    account.failed(error);
    throw;
  }
}

}  // namespace

void add_run(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Simulate a scene into a folder of frames");
  command->add_option("SCENE", options->scene, "A file or the name of a shipped scene")->required();
  add_device_options(*command, options->device, options->threads);
  command->add_option("--frames", options->frames, "How many frames, instead of the duration")
      ->check(CLI::Range(0, 10000000));
  command->add_option("--out", options->out, "Run folder; out/<scene> by default");
  auto* resume = command->add_flag("--resume", options->resume, "Go on from the last checkpoint");
  command->add_flag("--overwrite", options->overwrite, "Start again")->excludes(resume);
  add_set_option(*command, options->settings);
  command->add_flag("--json-log", options->json_log, "Progress as JSON lines on stdout");
  command->add_flag("--view", options->view, "Watch it in the browser");
  add_view_place(*command, options->place);
  command->callback(
      [&line, options] { line.action = [&line, options] { return run(*options, line); }; });
}

}  // namespace barchan
