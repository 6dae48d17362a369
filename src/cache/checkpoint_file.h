// checkpoints/*.h5: the whole state, exactly, and the scene it belongs to. The same state gives the
// same bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "sim/frame.h"

namespace barchan {

// scene is the resolved scene text it belongs to, so that a resumed run can tell what changed. Give
// it without the duration, which may change: the bytes are then those of a run that was planned
// longer from the start.
void write_checkpoint(const std::filesystem::path& path, const Snapshot& snapshot,
                      const std::string& scene);

struct LoadedCheckpoint {
  Snapshot snapshot;
  std::string scene;
};

// Throws an Error that names file and dataset where anything is missing, cut short or damaged; an
// OtherFormatError where another version wrote it.
LoadedCheckpoint read_checkpoint(const std::filesystem::path& path);

// Its clock, without its arrays.
struct CheckpointSummary {
  double time = 0.0;  // [s]
  std::int64_t step = 0;
  std::int64_t frame = 0;
  std::uint64_t particles = 0;
  std::uint64_t file_bytes = 0;
};
CheckpointSummary summarize_checkpoint(const std::filesystem::path& path);

// Reads everything and throws if a checksum does not match.
void verify_checkpoint(const std::filesystem::path& path);

}  // namespace barchan
