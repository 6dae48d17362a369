// Which frames of a run a command is about.
#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/log.h"
#include "cache/run_folder.h"
#include "commands.h"

namespace barchan {

FrameRange parse_frame_range(const std::string& text) {
  if (text.empty()) return {};
  const auto number = [&](const std::string& part, std::int64_t otherwise) {
    if (part.empty()) return otherwise;
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (code != std::errc() || end != part.data() + part.size() || value < 0) {
      reject("--frames {}: expected A..B, A.., ..B or one number", text);
    }
    return value;
  };
  const std::size_t dots = text.find("..");
  FrameRange range;
  if (dots == std::string::npos) {
    range.first = range.last = number(text, 0);
  } else {
    range = {number(text.substr(0, dots), 0), number(text.substr(dots + 2), INT64_MAX)};
  }
  if (range.first > range.last) reject("--frames {}: the range ends before it starts", text);
  return range;
}

std::vector<std::pair<std::int64_t, std::filesystem::path>> frames_in(
    const std::filesystem::path& folder, const FrameRange& range) {
  const RunFolder run(folder);
  if (!std::filesystem::is_directory(folder)) reject("no folder '{}'", folder.string());
  const std::vector<std::int64_t> present = run.frames();
  if (present.empty()) reject("{} holds no frames; is it the folder of a run?", folder.string());
  std::vector<std::pair<std::int64_t, std::filesystem::path>> frames;
  for (const std::int64_t frame : present) {
    if (range.contains(frame)) frames.emplace_back(frame, run.frame(frame));
  }
  if (frames.empty()) {
    reject("no frame in that range; {} holds frames {} to {}", folder.string(), present.front(),
           present.back());
  }
  return frames;
}

int report_missing(const RunFolder& run, const FrameRange& range, int every) {
  int missing = 0;
  const std::vector<std::int64_t> present = run.frames();
  for (std::size_t n = 1; n < present.size(); ++n) {
    for (std::int64_t f = present[n - 1] + every; f < present[n]; f += every) {
      if (!range.contains(f)) continue;
      log_message(LogLevel::error, run.frame(f).string() + " is missing");
      ++missing;
    }
  }
  return missing;
}

std::vector<std::size_t> spread_over(std::size_t there, int count) {
  std::vector<std::size_t> places;
  const auto gaps = static_cast<std::size_t>(std::max(2, count)) - 1;
  for (std::size_t k = count > 1 ? 0 : 1; k <= gaps && there > 0; ++k) {
    const std::size_t at = (there - 1) * k / gaps;
    if (places.empty() || at != places.back()) places.push_back(at);
  }
  return places;
}

}  // namespace barchan
