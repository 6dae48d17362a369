// Runs a validation case: the scene, its variants, and each control; judges the checks on what the
// runs left behind; writes results.json and a plot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/case_file.h"

namespace barchan {

struct ValidateOptions {
  bool quick = false;
  std::string device = "cpu";
  int threads = 0;                   // 0: as many as cores
  std::filesystem::path out;         // the case's folder
  std::vector<std::string> command;  // as typed, for run.json
};

struct ControlResult {
  std::string name;
  bool failed_as_it_must = false;
  std::vector<std::string> failed;  // names of the checks that failed
};

struct CaseResult {
  std::vector<Verdict> checks;
  std::vector<ControlResult> controls;
  double seconds = 0.0;  // [s] in all
  std::string fault;     // why there is no verdict, "" where there is one
  bool passed() const;   // all checks pass and all controls fail
};

// Leaves out/run, out/variant-NAME, out/control-1 ... (run folders), out/checks.png where checks
// are over time, and out/results.json. Scenes are read before the first of them is run.
CaseResult run_case(const ValidationCase& validation_case, const ValidateOptions& options);

}  // namespace barchan
