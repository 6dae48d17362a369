// What `barchan view` and `barchan run --view` do once there is somebody to watch.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/view_feed.h"

namespace barchan {

struct ViewRequest {
  std::string scene;  // file or shipped name; "": the gallery
  std::vector<std::string> settings;
  std::string device = "cpu";
  int threads = 0;  // 0: as many as cores
  bool playing = true;
  std::function<bool()> stop = [] { return false; };  // asked every tenth of a second or more
};

// Simulates as long as nobody stops it: a scene's duration counts for runs only. No faster than
// real time.
void view_live(const ViewRequest& request, ViewFeed& feed);

// Shows the frames of a run's folder, also of one that is still being written.
void view_run_folder(const std::filesystem::path& folder, bool playing,
                     const std::function<bool()>& stop, ViewFeed& feed);

// For run --view: to be called after each step. Waits while the viewers have paused it.
class RunWatch {
 public:
  RunWatch(const Scene& scene, ViewFeed& feed, std::function<bool()> stop)
      : scene_(scene), feed_(feed), stop_(std::move(stop)) {}
  void started(const Driver& driver);
  void stepped(const Progress& progress);

 private:
  bool obey();  // true: one step, then pause again

  const Scene& scene_;
  ViewFeed& feed_;
  std::function<bool()> stop_;
  const Driver* driver_ = nullptr;
  bool playing_ = true;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace barchan
