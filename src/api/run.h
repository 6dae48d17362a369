// From a scene to a run folder: the whole corridor behind `barchan run`.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cache/run_folder.h"
#include "scene/scene.h"
#include "sim/driver.h"

namespace barchan {

struct RunRequest {
  Scene scene;
  std::string scene_argument;        // as named on the command line
  std::vector<std::string> command;  // as typed, for run.json
  std::string device = "cpu";
  int threads = 0;  // 0: as many as cores
  std::filesystem::path folder;
  RunMode mode = RunMode::create;
  std::function<bool()> stop = [] { return false; };  // asked after each step
  std::function<void(const RunInfo&, const Driver&)> started;
  std::function<void(const Progress&)> progress = [](const Progress&) {};
};

// Runs it, and keeps run.json true to what happened: done, interrupted, or failed and why.
RunInfo run_scene(const RunRequest& request);

}  // namespace barchan
