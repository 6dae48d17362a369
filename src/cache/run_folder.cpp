#include "cache/run_folder.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "cache/h5_file.h"
#include "cache/ledger.h"

namespace barchan {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr RunState kStates[] = {RunState::running, RunState::done, RunState::interrupted,
                                RunState::failed};

// The number in "frame_000012.h5" for ("frame_", ".h5"); -1 for other names.
std::int64_t number_in(std::string_view name, std::string_view before, std::string_view after) {
  if (name.size() < before.size() + 6 + after.size() || !name.starts_with(before) ||
      !name.ends_with(after)) {
    return -1;
  }
  name.remove_prefix(before.size());
  name.remove_suffix(after.size());
  if (name.size() > 18 || (name.size() > 6 && name.front() == '0')) return -1;
  std::int64_t number = 0;
  for (const char digit : name) {
    if (digit < '0' || digit > '9') return -1;
    number = number * 10 + (digit - '0');
  }
  return number;
}

// The names in a folder; none where there is no such folder.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::int64_t> numbers_in(const fs::path& folder, std::string_view before,
                                     std::string_view after) {
  std::vector<std::int64_t> numbers;
  for (const std::string& name : names_in(folder)) {
    const std::int64_t number = number_in(name, before, after);
    if (number >= 0) numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string without_part(const std::string& name) {
  return name.ends_with(".part") ? name.substr(0, name.size() - 5) : name;
}

bool is_probe_name(const std::string& name) {
  return name.size() > 4 && name.ends_with(".csv") &&
         name.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == name.size() - 4;
}

// Someone's own table may lie there, too: ours begin with our header.
bool is_probe_file(const fs::path& path) {
  if (!is_probe_name(path.filename().string())) return false;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return false;
  return read_text_file(path).starts_with(std::string(kProbeHeader) + "\n");
}

// Whether Barchan writes files of this name into this subfolder ("" is the run's folder).
bool is_ours(const std::string& subfolder, const std::string& name) {
  if (subfolder.empty()) {
    static const char* const kNames[] = {"run.json",          "scene.toml",     "ledger.csv",
                                         "bodies.csv",        "iterations.csv", "frames.xdmf",
                                         "contact_sheet.png", "video.mp4"};
    return std::any_of(std::begin(kNames), std::end(kNames),
                       [&](const char* known) { return name == known; });
  }
  if (subfolder == "frames") return number_in(name, "frame_", ".h5") >= 0;
  if (subfolder == "checkpoints") {
    return name == "interrupted.h5" || number_in(name, "checkpoint_", ".h5") >= 0;
  }
  if (subfolder == "images") return number_in(name, "frame_", ".png") >= 0;
  if (subfolder == "plots") {
    static const char* const kNames[] = {"ledger", "probes", "bodies", "columns"};
    return std::any_of(std::begin(kNames), std::end(kNames), [&](const std::string known) {
      return name == known + ".png" || name == known + ".svg";
    });
  }
  if (subfolder == "surface") {
    return name == "settings.toml" || name == "solids.obj" ||
           number_in(name, "surface_", ".ply") >= 0 || number_in(name, "surface_", ".obj") >= 0 ||
           number_in(name, "surface_", ".vdb") >= 0;
  }
  return false;
}

constexpr const char* kSubfolders[] = {"",        "frames", "checkpoints", "probes",
                                       "surface", "images", "plots"};

void remove_file(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) fail("cannot remove {}: {}", path.string(), error.message());
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    reject("{} is a file, not a folder; choose another place with --out", folder.string());
  }
  fs::create_directories(folder, error);
  if (error) {
    fail("cannot make the folder {}: {}; choose another place with --out", folder.string(),
         error.message());
  }
}

template <class T>
void take(const json& from, const char* key, T& to) {
  if (from.contains(key)) to = from.at(key).get<T>();
}

// JSON has no NaN: it is written as null.
void take_number(const json& from, const char* key, double& to) {
  if (!from.contains(key)) return;
  to = from.at(key).is_null() ? std::nan("") : from.at(key).get<double>();
}

nlohmann::ordered_json to_json(const BodyInfo& body) {
  const Sym3d& I = body.inertia;
  nlohmann::ordered_json out;
  out["mass"] = body.mass;
  out["volume"] = body.volume;
  out["center"] = {body.center.x, body.center.y, body.center.z};
  out["inertia"] = {{I.xx, I.xy, I.xz}, {I.xy, I.yy, I.yz}, {I.xz, I.yz, I.zz}};
  return out;
}

