// The one progress line of long work, plain lines where no terminal looks, or JSON lines.
#pragma once

#include <chrono>
#include <string>

#include "sim/driver.h"

namespace barchan {

class ProgressLine {
 public:
  enum class Style { quiet, automatic, json };
  explicit ProgressLine(Style style);
  ~ProgressLine();

  void show(const Progress& progress);
  // One JSON object on stdout, in JSON style only.
  void event(const std::string& json) const;

 private:
  std::string eta(const Progress& progress) const;

  Style style_;
  bool terminal_;
  bool open_line_ = false;
  std::int64_t first_frame_ = -1;
  std::chrono::steady_clock::time_point begun_, shown_;
};

}  // namespace barchan
