// barchan validate [CASE]: measured against closed forms and published numbers.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/nearest_name.h"
#include "base/units.h"
#include "commands.h"
#include "harness/report.h"
#include "harness/validate.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

struct Options {
  std::string which, out = "out/validate", device = "cpu";
  int threads = 0;
  bool quick = false, list = false, report = false, page_only = false;
};

// A file, a case of validation/, a group of them, or all.
std::vector<ValidationCase> cases_of(const std::string& which) {
  const fs::path file(which);
  std::error_code none;
  if (file.extension() == ".toml" && fs::is_regular_file(file, none)) {
    return {read_case(file, file.parent_path().empty() ? "." : file.parent_path())};
  }
  std::vector<ValidationCase> cases;
  std::vector<std::string> names;
  for (const auto& [id, path] : case_files()) {
    names.push_back(id);
    if (which.empty() || id == which || id.starts_with(which + "/")) {
      cases.push_back(read_case(path, validation_folder()));
    }
  }
  if (cases.empty()) {
    const std::string nearest = nearest_name(which, names);
    reject("no case '{}': {}", which,
           nearest.empty() ? "`barchan validate --list` lists them"
                           : "did you mean '" + nearest + "'?");
  }
  return cases;
}

void print_result(const ValidationCase& of, const CaseResult& result) {
  fmt::print("{}  {} ({})\n", of.id, of.title, human_seconds(result.seconds));
  for (const Verdict& verdict : result.checks) {
    fmt::print("  {:<34} {:<26} {:<30} {}\n", verdict.name, verdict.measured_text,
               verdict.expected_text, verdict.passed ? "pass" : "FAIL");
  }
  for (const ControlResult& control : result.controls) {
    std::string failed;
    for (const std::string& name : control.failed) failed += (failed.empty() ? "" : ", ") + name;
    fmt::print("  control: {:<52} {}\n", control.name,
               control.failed_as_it_must ? "fails as it must (" + failed + ")"
               : failed.empty()          ? "CONTROL PASSES: the gate is worthless"
                                         : "CONTROL PASSES in part: only " + failed + " failed");
  }
  std::fflush(stdout);
}

int validate(const Options& options, const CommandLine& line) {
  const std::vector<ValidationCase> cases = cases_of(options.which);
  if (options.list) {
    for (const ValidationCase& one : cases) fmt::print("{:<32}{}\n", one.id, one.title);
    return 0;
  }
  std::vector<std::string> failed;
  std::size_t run = 0;
  for (const ValidationCase& one : cases) {
    if (options.page_only) break;
    if (options.quick && one.only_full) {
      fmt::print("{}  {}: left out, it has no quick version\n", one.id, one.title);
      continue;
    }
    const fs::path folder = fs::path(options.out) / one.id;
    if (options.report && options.which.empty() && has_results(folder, options.quick)) continue;
    ++run;
    const ValidateOptions how{options.quick, options.device, options.threads, folder, line.words};
    try {
      const CaseResult result = run_case(one, how);
      print_result(one, result);
      if (!result.passed()) failed.push_back(one.id);
    } catch (const Error& error) {
      if (cases.size() == 1) throw;
      log_message(LogLevel::error, error.what());  // the others are still worth running
      failed.push_back(one.id);
    }
  }
  fmt::print("{} of {} case{} passed", run - failed.size(), run, run == 1 ? "" : "s");
  for (std::size_t i = 0; i < failed.size(); ++i) {
    fmt::print("{}{}", i == 0 ? "; failed: " : ", ", failed[i]);
  }
  fmt::print("\n");
  if (options.report) {
    const fs::path page = fs::path(options.out) / "report.html";
    fmt::print("{} cases in {}\n", write_validation_report(options.out, page), page.string());
  }
  return failed.empty() ? 0 : 1;
}

}  // namespace

void add_validate(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("validate", "Measure against closed forms and published numbers");
  command->add_option("CASE", options->which, "A case, a group of them, or a file; all by default");
  command->add_flag("--quick", options->quick, "The reduced versions");
  command->add_flag("--list", options->list, "Only list the cases");
  command->add_flag("--report", options->report,
                    "Run what has no results yet, and write OUT/report.html with all that have");
  command->add_flag("--page-only", options->page_only, "With --report: run nothing")
      ->needs("--report");
  command->add_option("--out", options->out, "Folder for runs and results; out/validate");
  add_device_options(*command, options->device, options->threads);
  command->callback(
      [&line, options] { line.action = [&line, options] { return validate(*options, line); }; });
}

}  // namespace barchan
