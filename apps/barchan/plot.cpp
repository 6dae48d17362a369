// barchan plot DIR: tables of a run over time, as pictures.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "commands.h"
#include "harness/run_pages.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

struct Options {
  std::string folder, columns, out, format;
};

void draw(const Page& page, const fs::path& out) {
  draw_page(page, out);
  note("{}", out.string());
}

int plot(const Options& options) {
  if (!fs::is_directory(options.folder)) reject("no folder '{}'", options.folder);
  const RunRecord run(options.folder);
  const fs::path plots = fs::path(options.folder) / "plots";
  const std::string ending = "." + (options.format.empty() ? "png" : options.format);
  if (!options.out.empty() && options.columns.empty()) {
    reject("--out names the picture of --columns; without --columns plots go to DIR/plots");
  }
  if (!options.out.empty() && !options.format.empty() &&
      fs::path(options.out).extension() != ending) {
    reject("--out {}: its ending is not the --format {}", options.out, options.format);
  }
  if (!options.columns.empty()) {
    draw(columns_page(run, options.columns),
         options.out.empty() ? plots / ("columns" + ending) : fs::path(options.out));
    return 0;
  }
  draw(ledger_page(run), plots / ("ledger" + ending));
  const Page probes = probes_page(run), bodies = bodies_page(run);
  if (!probes.panels.empty()) draw(probes, plots / ("probes" + ending));
  if (!bodies.panels.empty()) draw(bodies, plots / ("bodies" + ending));
  return 0;
}

}  // namespace

void add_plot(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("plot", "Draw a run's tables over time");
  command->add_option("DIR", options->folder, "The run folder")->required();
  command->add_option("--columns", options->columns,
                      "What to draw instead, for example max_speed,body.ball.position_y");
  command->add_option("--out", options->out, "The picture of --columns; DIR/plots/columns.png");
  command->add_option("--format", options->format, "png (default) or svg")
      ->check(CLI::IsMember({"png", "svg"}));
  command->callback([&line, options] { line.action = [options] { return plot(*options); }; });
}

}  // namespace barchan
