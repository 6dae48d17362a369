#include <fmt/format.h>
#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <limits>

#include "barchan/version.h"
#include "base/error.h"
#include "base/log.h"
#include "base/nearest_name.h"
#include "commands.h"

namespace barchan {

namespace {

// What is wrong with the command line. CLI11 does not say that a command is misspelt.
std::string fault_of(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty() || word.front() == '-' || !app.get_subcommands().empty()) return error.what();
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string nearest = nearest_name(word, names);
  return fmt::format("no command '{}'{}", word,
                     nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
}

int run_program(int argc, char** argv) {
  CLI::App app{"Barchan simulates sand, water and other granular matter for animation."};
  app.set_version_flag("--version", std::string("barchan ") + version());
  app.require_subcommand(1);
  app.fallthrough();
  bool quiet = false;
  app.add_flag("--quiet,-q", quiet, "Only errors");
  CommandLine line{std::vector<std::string>(argv, argv + argc), {}};
  for (const auto add :
       {add_run, add_check, add_scenes, add_params, add_info, add_bench, add_surface, add_render,
        add_export, add_plot, add_validate, add_paper, add_view, add_compare}) {
    add(app, line);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "barchan: {}\nTry 'barchan --help' or 'barchan COMMAND --help'.\n",
               fault_of(app, error, argc, argv));
    return 2;
  }
  set_log_quiet(quiet);
  return line.action();
}

}  // namespace

}  // namespace barchan

int main(int argc, char** argv) {
  // Frames are buffers of many megabytes that come and go. Kept in the heap they are reused; given
  // back to the system each time, they would be zeroed and mapped anew page by page, which costs
  // more than writing them.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_ARENA_MAX, 1);
  try {
    return barchan::run_program(argc, argv);
  } catch (const barchan::Error& error) {
    barchan::log_message(barchan::LogLevel::error, error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    barchan::log_message(barchan::LogLevel::error,
                         "out of memory: use fewer particles or a coarser resolution");
    return 1;
  } catch (const std::exception& error) {
    barchan::log_message(barchan::LogLevel::error, error.what());
    return 1;
  }
}