BodyInfo body_from(const json& from) {
  const auto& c = from.at("center");
  const auto& I = from.at("inertia");
  const auto entry = [&](int i, int j) { return I.at(i).at(j).get<double>(); };
  return {from.at("mass").get<double>(),
          from.at("volume").get<double>(),
          {c.at(0).get<double>(), c.at(1).get<double>(), c.at(2).get<double>()},
          {entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)}};
}

RunInfo info_from(const json& from) {
  RunInfo info;
  take(from, "version", info.version);
  take(from, "command", info.command);
  take(from, "scene", info.scene);
  take(from, "solver", info.solver);
  take(from, "device", info.device);
  take(from, "threads", info.threads);
  const std::string state = from.at("state").get<std::string>();
  const auto found = std::find_if(std::begin(kStates), std::end(kStates),
                                  [&](RunState s) { return state == name_of(s); });
  if (found == std::end(kStates)) fail("unknown state '{}'", state);
  info.state = *found;
  take(from, "why", info.why);
  take(from, "frames", info.frames);
  take(from, "frames_planned", info.frames_planned);
  take(from, "steps", info.steps);
  take(from, "particles", info.particles);
  take(from, "emitted", info.emitted);
  take(from, "removed", info.removed);
  take_number(from, "time", info.time);
  take_number(from, "wall_seconds", info.wall_seconds);
  if (from.contains("timings")) {
    for (const auto& [stage, ms] : from.at("timings").items()) {
      info.timings[stage] = ms.is_null() ? std::nan("") : ms.get<double>();
    }
  }
  if (from.contains("bodies")) {
    for (const auto& [name, body] : from.at("bodies").items()) info.bodies[name] = body_from(body);
  }
  return info;
}

}  // namespace

const char* name_of(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::done:
      return "done";
    case RunState::interrupted:
      return "interrupted";
    case RunState::failed:
      return "failed";
  }
  return "?";
}

RunInfo read_run_info(const fs::path& file) {
  const std::string text = read_text_file(file);
  try {
    return info_from(json::parse(text));
  } catch (const std::exception& error) {
    fail("cannot read {}: {}; the run itself may be well: remove this file and go on with --resume",
         file.string(), error.what());
  }
}

void write_run_info(const fs::path& file, const RunInfo& info) {
  nlohmann::ordered_json out;
  out["version"] = info.version;
  out["command"] = info.command;
  out["scene"] = info.scene;
  out["solver"] = info.solver;
  out["device"] = info.device;
  out["threads"] = info.threads;
  out["state"] = name_of(info.state);
  out["why"] = info.why;
  out["frames"] = info.frames;
  out["frames_planned"] = info.frames_planned;
  out["steps"] = info.steps;
  out["particles"] = info.particles;
  out["emitted"] = info.emitted;
  out["removed"] = info.removed;
  out["time"] = info.time;
  out["wall_seconds"] = info.wall_seconds;
  out["timings"] = nlohmann::ordered_json(info.timings);
  for (const auto& [name, body] : info.bodies) out["bodies"][name] = to_json(body);
  // A command line may hold any bytes; JSON may not.
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  write_file_atomic(file, out.dump(2, ' ', false, replace) + "\n");
}

// ---- The folder

RunFolder RunFolder::claim(const fs::path& folder, RunMode mode) {
  RunFolder run(folder);
  const auto refuse_if_taken = [&] {
    if (mode == RunMode::create && run.holds_run()) {
      reject("{} already holds a run; use --resume to go on or --overwrite to start again",
             folder.string());
    }
    std::error_code error;
    if (!run.holds_run() && fs::exists(run.scene(), error)) {
      reject(
          "{} is there, but was not written by a run, which would replace it; choose another "
          "place with --out",
          run.scene().string());
    }
  };
  refuse_if_taken();
  make_folder(folder);
  run.lock_ = std::make_shared<FolderLock>(folder);
  refuse_if_taken();  // another process may have started and ended in between

  run.remove_parts();
  if (mode == RunMode::overwrite) run.remove_run();
  return run;
}

fs::path RunFolder::probe(const std::string& name) const {
  return folder_ / "probes" / (name + ".csv");
}
fs::path RunFolder::frame(std::int64_t index) const {
  return folder_ / "frames" / fmt::format("frame_{:06}.h5", index);
}
fs::path RunFolder::surface(std::int64_t frame, const std::string& ending) const {
  return folder_ / "surface" / fmt::format("surface_{:06}.{}", frame, ending);
}
fs::path RunFolder::checkpoint(std::int64_t frame) const {
  return folder_ / "checkpoints" / fmt::format("checkpoint_{:06}.h5", frame);
}

