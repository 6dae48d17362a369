// What a run folder holds and whether it is whole: `barchan info`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/run_folder.h"

namespace barchan {

struct BrokenFile {
  std::string name;  // relative to the folder
  std::string why;
};

struct CheckpointReport {
  std::string name;  // relative to the folder
  bool good = false;
  CheckpointSummary summary;  // where good
  std::string why;            // where not
};

struct RunReport {
  std::filesystem::path folder;
  std::optional<RunInfo> info;  // run.json, where it can be read
  // running | done | interrupted | failed; "killed" where run.json says running but nobody holds
  // the folder's lock; "unknown" without run.json.
  std::string state;
  std::string why;

  std::vector<std::int64_t> frames;          // present
  std::vector<std::string> missing;          // frames the ledger or the numbering tells of
  std::vector<BrokenFile> broken;            // frames and tables that cannot be read
  bool verified = false;                     // every byte of the frames and checkpoints was checked
  double first_time = 0.0, last_time = 0.0;  // of the good frames [s]
  std::uint64_t first_particles = 0, last_particles = 0;
  std::uint64_t most_particles = 0;
  std::vector<std::string> materials, bodies, fields, probes;  // names, of the last good frame
  std::vector<CheckpointReport> checkpoints;
  std::uint64_t bytes = 0;  // everything in the folder

  bool can_resume = false;  // some checkpoint is good
  bool whole = false;       // done, and nothing missing or broken
};

// Opens every frame; with verify reads them all and checks their checksums. Throws (exit code 2)
// where the folder is not there or holds no run.
RunReport inspect(const std::filesystem::path& folder, bool verify = false);

std::string text(const RunReport& report);  // lines for people
std::string json(const RunReport& report);  // the same for programs

}  // namespace barchan
