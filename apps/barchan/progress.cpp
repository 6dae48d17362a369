#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/units.h"

namespace barchan {

using Clock = std::chrono::steady_clock;

ProgressLine::ProgressLine(Style style)
    : style_(style), terminal_(::isatty(STDERR_FILENO) != 0), begun_(Clock::now()) {}

ProgressLine::ProgressLine() : ProgressLine(log_is_quiet() ? Style::quiet : Style::automatic) {}

ProgressLine::~ProgressLine() {
  if (open_line_) std::fputc('\n', stderr);
}

std::string ProgressLine::eta(double done, double left) const {
  if (done <= 0.0 || left <= 0.0) return "";
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  return ", " + human_seconds(seconds / done * left) + " left";
}

void ProgressLine::put(const std::string& text) {
  std::fputs((terminal_ ? "\r" + text + "\033[K" : text + "\n").c_str(), stderr);
  std::fflush(stderr);
  open_line_ = terminal_;
}

void ProgressLine::show_work(std::size_t done, std::size_t all, const std::string& last) {
  if (style_ == Style::quiet) return;
  put(fmt::format("{}/{}  {}", done, all, last) +
      eta(static_cast<double>(done), static_cast<double>(all - done)));
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
  put(text + eta(static_cast<double>(progress.frame - first_frame_),
                 static_cast<double>(progress.frames - progress.frame)));
}

RunInfo run_with_progress(RunRequest request) {
  ProgressLine line;
  request.progress = [&](const Progress& progress) { line.show(progress); };
  return run_scene(request);
}

}  // namespace barchan
