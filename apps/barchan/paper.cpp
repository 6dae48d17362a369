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
#include "harness/report.h"
#include "harness/run_pages.h"
#include "progress.h"

namespace barchan {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::string id, out, device = "cpu";
  int threads = 0;
  bool quick = false, report = false, page_only = false, pictures = true;
};

// Results of a GPU stand beside those of the CPU: the report shows both.
fs::path base_folder(const Options& options, const std::string& device) {
  const fs::path base = options.out.empty() ? "out/papers" : options.out;
  return device == "cpu" ? base : fs::path(base.string() + "-" + device);
}

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
std::vector<Planned> plan(const Figure& figure, bool reduced, const fs::path& folder) {
  const PaperParams paper = load_scene(figure.id).paper;
  const std::vector<std::string> quick = reduced ? paper.quick : std::vector<std::string>{};
  std::vector<Planned> runs = {{"run", paper.label, load_scene(figure.id, quick), folder}};
  for (const PaperVariantParams& variant : paper.variants) {
    std::vector<std::string> settings = quick;
    settings.insert(settings.end(), variant.set.begin(), variant.set.end());
    runs.push_back({variant.name, variant.label.empty() ? variant.name : variant.label,
                    load_scene(figure.id, settings), folder / ("variant-" + variant.name)});
  }
  return runs;
}

void simulate(const Options& options, const Figure& figure, const Planned& planned,
              const CommandLine& line) {
  using Style = ProgressLine::Style;
  ProgressLine progress(log_is_quiet() ? Style::quiet : Style::automatic);
  RunRequest request;
  request.scene = planned.scene;
  request.scene_argument = figure.id;
  request.command = line.words;
  request.device = options.device;
  request.threads = options.threads;
  request.folder = planned.folder;
  request.mode = RunMode::overwrite;
  request.progress = [&](const Progress& p) { progress.show(p); };
  run_scene(request);
}

Json or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

// Ours beside theirs, as a table; what of it goes to results.json.
Json numbers_of(const Scene& scene, const std::vector<Expression>& expressions,
                const std::vector<FigureRun>& runs) {
  Json numbers = Json::array();
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
                       {"ours", or_null(ours)},
                       {"theirs", or_null(number.theirs)}});
  }
  return numbers;
}

void write_results(const Figure& figure, const Scene& scene, const Json& numbers, bool quick,
                   const std::vector<FigureRun>& runs) {
  const RunFolder& folder = runs.front().record.folder();
  const RunInfo info = read_run_info(folder.run_info());
  Json out = {{"id", figure.id},
              {"figure", figure.figure},
              {"note", scene.paper.note},
              {"label", runs.front().label},
              {"quick", quick},
              {"run",
               {{"solver", info.solver},
                {"device", info.device},
                {"threads", info.threads},
                {"spacing", scene.general.resolution},
                {"particles", info.particles},
                {"frames", info.frames},
                {"steps", info.steps},
                {"seconds", info.wall_seconds}}},
              {"variants", Json::array()},
              {"plots", Json::array()},
              {"numbers", numbers}};
  for (std::size_t v = 1; v < runs.size(); ++v) {
    out["variants"].push_back({{"name", runs[v].name}, {"label", runs[v].label}});
  }
  for (const PaperPlotParams& plot : scene.paper.plots) out["plots"].push_back(plot.name);
  write_file_atomic(folder.path() / "results.json", out.dump(2) + "\n");
}

// 1 where gnuplot is missing: there are numbers still.
int draw_plots(const Scene& scene, const std::vector<FigureRun>& runs, const fs::path& plots) try {
  draw_page(ledger_page(runs.front().record), plots / "ledger.png");
  for (const PaperPlotParams& plot : scene.paper.plots) {
    draw_page(paper_page(plot, runs), plots / (plot.name + ".png"));
    fmt::print("barchan: {}\n", (plots / (plot.name + ".png")).string());
  }
  return 0;
} catch (const Error& error) {
  log_message(LogLevel::error, error.what());
  return 1;
}

int make_figure(const Options& options, const Figure& figure, const fs::path& folder,
                const CommandLine& line) {
  if (!is_available(figure)) reject("{} is not available yet: it has no scene", figure.id);
  const std::vector<Planned> planned = plan(figure, options.quick, folder);
  const Scene& scene = planned.front().scene;
  const std::vector<Expression> ours = read_expressions(scene.paper);
  int exit_code = 0;
  std::vector<FigureRun> runs;
  for (const Planned& run : planned) {
    if (planned.size() > 1) note("{}: {}", figure.id, run.label);
    simulate(options, figure, run, line);
    RenderOptions render;
    render.folder = run.folder.string();
    render.threads = options.threads;
    if (options.quick) render.size = "480x270";
    if (options.pictures) exit_code = std::max(exit_code, render_run(render));
    runs.push_back({run.name, run.label, RunRecord(run.folder)});
  }
  exit_code = std::max(exit_code, draw_plots(scene, runs, folder / "plots"));
  fmt::print("{} ({}{}): {}\n", figure.id, figure.figure, options.quick ? ", quick" : "",
             scene.paper.note.empty() ? figure.shows : scene.paper.note);
  write_results(figure, scene, numbers_of(scene, ours, runs), options.quick, runs);
  return exit_code;
}

// The page of all figures. Those that have no results yet are run first, or the one asked for.
int report(const Options& options, const CommandLine& line) {
  const fs::path base = base_folder(options, options.device);
  int exit_code = 0;
  for (const Figure& figure : figures()) {
    const bool wanted = options.id.empty() ? !has_results(base / figure.id, options.quick)
                                           : options.id == figure.id;
    if (!wanted || options.page_only || !is_available(figure)) continue;
    try {
      exit_code = std::max(exit_code, make_figure(options, figure, base / figure.id, line));
    } catch (const Error& error) {  // the others are still worth showing
      log_message(LogLevel::error, fmt::format("{}: {}", figure.id, error.what()));
      exit_code = 1;
    }
  }
  const fs::path page = base_folder(options, "cpu") / "report.html";
  const int there = write_paper_report(
      {{"cpu", base_folder(options, "cpu")}, {"cuda", base_folder(options, "cuda")}}, page);
  fmt::print("{} of {} figures in {}\n", there, figures().size(), page.string());
  return exit_code;
}

int paper(const Options& options, const CommandLine& line) {
  if (!options.id.empty()) find_figure(options.id);
  if (options.report) return report(options, line);
  if (options.id.empty()) return list_figures();
  const fs::path folder = options.out.empty() ? base_folder(options, options.device) / options.id
                                              : fs::path(options.out);
  return make_figure(options, find_figure(options.id), folder, line);
}

}  // namespace

void add_paper(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("paper", "Figures and tables of the papers, ours beside theirs");
  command->add_option("ID", options->id, "Such as zb05/column-sand; lists them where not given");
  command->add_flag("--quick", options->quick, "A reduced version");
  command->add_option("--out", options->out,
                      "Run folder, out/papers/ID; with --report the folder of all, out/papers");
  command->add_option("--device", options->device, "cpu or cuda");
  command->add_option("--threads", options->threads, "CPU threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  command->add_flag("--report", options->report,
                    "Run what has no results yet, and write OUT/report.html with all that have");
  command->add_flag("--pictures,!--no-pictures", options->pictures,
                    "Draw every frame (the default), or make numbers and plots only");
  command->add_flag("--page-only", options->page_only, "With --report: run nothing")
      ->needs("--report");
  command->callback(
      [&line, options] { line.action = [&line, options] { return paper(*options, line); }; });
}

}  // namespace barchan
