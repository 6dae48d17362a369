// The one progress line of long work, plain lines where no terminal looks, or JSON lines.
#pragma once

#include <chrono>
#include <string>

#include "api/run.h"

namespace barchan {

class ProgressLine {
 public:
  enum class Style { quiet, automatic, json };
  ProgressLine();  // quiet where the log is
  explicit ProgressLine(Style style);
  ~ProgressLine();

  void show(const Progress& progress);
  // Work on many like things: how many are done, and what was done last.
  void show_work(std::size_t done, std::size_t all, const std::string& last);
  // One JSON object on stdout, in JSON style only.
  void event(const std::string& json) const;

 private:
  std::string eta(double done, double left) const;
  void put(const std::string& text);

  Style style_;
  bool terminal_;
  bool open_line_ = false;
  std::int64_t first_frame_ = -1;
  std::chrono::steady_clock::time_point begun_, shown_;
};

// Runs it beneath such a line.
RunInfo run_with_progress(RunRequest request);

}  // namespace barchan
