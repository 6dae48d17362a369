// barchan scenes: what ships with it.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands.h"
#include "scene/scene.h"

namespace barchan {

void add_scenes(CLI::App& app, CommandLine& line) {
  CLI::App* command = app.add_subcommand("scenes", "List the shipped scenes");
  command->callback([&line] {
    line.action = [] {
      const std::vector<ShippedScene> scenes = shipped_scenes();
      std::size_t widest = 0;
      for (const ShippedScene& scene : scenes) widest = std::max(widest, scene.name.size());
      for (const ShippedScene& scene : scenes) {
        fmt::print("{:<{}}{}\n", scene.name, widest + 2, scene.title);
      }
      return 0;
    };
  });
}

}  // namespace barchan
