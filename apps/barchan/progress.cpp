#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace barchan {

using Clock = std::chrono::steady_clock;

ProgressLine::ProgressLine(Style style)
    : style_(style), terminal_(::isatty(STDERR_FILENO) != 0), begun_(Clock::now()) {}

ProgressLine::~ProgressLine() {
  if (open_line_) std::fputc('\n', stderr);
}

std::string ProgressLine::eta(const Progress& progress) const {
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  const auto done = static_cast<double>(progress.frame - first_frame_);
  if (done <= 0.0 || progress.frame >= progress.frames) return "";
  return ", " +
         human_seconds(seconds / done * static_cast<double>(progress.frames - progress.frame)) +
         " left";
}

void ProgressLine::event(const std::string& json) const {
  if (style_ != Style::json) return;
  std::fputs((json + "\n").c_str(), stdout);
  std::fflush(stdout);
}

void ProgressLine::show(const Progress& progress) {
  if (style_ == Style::quiet) return;
  if (first_frame_ < 0) first_frame_ = progress.frame - 1;
  if (style_ == Style::json) {
    if (!progress.frame_done) return;
    nlohmann::ordered_json line = {{"event", "frame"},
                                   {"frame", progress.frame},
                                   {"frames", progress.frames},
                                   {"time", progress.time},
                                   {"particles", progress.particles},
                                   {"ms_per_step", progress.ms_per_step}};
    return event(line.dump());
  }
  const auto now = Clock::now();
  const bool due = progress.frame_done || now - shown_ > std::chrono::milliseconds(100);
  if (terminal_ ? !due : !progress.frame_done) return;
  shown_ = now;
  std::string text = fmt::format("frame {}/{}  t = {:.3f} s  {} particles  {:.2f} ms/step",
                                 progress.frame, progress.frames, progress.time,
                                 human_count(progress.particles), progress.ms_per_step);
  if (std::isfinite(progress.iterations))
    text += fmt::format("  {:.1f} iterations", progress.iterations);
  if (std::isfinite(progress.error)) text += fmt::format("  error {:.2g}", progress.error);
  text += eta(progress);
  std::fputs((terminal_ ? "\r" + text + "\033[K" : text + "\n").c_str(), stderr);
  std::fflush(stderr);
  open_line_ = terminal_;
}

}  // namespace barchan
