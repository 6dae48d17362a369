#include <malloc.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <exception>
#include <limits>

#include "barchan/version.h"
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

namespace {

int run_program(int argc, char** argv) {
  CLI::App app{"Barchan simulates sand, water and other granular matter for animation."};
  app.set_version_flag("--version", std::string("barchan ") + version());
  app.require_subcommand(1);
  app.fallthrough();
  bool quiet = false;
  app.add_flag("--quiet,-q", quiet, "Only errors");
  CommandLine line{std::vector<std::string>(argv, argv + argc), {}};
  for (const auto add :
       {add_run, add_check, add_scenes, add_params, add_info, add_bench, add_surface, add_render,
        add_export, add_plot, add_validate, add_paper, add_view, add_compare}) {
    add(app, line);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "barchan: %s\nTry 'barchan --help' or 'barchan COMMAND --help'.\n",
                 error.what());
    return 2;
  }
  set_log_quiet(quiet);
  return line.action();
}

}  // namespace

}  // namespace barchan

int main(int argc, char** argv) {
  // Frames are buffers of many megabytes that come and go. Kept in the heap they are reused; given
  // back to the system each time, they would be zeroed and mapped anew page by page, which costs
  // more than writing them.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_ARENA_MAX, 1);
  try {
    return barchan::run_program(argc, argv);
  } catch (const barchan::Error& error) {
    barchan::log_message(barchan::LogLevel::error, error.what());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    barchan::log_message(barchan::LogLevel::error,
                         "out of memory: use fewer particles or a coarser resolution");
    return 1;
  } catch (const std::exception& error) {
    barchan::log_message(barchan::LogLevel::error, error.what());
    return 1;
  }
}
