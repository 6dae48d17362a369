// A validation case: a scene, what is measured in its run, what it should be, and changes to the
// scene that must make the case fail. docs/validation.md describes the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/check.h"
#include "scene/node.h"
#include "scene/scene.h"

namespace barchan {

// A scene within the case file, or one named there: a file beside the case or a shipped scene.
struct CaseScene {
  std::filesystem::path case_file;
  Node value;  // a table or a text
  Scene load(const std::vector<std::string>& settings) const;
};

// A second run of the case, whose values the checks reach as NAME.ledger.COLUMN and so on.
struct Variant {
  std::string name;
  std::vector<std::string> settings;
  std::optional<CaseScene> scene;  // the case's own where not given
};

// A change that must make checks fail: those named, or at least one.
struct Control {
  std::string name;
  std::vector<std::string> settings;
  std::vector<std::string> fails;
};

struct ValidationCase {
  std::string id;  // "ballistic/free-fall"
  std::filesystem::path file;
  std::string title;
  CaseScene scene;
  std::vector<std::string> settings;                          // as after --set
  std::vector<std::string> quick;                             // more of them under --quick
  bool only_full = false;                                     // too long for --quick
  std::vector<std::pair<std::string, Expression>> constants;  // each may use those before it
  std::vector<Check> checks;
  std::vector<Variant> variants;
  std::vector<Control> controls;
};

// Reads and checks a case as a whole, names in its expressions included. Faults are Errors with
// file:line:column. The id is the file's path below `folder`, without its ending.
ValidationCase read_case(const std::filesystem::path& file, const std::filesystem::path& folder);

// The files of all cases in validation/, by id.
std::vector<std::pair<std::string, std::filesystem::path>> case_files();
std::filesystem::path validation_folder();

}  // namespace barchan
