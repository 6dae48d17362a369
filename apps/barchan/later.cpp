// Commands that a later version brings; their names are taken already.
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "commands.h"

namespace barchan {

void add_later(CLI::App& app, CommandLine& line) {
  for (const char* name : {"compare"}) {
    CLI::App* command = app.add_subcommand(name, "Not available yet");
    command->allow_extras();
    command->callback([&line, name] {
      line.action = [name]() -> int { reject("'barchan {}' is not available yet", name); };
    });
  }
}

}  // namespace barchan
