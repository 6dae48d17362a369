// barchan params: the parameter reference, from the tables.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.h"
#include "scene/scene.h"

namespace barchan {

void add_params(CLI::App& app, CommandLine& line) {
  struct Options {
    std::string section;
    bool markdown = false, schema = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("params", "The parameter reference");
  command->add_option("SECTION", options->section, "Only this section, e.g. fill or ballistic");
  auto* markdown = command->add_flag("--markdown", options->markdown, "As docs/reference.md");
  command->add_flag("--json-schema", options->schema, "As a JSON schema for editors")
      ->excludes(markdown);
  command->callback([&line, options] {
    line.action = [options] {
      const std::string text = options->markdown ? parameter_markdown()
                               : options->schema ? parameter_json_schema()
                                                 : parameter_text(options->section);
      std::fputs(text.c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace barchan
