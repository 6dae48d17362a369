// Writes what a run produces in a thread of its own, so that the simulation goes on meanwhile.
//
// The order on disk is the order of the calls: a frame is in its place before its rows are in the
// tables, and a checkpoint comes after the frames before it. So whatever a killed run leaves, its
// last checkpoint can be gone on with.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "barchan/error.h"
#include "cache/frame_file.h"
#include "cache/ledger.h"
#include "cache/run_folder.h"
#include "sim/frame.h"

namespace barchan {

struct WriterOptions {
  std::string scene;                   // kept in checkpoints: the resolved scene but its duration
  double fps = 24.0;                   // [1/s]
  std::int64_t every = 1;              // frames from one that is written to the next
  std::int64_t checkpoint_every = 10;  // frames
  std::int64_t last_frame = -1;        // of the run: has a checkpoint, due or not
  int keep_checkpoints = 2;
  std::vector<std::string> probes;  // names
  // Of a resumed run: the frame of its checkpoint. Rows of later frames are cut from the tables.
  // -1 where a run is resumed from its beginning; nothing for a new run.
  std::optional<std::int64_t> resumed_frame;
};

class FrameWriter : public FrameSink {
 public:
  // The folder must be claimed and started.
  FrameWriter(const RunFolder& folder, WriterOptions options);
  // Writes what is pending; a fault is logged. Call finish() to hear of it.
  ~FrameWriter() override;
  FrameWriter(const FrameWriter&) = delete;
  FrameWriter& operator=(const FrameWriter&) = delete;

  // Both block while two items wait. Both throw the first fault the thread met, and write nothing
  // from then on.
  void frame(Frame frame, const LedgerRow& row) override;
  // A regular one gets its frame's name, and older ones go; one of a stopped run goes to
  // interrupted.h5, so that the regular ones are those of an unstopped run.
  void checkpoint(Snapshot snapshot, CheckpointKind kind) override;

  // Waits for everything to be on the disk, frames.xdmf last, and throws what went wrong.
  void finish();

 private:
  struct FrameItem {
    Frame frame;
    LedgerRow row;
  };
  struct CheckpointItem {
    Snapshot snapshot;
    CheckpointKind kind;
  };
  using Item = std::variant<FrameItem, CheckpointItem>;

  // On the caller's side.
  void push(Item item);
  void close();
  [[noreturn]] void tell();  // throws the fault

  // In the thread.
  void work();
  void write(const Item& item);
  void write_frame_item(const FrameItem& item);
  void write_iterations(const LedgerRow& row);
  void sync_tables();
  void write_checkpoint_item(const CheckpointItem& item);
  bool is_due(std::int64_t frame) const;
  void write_index();
  void end();
  template <class Do>
  bool guarded(const Do& act);
  std::string advice(const std::string& problem) const;

  const RunFolder folder_;
  const WriterOptions options_;
  CsvFile ledger_, bodies_;
  std::optional<CsvFile> iterations_;  // made when a solver has something to say
  std::map<std::string, CsvFile> probe_files_;
  bool told_ = false;  // the caller knows of the fault

  // Used by the thread alone.
  std::map<std::int64_t, FrameSummary> known_;  // frames for frames.xdmf
  bool known_loaded_ = false;
  std::int64_t last_whole_ = -1;  // frame

  // Shared.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> queue_;  // its front is the one being written
  bool closing_ = false;
  std::optional<Error> fault_;
  std::thread thread_;  // last: everything else is there when it starts
};

}  // namespace barchan
