// barchan view [SCENE|DIR]: a scene live, or the frames of a run, in the browser.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "api/view_session.h"
#include "base/error.h"
#include "base/log.h"
#include "commands.h"
#include "signals.h"
#include "view_place.h"

namespace barchan {

namespace {

struct Options {
  ViewRequest request;
  ViewPlace place;
  bool paused = false;
};

int view(Options options) {
  catch_signals();
  options.request.playing = !options.paused;
  options.request.stop = stop_asked;
  const std::string& what = options.request.scene;
  const bool folder = !what.empty() && std::filesystem::is_directory(what);
  if (folder && !options.request.settings.empty()) {
    reject("--set: what is in a run's folder cannot be changed");
  }
  if (!folder && !what.empty()) load_scene(what, options.request.settings);  // faults at once
  options.place.token = chosen_token();
  ViewFeed feed(options.place);
  fmt::print("{}\n", feed.url());
  std::fflush(stdout);
  note("open this address in a browser; Ctrl-C ends the view");
  if (folder) {
    view_run_folder(options.request, feed);
  } else {
    view_live(options.request, feed);
  }
  return 0;
}

}  // namespace

void add_view(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("view", "Watch a scene or a run in the browser");
  command->add_option("WHAT", options->request.scene,
                      "A scene, a run's folder; a gallery of the shipped scenes without it");
  command->add_option("--device", options->request.device, "cpu or cuda");
  command->add_option("--threads", options->request.threads, "CPU threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  command->add_option("--set", options->request.settings, "section.key=value, as often as needed")
      ->allow_extra_args(false);
  add_view_place(*command, options->place);
  command->add_flag("--paused", options->paused, "Show the start, and wait");
  command->callback([&line, options] { line.action = [options] { return view(*options); }; });
}

}  // namespace barchan
