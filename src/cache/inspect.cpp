#include "cache/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/units.h"
#include "cache/frame_file.h"
#include "cache/ledger.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

std::string relative(const RunReport& report, const fs::path& path) {
  return path.lexically_relative(report.folder).generic_string();
}

void look_at_state(const RunFolder& folder, RunReport& report) {
  report.state = "unknown";
  std::error_code error;
  if (!fs::exists(folder.run_info(), error)) {
    report.why = "there is no run.json";
    return;
  }
  try {
    report.info = read_run_info(folder.run_info());
  } catch (const Error& fault) {
    report.why = fault.what();
    report.broken.push_back({"run.json", fault.what()});
    return;
  }
  report.state = name_of(report.info->state);
  report.why = report.info->why;
  if (report.info->state == RunState::running && !FolderLock::is_held(folder.path())) {
    report.state = "killed";
    report.why = "run.json says it is running, but no process holds the folder";
  }
}

void add_frame(RunReport& report, const FrameSummary& summary, bool first) {
  if (first) {
    report.first_time = summary.time;
    report.first_particles = summary.particles;
  }
  report.last_time = summary.time;
  report.last_particles = summary.particles;
  report.most_particles = std::max(report.most_particles, summary.particles);
  report.materials = summary.materials;
  report.bodies = summary.bodies;
  report.fields.clear();
  for (const FrameField& field : summary.fields) report.fields.push_back(field.name);
}

void look_at_frames(const RunFolder& folder, bool verify, RunReport& report) {
  report.frames = folder.frames();
  bool first = true;
  for (const std::int64_t index : report.frames) {
    const fs::path path = folder.frame(index);
    try {
      const FrameSummary summary = summarize_frame(path);
      if (verify) verify_frame(path);
      add_frame(report, summary, first);
      first = false;
    } catch (const Error& fault) {
      report.broken.push_back({relative(report, path), fault.what()});
    }
  }
}

// Reads a table; one that is broken is reported, one that is not there is not.
std::optional<Table> look_at_table(const fs::path& path, RunReport& report) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  try {
    Table table = read_csv(path);
    if (!table.has("frame")) fail("{} has no column 'frame'", path.string());
    return table;
  } catch (const Error& fault) {
    report.broken.push_back({relative(report, path), fault.what()});
    return std::nullopt;
  }
}

// A frame is missing if the ledger has its row; without a ledger, if others come before and after.
void look_for_missing(const RunFolder& folder, RunReport& report) {
  std::set<std::int64_t> expected;
  if (const std::optional<Table> ledger = look_at_table(folder.ledger(), report)) {
    for (const double frame : ledger->column("frame")) {
      if (frame >= 0.0 && frame < 1e15) expected.insert(static_cast<std::int64_t>(frame));
    }
  } else if (!report.frames.empty() && report.frames.back() < 10'000'000) {
    // Frames may be written every so many: the smallest distance tells.
    std::int64_t every = std::max<std::int64_t>(report.frames.back(), 1);
    for (std::size_t i = 1; i < report.frames.size(); ++i) {
      every = std::min(every, std::max<std::int64_t>(report.frames[i] - report.frames[i - 1], 1));
    }
    for (std::int64_t i = 0; i < report.frames.back(); i += every) expected.insert(i);
  }
  for (const std::int64_t frame : report.frames) expected.erase(frame);
  for (const std::int64_t frame : expected) {
    report.missing.push_back(relative(report, folder.frame(frame)));
  }
}

void look_at_checkpoints(const RunFolder& folder, bool verify, RunReport& report) {
  for (const CheckpointFile& file : folder.checkpoints()) {
    CheckpointReport found;
    found.name = relative(report, file.path);
    try {
      found.summary = summarize_checkpoint(file.path);
      if (verify) verify_checkpoint(file.path);
      found.good = true;
      report.can_resume = true;
    } catch (const Error& fault) {
      found.why = fault.what();
    }
    report.checkpoints.push_back(std::move(found));
  }
}

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;  // a running run renames files under our eyes
    if (!at->is_symlink(gone) && at->is_regular_file(gone)) {
      const std::uint64_t size = at->file_size(gone);
      if (!gone) bytes += size;
    }
  }
  return bytes;
}

// "0 to 99", or "0 to 99, with gaps".
std::string span_of(const std::vector<std::int64_t>& frames) {
  if (frames.empty()) return "none";
  if (frames.size() == 1) return fmt::format("{}", frames.front());
  const bool gaps = frames.back() - frames.front() + 1 != static_cast<std::int64_t>(frames.size());
  return fmt::format("{} to {}{}", frames.front(), frames.back(), gaps ? ", with gaps" : "");
}

std::string checkpoint_lines(const RunReport& report) {
  std::string out;
  for (const CheckpointReport& checkpoint : report.checkpoints) {
    const CheckpointSummary& summary = checkpoint.summary;
    out += checkpoint.good
               ? fmt::format("checkpoint   {}: frame {}, step {}, {:.6g} s, {}\n", checkpoint.name,
                             summary.frame, summary.step, summary.time,
                             human_bytes(static_cast<double>(summary.file_bytes)))
               : fmt::format("checkpoint   {}: BROKEN: {}\n", checkpoint.name, checkpoint.why);
  }
  return out.empty() ? "checkpoint   none\n" : out;
}

