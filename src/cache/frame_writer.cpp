#include "cache/frame_writer.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "cache/checkpoint_file.h"
#include "cache/xdmf.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPending = 2;

// Linux has a nice value for each thread. Computing comes first; signals are for the main thread.
void step_back() {
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  ::setpriority(PRIO_PROCESS, thread, 10);  // no harm if it is refused
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

fs::path with_folder(const fs::path& file) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);  // whoever writes the file says what is wrong
  return file;
}

}  // namespace

FrameWriter::FrameWriter(const RunFolder& folder, WriterOptions options)
    : folder_(folder),
      options_(std::move(options)),
      ledger_(folder_.ledger(), kLedgerHeader, options_.resumed_frame),
      bodies_(folder_.bodies(), kBodiesHeader, options_.resumed_frame),
      last_whole_(options_.resumed_frame.value_or(-1)) {
  for (const std::string& name : options_.probes) {
    probe_files_.emplace(
        name, CsvFile(with_folder(folder_.probe(name)), kProbeHeader, options_.resumed_frame));
  }
  if (options_.resumed_frame && fs::exists(folder_.iterations())) {
    iterations_.emplace(folder_.iterations(), kIterationsHeader, options_.resumed_frame);
  }
  with_folder(folder_.frame(0));
  with_folder(folder_.interrupted());
  thread_ = std::thread([this] { work(); });
}

FrameWriter::~FrameWriter() {
  if (thread_.joinable()) close();
  if (fault_ && !told_) log_message(LogLevel::error, fault_->what());
}

void FrameWriter::frame(Frame frame, const LedgerRow& row) {
  push(FrameItem{std::move(frame), row});
}

void FrameWriter::checkpoint(Snapshot snapshot, CheckpointKind kind) {
  push(CheckpointItem{std::move(snapshot), kind});
}

void FrameWriter::finish() {
  if (thread_.joinable()) close();
  if (fault_) tell();
}

void FrameWriter::tell() {
  told_ = true;
  throw *fault_;
}

void FrameWriter::push(Item item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.size() < kPending || fault_; });
  if (fault_) tell();
  if (closing_) fail("a frame was given to a writer that has finished");
  queue_.push_back(std::move(item));
  changed_.notify_all();
}

void FrameWriter::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

// ---- The thread

void FrameWriter::work() {
  step_back();
  for (;;) {
    const Item* item = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !queue_.empty() || closing_; });
      if (queue_.empty()) break;
      item = &queue_.front();  // stays where it is while others are put behind it
    }
    const bool good = guarded([&] { write(*item); });
    const std::lock_guard lock(mutex_);
    if (good) {
      queue_.pop_front();
    } else {
      queue_.clear();  // a checkpoint must not come after a frame that is not there
    }
    changed_.notify_all();
  }
  if (!fault_) guarded([this] { end(); });
}

// Keeps the first fault for the caller.
template <class Do>
bool FrameWriter::guarded(const Do& act) {
  std::string problem;
  try {
    act();
    return true;
  } catch (const std::bad_alloc&) {
    problem = "cannot write to " + folder_.path().string() + ": out of memory";
  } catch (const std::exception& error) {
    problem = error.what();
  }
  const std::string message = advice(problem);
  const std::lock_guard lock(mutex_);
  fault_ = Error(Fault::failed, message);
  return false;
}

std::string FrameWriter::advice(const std::string& problem) const {
  const bool full = problem.find("no space left") != std::string::npos;
  const std::vector<std::int64_t> present = folder_.frames();
  std::string whole = "no frame is written yet";
  if (last_whole_ >= 0 && !present.empty()) {
    whole = present.front() >= last_whole_
                ? fmt::format("frame {} is whole", last_whole_)
                : fmt::format("frames {} to {} are whole", present.front(), last_whole_);
  }
  return fmt::format("{}; {}; {} and go on with --resume", problem, whole,
                     full ? "free some space" : "put that right");
}

void FrameWriter::write(const Item& item) {
  if (const auto* frame = std::get_if<FrameItem>(&item)) {
    write_frame_item(*frame);
  } else {
    write_checkpoint_item(std::get<CheckpointItem>(item));
  }
}

void FrameWriter::write_frame_item(const FrameItem& item) {
  const Frame& frame = item.frame;
  write_frame(folder_.frame(frame.index), frame);
  last_whole_ = frame.index;
  known_.insert_or_assign(frame.index, summarize_frame(frame));

  // The first frame is the state at the start: no time has passed that could be averaged over.
  const double averaged_over = static_cast<double>(options_.every) / options_.fps;  // [s]
  ledger_.append(ledger_row(item.row));
  bodies_.append(bodies_rows(frame, frame.index > 0 ? averaged_over : 0.0));
  write_iterations(item.row);
  for (const auto& [name, value] : frame.probes) {
    const auto file = probe_files_.find(name);
    if (file == probe_files_.end()) fail("no probe '{}' was announced to the writer", name);
    file->second.append(probe_row(frame.index, frame.time, value));
  }
}

void FrameWriter::write_iterations(const LedgerRow& row) {
  const std::string rows = iterations_rows(row);
  if (rows.empty()) return;
  if (!iterations_) iterations_.emplace(folder_.iterations(), kIterationsHeader, std::nullopt);
  iterations_->append(rows);
}

void FrameWriter::sync_tables() {
  ledger_.sync();
  bodies_.sync();
  if (iterations_) iterations_->sync();
  for (auto& [name, file] : probe_files_) file.sync();
}

void FrameWriter::write_checkpoint_item(const CheckpointItem& item) {
  // Whoever goes on from here finds the rows before it.
  sync_tables();

  if (item.kind == CheckpointKind::interrupted) {
    write_checkpoint(folder_.interrupted(), item.snapshot, options_.scene);
  } else {
    const std::int64_t now = item.snapshot.frame;
    write_checkpoint(folder_.checkpoint(now), item.snapshot, options_.scene);
    folder_.prune_checkpoints(options_.keep_checkpoints,
                              [&](std::int64_t frame) { return frame == now || is_due(frame); });
  }
  write_index();
}

bool FrameWriter::is_due(std::int64_t frame) const {
  return frame % std::max<std::int64_t>(options_.checkpoint_every, 1) == 0 ||
         frame == options_.last_frame;
}

void FrameWriter::write_index() {
  if (!known_loaded_ && options_.resumed_frame) {
    for (const std::int64_t index : folder_.frames()) {
      if (known_.contains(index)) continue;
      try {
        known_.emplace(index, summarize_frame(folder_.frame(index)));
      } catch (const Error& error) {
        warn("{}; frames.xdmf leaves it out", error.what());
      }
    }
  }
  known_loaded_ = true;
  std::vector<FrameSummary> frames;
  for (const auto& [index, summary] : known_) frames.push_back(summary);
  write_xdmf(folder_, frames);
}

void FrameWriter::end() {
  sync_tables();
  write_index();
}

}  // namespace barchan
