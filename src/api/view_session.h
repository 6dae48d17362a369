// What `barchan view` and `barchan run --view` do once there is somebody to watch.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
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

// Shows the frames of a run's folder (request.scene), also of one that is still being written,
// until somebody opens a shipped scene: that goes on live.
void view_run_folder(const ViewRequest& request, ViewFeed& feed);

// What each stage took since the last look [ms a step], from a profiler that only adds up.
class StageClock {
 public:
  std::map<std::string, double> read(const Profiler& profiler, std::int64_t step);

 private:
  std::map<std::string, double> before_;  // [ms]
  std::int64_t step_ = 0;
};

// Warns of particles inside solids.
class LeakWatch {
 public:
  void look(const Driver& driver, double spacing, ViewFeed& feed);

 private:
  std::chrono::steady_clock::time_point looked_;
  std::int64_t most_ = 0;
};

// For run --view: to be called after each step. Waits while the viewers have paused it.
class RunWatch {
 public:
  // `name`: of the scene, as given.
  RunWatch(const std::string& name, const Scene& scene, ViewFeed& feed, std::function<bool()> stop)
      : name_(name), scene_(scene), feed_(feed), stop_(std::move(stop)) {}
  void started(const Driver& driver);
  void stepped(const Progress& progress);

 private:
  bool obey();  // true: one step, then pause again

  std::string name_;
  const Scene& scene_;
  ViewFeed& feed_;
  std::function<bool()> stop_;
  LeakWatch leaks_;
  StageClock stages_;
  const Driver* driver_ = nullptr;
  bool playing_ = true;
  std::chrono::steady_clock::time_point shown_;
};

}  // namespace barchan
