// barchan paper [ID]: the figures and tables of the papers, ours beside theirs.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/run.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"
#include "commands.h"
#include "harness/figures.h"
#include "harness/paper_plots.h"
#include "harness/run_pages.h"
#include "progress.h"

namespace barchan {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::string id, out, device = "cpu";
  int threads = 0;
  bool quick = false;
};

int list_figures() {
  for (const Figure& figure : figures()) {
    fmt::print("{:<26}{:<24}{:<11}{}\n", figure.id, figure.figure,
               is_available(figure) ? "available" : "not yet", figure.shows);
  }
  return 0;
}

// A run of the figure that is still to be made.
struct Planned {
  std::string name, label;
  Scene scene;
  fs::path folder;
};

// The scene's own run first, then its variants; all are read before any is simulated.
std::vector<Planned> plan(const Options& options) {
  const fs::path folder =
      options.out.empty() ? fs::path("out/papers") / options.id : fs::path(options.out);
  const PaperParams paper = load_scene(options.id).paper;
  const std::vector<std::string> quick = options.quick ? paper.quick : std::vector<std::string>{};
  std::vector<Planned> runs = {{"run", paper.label, load_scene(options.id, quick), folder}};
  for (const PaperVariantParams& variant : paper.variants) {
    std::vector<std::string> settings = quick;
    settings.insert(settings.end(), variant.set.begin(), variant.set.end());
    runs.push_back({variant.name, variant.label.empty() ? variant.name : variant.label,
                    load_scene(options.id, settings), folder / ("variant-" + variant.name)});
  }
  return runs;
}

void simulate(const Options& options, const Planned& planned, const CommandLine& line, bool quiet) {
  using Style = ProgressLine::Style;
  ProgressLine progress(quiet ? Style::quiet : Style::automatic);
  RunRequest request;
  request.scene = planned.scene;
  request.scene_argument = options.id;
  request.command = line.words;
  request.device = options.device;
  request.threads = options.threads;
  request.folder = planned.folder;
  request.mode = RunMode::overwrite;
  request.progress = [&](const Progress& p) { progress.show(p); };
  run_scene(request);
}

// Ours beside theirs, as a table and in results.json.
void compare(const Figure& figure, const Scene& scene, const std::vector<Expression>& expressions,
             bool quick, const std::vector<FigureRun>& runs) {
  Json numbers = Json::array();
  fmt::print("{} ({}{}): {}\n", figure.id, figure.figure, quick ? ", quick" : "",
             scene.paper.note.empty() ? figure.shows : scene.paper.note);
  if (!expressions.empty()) {
    fmt::print("  {:<40}{:>14}{:>14}{:>12}\n", "", "ours", "theirs", "ours/theirs");
  }
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const PaperNumberParams& number = scene.paper.numbers[i];
    const double ours =
        expressions[i].number([&](const Name& name) { return figure_value(runs, name); });
    const std::string unit = number.unit.empty() ? "" : " [" + number.unit + "]";
    const double ratio = ours / number.theirs;
    const auto text = [](double value, const char* format) {
      return std::isfinite(value) ? fmt::format(fmt::runtime(format), value) : std::string("-");
    };
    fmt::print("  {:<40}{:>14}{:>14}{:>12}\n", number.name + unit, text(ours, "{:.6g}"),
               text(number.theirs, "{:.6g}"), text(ratio, "{:.3g}"));
    numbers.push_back({{"name", number.name},
                       {"unit", number.unit},
                       {"ours", std::isfinite(ours) ? Json(ours) : Json()},
                       {"theirs", std::isfinite(number.theirs) ? Json(number.theirs) : Json()}});
  }
  const Json out = {
      {"id", figure.id}, {"figure", figure.figure}, {"quick", quick}, {"numbers", numbers}};
  write_file_atomic(runs.front().record.folder().path() / "results.json", out.dump(2) + "\n");
}

int paper(const Options& options, const CommandLine& line, bool quiet) {
  if (options.id.empty()) return list_figures();
  const Figure& figure = find_figure(options.id);
  if (!is_available(figure)) reject("{} is not available yet: it has no scene", figure.id);
  const std::vector<Planned> planned = plan(options);
  const Scene& scene = planned.front().scene;
  const std::vector<Expression> ours = read_expressions(scene.paper);
  int drawn = 0;
  std::vector<FigureRun> runs;
  for (const Planned& run : planned) {
    if (planned.size() > 1) note("{}: {}", figure.id, run.label);
    simulate(options, run, line, quiet);
    RenderOptions render;
    render.folder = run.folder.string();
    render.threads = options.threads;
    if (options.quick) render.size = "480x270";
    drawn = std::max(drawn, render_run(render));
    runs.push_back({run.name, run.label, RunRecord(run.folder)});
  }
  const fs::path plots = planned.front().folder / "plots";
  try {
    draw_page(ledger_page(runs.front().record), plots / "ledger.png");
    for (const PaperPlotParams& plot : scene.paper.plots) {
      draw_page(paper_page(plot, runs), plots / (plot.name + ".png"));
      fmt::print("barchan: {}\n", (plots / (plot.name + ".png")).string());
    }
  } catch (const Error& error) {  // without gnuplot there are numbers still
    log_message(LogLevel::error, error.what());
    drawn = 1;
  }
  compare(figure, scene, ours, options.quick, runs);
  return drawn;
}

}  // namespace

void add_paper(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("paper", "Figures and tables of the papers, ours beside theirs");
  command->add_option("ID", options->id, "Such as zb05/column-sand; lists them where not given");
  command->add_flag("--quick", options->quick, "A reduced version");
  command->add_option("--out", options->out, "Run folder; out/papers/ID");
  command->add_option("--device", options->device, "cpu or cuda");
  command->add_option("--threads", options->threads, "CPU threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  command->callback([&app, &line, options] {
    line.action = [&app, &line, options] {
      return paper(*options, line, app.get_option("--quiet")->count() > 0);
    };
  });
}

}  // namespace barchan