std::string verdict(const RunReport& report) {
  if (report.whole) return report.verified ? "yes, every checksum matches" : "yes";
  if (report.state == "running") return "not yet";
  if (!report.missing.empty() || !report.broken.empty()) {
    return fmt::format("no: {} missing, {} broken; run the scene again with --overwrite",
                       report.missing.size(), report.broken.size());
  }
  if (report.state == "done") return "no: it has no frames";
  return report.can_resume ? "no; go on with --resume"
                           : "no; start again with --overwrite (there is no good checkpoint)";
}

std::string info_lines(const RunInfo& info) {
  std::string out = fmt::format("written by   barchan {} on {}, {} threads\n", info.version,
                                info.device, info.threads);
  out += fmt::format("command      {}\n", fmt::join(info.command, " "));
  if (info.wall_seconds > 0.0)
    out += fmt::format("took         {}\n", human_seconds(info.wall_seconds));
  if (info.emitted > 0 || info.removed > 0) {
    out += fmt::format("exchange     {} particles emitted, {} removed\n", human_count(info.emitted),
                       human_count(info.removed));
  }
  return out;
}

}  // namespace

RunReport inspect(const fs::path& folder, bool verify) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    reject("{} is not a folder; give the folder of a run, such as out/dam-break", folder.string());
  }
  const RunFolder run(folder);
  if (!run.holds_run()) {
    reject("{} holds no run; give a folder that barchan run made", folder.string());
  }
  RunReport report;
  report.folder = folder;
  report.verified = verify;
  look_at_state(run, report);
  look_at_frames(run, verify, report);
  look_for_missing(run, report);
  look_at_table(run.bodies(), report);
  if (std::filesystem::exists(run.iterations())) look_at_table(run.iterations(), report);
  report.probes = run.probes();
  for (const std::string& probe : report.probes) look_at_table(run.probe(probe), report);
  look_at_checkpoints(run, verify, report);
  report.bytes = bytes_in(folder);
  report.whole = report.state == "done" && report.missing.empty() && report.broken.empty() &&
                 !report.frames.empty();
  return report;
}

std::string text(const RunReport& report) {
  std::string out = fmt::format("folder       {}\n", report.folder.string());
  out +=
      fmt::format("state        {}{}\n", report.state, report.why.empty() ? "" : ": " + report.why);
  if (report.info) out += info_lines(*report.info);
  const bool planned = report.info && report.info->frames_planned > 0;
  out += fmt::format(
      "frames       {} ({}){}\n", report.frames.size(), span_of(report.frames),
      planned ? fmt::format(" of {} planned", report.info->frames_planned) : std::string());
  out += fmt::format("time         {:.6g} s to {:.6g} s\n", report.first_time, report.last_time);
  out += fmt::format("particles    {} at first, {} at last, {} at most\n",
                     human_count(report.first_particles), human_count(report.last_particles),
                     human_count(report.most_particles));
  out += fmt::format("materials    {}\n", fmt::join(report.materials, ", "));
  out += fmt::format("fields       {}\n", fmt::join(report.fields, ", "));
  if (!report.bodies.empty())
    out += fmt::format("bodies       {}\n", fmt::join(report.bodies, ", "));
  if (!report.probes.empty())
    out += fmt::format("probes       {}\n", fmt::join(report.probes, ", "));
  out += checkpoint_lines(report);
  out += fmt::format("on disk      {}\n", human_bytes(static_cast<double>(report.bytes)));
  for (const std::string& name : report.missing) out += fmt::format("MISSING      {}\n", name);
  for (const BrokenFile& file : report.broken) {
    out += fmt::format("BROKEN       {}: {}\n", file.name, file.why);
  }
  return out + fmt::format("whole        {}\n", verdict(report));
}

std::string json(const RunReport& report) {
  nlohmann::ordered_json out;
  out["folder"] = report.folder.string();
  out["state"] = report.state;
  out["why"] = report.why;
  out["whole"] = report.whole;
  out["verified"] = report.verified;
  out["can_resume"] = report.can_resume;
  out["frames"] = report.frames;
  out["missing"] = report.missing;
  out["broken"] = nlohmann::ordered_json::array();
  for (const BrokenFile& file : report.broken) {
    out["broken"].push_back({{"name", file.name}, {"why", file.why}});
  }
  out["time"] = {report.first_time, report.last_time};
  out["particles"] = {{"first", report.first_particles},
                      {"last", report.last_particles},
                      {"most", report.most_particles}};
  out["materials"] = report.materials;
  out["fields"] = report.fields;
  out["bodies"] = report.bodies;
  out["probes"] = report.probes;
  out["checkpoints"] = nlohmann::ordered_json::array();
  for (const CheckpointReport& checkpoint : report.checkpoints) {
    out["checkpoints"].push_back({{"name", checkpoint.name},
                                  {"good", checkpoint.good},
                                  {"frame", checkpoint.summary.frame},
                                  {"step", checkpoint.summary.step},
                                  {"time", checkpoint.summary.time},
                                  {"bytes", checkpoint.summary.file_bytes},
                                  {"why", checkpoint.why}});
  }
  out["bytes"] = report.bytes;
  return out.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace barchan