bool RunFolder::holds_run() const {
  std::error_code error;
  return fs::exists(run_info(), error) || fs::exists(ledger(), error) || !frames().empty() ||
         !checkpoints().empty();
}

std::vector<std::int64_t> RunFolder::frames() const {
  return numbers_in(folder_ / "frames", "frame_", ".h5");
}

std::vector<std::string> RunFolder::probes() const {
  std::vector<std::string> names;
  for (const std::string& name : names_in(folder_ / "probes")) {
    if (is_probe_file(folder_ / "probes" / name)) names.push_back(name.substr(0, name.size() - 4));
  }
  return names;
}

std::vector<CheckpointFile> RunFolder::checkpoints() const {
  std::vector<CheckpointFile> files;
  for (const std::int64_t frame : numbers_in(folder_ / "checkpoints", "checkpoint_", ".h5")) {
    files.push_back({checkpoint(frame), frame});
  }
  std::error_code error;
  if (fs::exists(interrupted(), error)) files.push_back({interrupted(), -1});
  return files;
}

void RunFolder::start(const RunInfo& info, const std::string& scene_text) const {
  make_folder(folder_ / "frames");
  make_folder(folder_ / "checkpoints");
  // run.json first: a scene.toml without one is taken for the user's own.
  write_run_info(run_info(), info);
  write_file_atomic(scene(), scene_text);
}

std::optional<FoundCheckpoint> RunFolder::last_good_checkpoint() const {
  struct Candidate {
    std::int64_t step;
    fs::path path;
  };
  std::vector<Candidate> candidates;
  const auto skip = [](const Error& error) {
    warn("{}; this checkpoint is skipped", error.what());
  };
  const std::vector<CheckpointFile> files = checkpoints();
  for (const CheckpointFile& file : files) {
    try {
      candidates.push_back({summarize_checkpoint(file.path).step, file.path});
    } catch (const OtherFormatError&) {
      throw;
    } catch (const Error& error) {
      skip(error);
    }
  }
  // Of two of the same step the regular one comes first.
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& a, const Candidate& b) { return a.step > b.step; });
  for (const Candidate& candidate : candidates) {
    try {
      return FoundCheckpoint{candidate.path, read_checkpoint(candidate.path)};
    } catch (const Error& error) {
      skip(error);
    }
  }
  if (!files.empty()) warn("no checkpoint in {} can be read", folder_.string());
  return std::nullopt;
}

void RunFolder::prune_checkpoints(int keep, const std::function<bool(std::int64_t)>& is_due) const {
  std::vector<std::int64_t> due;
  for (const std::int64_t frame : numbers_in(folder_ / "checkpoints", "checkpoint_", ".h5")) {
    if (!is_due || is_due(frame)) {
      due.push_back(frame);
    } else {
      remove_file(checkpoint(frame));
    }
  }
  const auto kept = static_cast<std::size_t>(std::max(keep, 1));
  for (std::size_t i = 0; i + kept < due.size(); ++i) remove_file(checkpoint(due[i]));
  remove_file(interrupted());
}

void RunFolder::remove_parts() const {
  for (const char* subfolder : kSubfolders) {
    for (const std::string& name : names_in(folder_ / subfolder)) {
      const std::string whole = without_part(name);
      const bool probe = std::string(subfolder) == "probes" && is_probe_name(whole);
      if (name != whole && (probe || is_ours(subfolder, whole))) {
        remove_file(folder_ / subfolder / name);
      }
    }
  }
}

void RunFolder::remove_run() const {
  // run.json goes last: until then the folder is known to hold a run.
  for (auto at = std::rbegin(kSubfolders); at != std::rend(kSubfolders); ++at) {
    const std::string subfolder = *at;
    for (const std::string& name : names_in(folder_ / subfolder)) {
      const fs::path path = folder_ / subfolder / name;
      if (name == "run.json") continue;
      if (is_ours(subfolder, name) || (subfolder == "probes" && is_probe_file(path))) {
        remove_file(path);
      }
    }
    std::error_code not_empty;
    if (!subfolder.empty() && fs::is_directory(folder_ / subfolder, not_empty)) {
      fs::remove(folder_ / subfolder, not_empty);  // someone else's files keep it there
    }
  }
  remove_file(run_info());
}

}  // namespace barchan
