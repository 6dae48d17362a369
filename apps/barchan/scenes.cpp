// barchan scenes: what ships with it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "scene/scene.h"

namespace barchan {

void add_scenes(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("scenes", "List the shipped scenes");
  command->callback([&line] {
    line.action = [] {
      for (const ShippedScene& scene : shipped_scenes()) {
        fmt::print("{:<28}{}\n", scene.name, scene.title);
      }
      return 0;
    };
  });
}

}  // namespace barchan
