// barchan paper [ID]: the figures and tables of the papers, ours beside theirs.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/run.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"
#include "commands.h"
#include "harness/figures.h"
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

// A misspelt expression is found before the run, not after it.
std::vector<Expression> expressions_of(const Scene& scene) {
  std::vector<Expression> ours;
  for (const PaperNumberParams& number : scene.paper.numbers) {
    ours.emplace_back(number.ours, Source{"'ours' of '" + number.name + "'", 0, 0});
    ours.back().visit_names(check_record_name);
  }
  return ours;
}

void simulate(const Options& options, const Scene& scene, const CommandLine& line, bool quiet,
              const fs::path& folder) {
  using Style = ProgressLine::Style;
  ProgressLine progress(quiet ? Style::quiet : Style::automatic);
  RunRequest request;
  request.scene = scene;
  request.scene_argument = options.id;
  request.command = line.words;
  request.device = options.device;
  request.threads = options.threads;
  request.folder = folder;
  request.mode = RunMode::overwrite;
  request.progress = [&](const Progress& p) { progress.show(p); };
  run_scene(request);
}

// Ours beside theirs, as a table and in results.json.
void compare(const Figure& figure, const Scene& scene, const std::vector<Expression>& expressions,
             bool quick, const RunRecord& run) {
  Json numbers = Json::array();
  fmt::print("{} ({}{}): {}\n", figure.id, figure.figure, quick ? ", quick" : "",
             scene.paper.note.empty() ? figure.shows : scene.paper.note);
  if (!expressions.empty()) {
    fmt::print("  {:<34}{:>14}{:>14}{:>12}\n", "", "ours", "theirs", "ours/theirs");
  }
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const PaperNumberParams& number = scene.paper.numbers[i];
    const double ours = expressions[i].number([&](const Name& name) { return run.value(name); });
    const std::string unit = number.unit.empty() ? "" : " [" + number.unit + "]";
    const double ratio = ours / number.theirs;
    fmt::print("  {:<34}{:>14.6g}{:>14.6g}{:>12}\n", number.name + unit, ours, number.theirs,
               std::isfinite(ratio) ? fmt::format("{:.3g}", ratio) : "-");
    numbers.push_back({{"name", number.name},
                       {"unit", number.unit},
                       {"ours", std::isfinite(ours) ? Json(ours) : Json()},
                       {"theirs", number.theirs}});
  }
  const Json out = {
      {"id", figure.id}, {"figure", figure.figure}, {"quick", quick}, {"numbers", numbers}};
  write_file_atomic(run.folder().path() / "results.json", out.dump(2) + "\n");
}

int paper(const Options& options, const CommandLine& line, bool quiet) {
  if (options.id.empty()) return list_figures();
  const Figure& figure = find_figure(options.id);
  if (!is_available(figure)) reject("{} is not available yet: it has no scene", figure.id);
  Scene scene = load_scene(options.id);
  if (options.quick) scene = load_scene(options.id, scene.paper.quick);
  const std::vector<Expression> ours = expressions_of(scene);
  const fs::path folder =
      options.out.empty() ? fs::path("out/papers") / options.id : fs::path(options.out);
  simulate(options, scene, line, quiet, folder);
  RenderOptions render;
  render.folder = folder.string();
  render.threads = options.threads;
  const int drawn = render_run(render);
  const RunRecord run(folder);
  draw_page(ledger_page(run), folder / "plots" / "ledger.png");
  compare(figure, scene, ours, options.quick, run);
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
