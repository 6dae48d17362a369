// A run's folder: where everything is, who may write to it, and what can be gone on with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "cache/checkpoint_file.h"
#include "math/sym3.h"
#include "math/vec3.h"

namespace barchan {

enum class RunState { running, done, interrupted, failed };
const char* name_of(RunState state);

// run.json.
// What a dynamic body is made of; inertia about its centre of mass, in the scene's axes at the
// start.
struct BodyInfo {
  double mass = 0.0;    // [kg]
  double volume = 0.0;  // [m^3]
  Vec3d center;         // of mass, at the start [m]
  Sym3d inertia;        // [kg m^2]
};

struct RunInfo {
  std::string version;
  std::vector<std::string> command;  // as typed
  std::string scene;                 // as named on the command line
  std::string solver;
  std::string device;  // "cpu", "cuda"
  int threads = 0;
  RunState state = RunState::running;
  std::string why;                  // of failed
  std::int64_t frames = 0;          // written
  std::int64_t frames_planned = 0;  // 0: not known
  std::int64_t steps = 0;
  std::uint64_t particles = 0;             // alive at the end
  std::uint64_t emitted = 0, removed = 0;  // by emitters and sinks since the run began
  double time = 0.0;                       // simulated [s]
  double wall_seconds = 0.0;               // of all sessions [s]
  std::map<std::string, double> timings;   // [ms] in all, by stage
  std::map<std::string, BodyInfo> bodies;  // the dynamic ones, by name
};

// Checks keys and types; an Error names the file and the key.
RunInfo read_run_info(const std::filesystem::path& file);
void write_run_info(const std::filesystem::path& file, const RunInfo& info);

enum class RunMode {
  create,    // refused where there is a run
  resume,    // goes on with the run there, or starts one where there is none
  overwrite  // removes the run there first
};

struct CheckpointFile {
  std::filesystem::path path;
  std::int64_t frame = -1;  // by its name; -1 for interrupted.h5
};

struct FoundCheckpoint {
  std::filesystem::path path;
  LoadedCheckpoint checkpoint;
};

class RunFolder {
 public:
  // To look at; nothing is made, nothing locked.
  explicit RunFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  // To write to: makes the folder and holds its lock as long as this object lives. Throws (exit
  // code 2) where a run is in the way, and (exit code 1) where another process is writing.
  static RunFolder claim(const std::filesystem::path& folder, RunMode mode);

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path run_info() const { return folder_ / "run.json"; }
  std::filesystem::path scene() const { return folder_ / "scene.toml"; }
  std::filesystem::path ledger() const { return folder_ / "ledger.csv"; }
  std::filesystem::path bodies() const { return folder_ / "bodies.csv"; }
  std::filesystem::path iterations() const { return folder_ / "iterations.csv"; }
  std::filesystem::path xdmf() const { return folder_ / "frames.xdmf"; }
  std::filesystem::path probe(const std::string& name) const;
  std::filesystem::path frame(std::int64_t index) const;
  std::filesystem::path checkpoint(std::int64_t frame) const;
  // `ending` is "ply", "obj" or "vdb".
  std::filesystem::path surface(std::int64_t frame, const std::string& ending) const;
  std::filesystem::path surface_settings() const { return folder_ / "surface" / "settings.toml"; }
  std::filesystem::path surface_solids() const { return folder_ / "surface" / "solids.obj"; }
  std::filesystem::path interrupted() const { return folder_ / "checkpoints" / "interrupted.h5"; }

  bool holds_run() const;
  std::vector<std::int64_t> frames() const;         // those present, in order
  std::vector<std::string> probes() const;          // names of those present, in order
  std::vector<CheckpointFile> checkpoints() const;  // regular ones in order, then interrupted.h5

  // Makes the subfolders, run.json and then scene.toml: the first thing a run does.
  void start(const RunInfo& info, const std::string& scene_text) const;

  // The newest one that can be read, by its step. Broken ones are skipped with a warning; one of
  // another cache format is an Error. None: start from the beginning.
  std::optional<FoundCheckpoint> last_good_checkpoint() const;
  // After a regular checkpoint was written: removes interrupted.h5, which is older, the regular
  // ones whose frame an unstopped run would not have kept (none, if not told), and of the others
  // all but the last `keep`.
  void prune_checkpoints(int keep, const std::function<bool(std::int64_t)>& is_due = {}) const;

 private:
  void remove_parts() const;  // what a killed run was writing
  void remove_run() const;    // all that Barchan wrote, nothing else

  std::filesystem::path folder_;
  std::shared_ptr<FolderLock> lock_;
};

}  // namespace barchan
