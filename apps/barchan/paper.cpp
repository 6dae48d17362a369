// barchan paper [ID]: the figures and tables of the papers, ours beside theirs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

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
  std::string id, out, device = "cpu", size;
  std::string only;  // the name of one run; empty: all, and what they show
  int threads = 0;
  int pictures = -1;   // of each run; -1: what the version asks for
  double limit = 0.0;  // of each run [s]; 0: none
  bool quick = false, resume = false, report = false, page_only = false;
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
  const std::string label = paper.variants.empty() ? "" : paper.label;  // alone it needs none
  std::vector<Planned> runs = {{"run", label, load_scene(figure.id, quick), folder}};
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
  RunRequest request;
  request.scene = planned.scene;
  request.scene_argument = figure.id;
  request.command = line.words;
  request.device = options.device;
  request.threads = options.threads;
  request.folder = planned.folder;
  request.mode = options.resume ? RunMode::resume : RunMode::overwrite;
  using Clock = std::chrono::steady_clock;
  request.stop = [&options, begun = Clock::now()] {
    return options.limit > 0.0 &&
           std::chrono::duration<double>(Clock::now() - begun).count() > options.limit;
  };
  if (run_with_progress(std::move(request)).state == RunState::interrupted) {
    note("{}: ended by --limit, what is there is measured", planned.folder.string());
  }
}

// Every frame, or a few; a reduced version has two small ones.
int draw(const Options& options, const fs::path& folder) {
  if (options.pictures == 0) return 0;
  RenderOptions render;
  render.folder = folder.string();
  render.threads = options.threads;
  render.size = options.size.empty() && options.quick ? "320x180" : options.size;
  render.pictures = options.pictures > 0 ? options.pictures : options.quick ? 2 : 0;
  return render_run(render);
}

Json or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

// A number of ours; NaN, and why, where a run that was ended early has it not.
double value_of(const Expression& expression, const std::vector<FigureRun>& runs,
                int& exit_code) try {
  return expression.number([&](const Name& name) { return figure_value(runs, name); });
} catch (const Error& error) {
  log_message(LogLevel::error, error.what());
  exit_code = 1;
  return std::nan("");
}

// Ours beside theirs, as a table; what of it goes to results.json.
Json numbers_of(const Scene& scene, const std::vector<Expression>& expressions,
                const std::vector<FigureRun>& runs, int& exit_code) {
  Json numbers = Json::array();
  if (!expressions.empty()) {
    fmt::print("  {:<40}{:>14}{:>14}{:>12}\n", "", "ours", "theirs", "ours/theirs");
  }
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const PaperNumberParams& number = scene.paper.numbers[i];
    const double ours = value_of(expressions[i], runs, exit_code);
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
                {"frames_planned", info.frames_planned},
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

// 1 where gnuplot is missing, or a run ended before what the plot shows: there are numbers still.
int draw_plot(const std::function<Page()>& page, const fs::path& file) try {
  draw_page(page(), file);
  return 0;
} catch (const Error& error) {
  log_message(LogLevel::error, error.what());
  return 1;
}

int draw_plots(const Scene& scene, const std::vector<FigureRun>& runs, const fs::path& plots) {
  int exit_code = draw_plot([&] { return ledger_page(runs.front().record); }, plots / "ledger.png");
  for (const PaperPlotParams& plot : scene.paper.plots) {
    const fs::path file = plots / (plot.name + ".png");
    const int failed = draw_plot([&] { return paper_page(plot, runs); }, file);
    if (failed == 0) fmt::print("barchan: {}\n", file.string());
    exit_code = std::max(exit_code, failed);
  }
  return exit_code;
}

// One of a figure's runs and its pictures; nothing is measured.
int make_one(const Options& options, const Figure& figure, const std::vector<Planned>& planned,
             const CommandLine& line) {
  const auto named = [&](const Planned& run) { return run.name == options.only; };
  const auto run = std::find_if(planned.begin(), planned.end(), named);
  if (run == planned.end()) {
    std::vector<std::string> names;
    for (const Planned& one : planned) names.push_back(one.name);
    reject("{} has no run '{}'; it has {}", figure.id, options.only, fmt::join(names, ", "));
  }
  simulate(options, figure, *run, line);
  return draw(options, run->folder);
}

int make_figure(const Options& options, const Figure& figure, const fs::path& folder,
                const CommandLine& line) {
  if (!is_available(figure)) reject("{} is not available yet: it has no scene", figure.id);
  const std::vector<Planned> planned = plan(figure, options.quick, folder);
  if (!options.only.empty()) return make_one(options, figure, planned, line);
  const Scene& scene = planned.front().scene;
  const std::vector<Expression> ours = read_expressions(scene.paper);
  int exit_code = 0;
  std::vector<FigureRun> runs;
  for (const Planned& run : planned) {
    if (planned.size() > 1) note("{}: {}", figure.id, run.label);
    simulate(options, figure, run, line);
    exit_code = std::max(exit_code, draw(options, run.folder));
    runs.push_back({run.name, run.label, RunRecord(run.folder)});
  }
  exit_code = std::max(exit_code, draw_plots(scene, runs, folder / "plots"));
  fmt::print("{} ({}{}): {}\n", figure.id, figure.figure, options.quick ? ", quick" : "",
             scene.paper.note.empty() ? figure.shows : scene.paper.note);
  write_results(figure, scene, numbers_of(scene, ours, runs, exit_code), options.quick, runs);
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
  add_device_options(*command, options->device, options->threads);
  command->add_flag("--report", options->report,
                    "Run what has no results yet, and write OUT/report.html with all that have");
  command->add_flag("--resume", options->resume,
                    "Go on with runs that were ended early, and keep those that are done");
  command
      ->add_option("--only", options->only,
                   "One run of the figure, such as a variant's name or 'run', and no more: to make "
                   "them side by side, and put them together by --resume")
      ->needs("ID");
  command->add_option("--limit", options->limit,
                      "Seconds after which each run ends; what is there by then is measured");
  command
      ->add_option("--pictures", options->pictures,
                   "So many of each run, 0: none; of every frame by default, two with --quick")
      ->check(CLI::Range(0, 100000));
  command->add_option("--size", options->size, "Of pictures: WIDTHxHEIGHT; the scene's by default");
  command->add_flag("--page-only", options->page_only, "With --report: run nothing")
      ->needs("--report");
  command->callback(
      [&line, options] { line.action = [&line, options] { return paper(*options, line); }; });
}

}  // namespace barchan
