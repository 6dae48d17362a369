// Options that several commands have, worded and checked alike.
#include <CLI/CLI.hpp>

#include "commands.h"

namespace barchan {

void add_threads_option(CLI::App& command, int& threads) {
  command.add_option("--threads", threads, "CPU threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
}

void add_device_options(CLI::App& command, std::string& device, int& threads) {
  command.add_option("--device", device, "cpu or cuda");
  add_threads_option(command, threads);
}

void add_set_option(CLI::App& command, std::vector<std::string>& settings, const char* section) {
  command.add_option("--set", settings, std::string(section) + ".key=value, as often as needed")
      ->allow_extra_args(false);
}

}  // namespace barchan
