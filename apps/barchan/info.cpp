// barchan info DIR: what a run folder holds, whether it is whole.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cache/inspect.h"
#include "commands.h"

namespace barchan {

void add_info(CLI::App& app, CommandLine& line) {
  struct Options {
    std::string folder;
    bool verify = false, as_json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("info", "What a run folder holds, and whether it is whole");
  command->add_option("DIR", options->folder, "The run folder")->required();
  command->add_flag("--verify", options->verify, "Read every byte and check the checksums");
  command->add_flag("--json", options->as_json, "For programs");
  command->callback([&line, options] {
    line.action = [options] {
      const RunReport report = inspect(options->folder, options->verify);
      std::fputs((options->as_json ? json(report) : text(report)).c_str(), stdout);
      return report.broken.empty() && report.missing.empty() ? 0 : 1;
    };
  });
}

}  // namespace barchan
