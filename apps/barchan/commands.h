// One file a subcommand; each adds itself to the command line.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace barchan {

class RunFolder;

// A command leaves what it wants done here; main() does it inside one try block.
struct CommandLine {
  std::vector<std::string> words;  // argv
  std::function<int()> action;     // returns the exit code
};

void add_run(CLI::App& app, CommandLine& line);
void add_check(CLI::App& app, CommandLine& line);
void add_scenes(CLI::App& app, CommandLine& line);
void add_params(CLI::App& app, CommandLine& line);
void add_info(CLI::App& app, CommandLine& line);
void add_bench(CLI::App& app, CommandLine& line);
void add_surface(CLI::App& app, CommandLine& line);
void add_render(CLI::App& app, CommandLine& line);
void add_export(CLI::App& app, CommandLine& line);
void add_plot(CLI::App& app, CommandLine& line);
void add_validate(CLI::App& app, CommandLine& line);
void add_paper(CLI::App& app, CommandLine& line);
void add_view(CLI::App& app, CommandLine& line);
void add_compare(CLI::App& app, CommandLine& line);

// Options that several commands have.
void add_threads_option(CLI::App& command, int& threads);
void add_device_options(CLI::App& command, std::string& device, int& threads);
void add_set_option(CLI::App& command, std::vector<std::string>& settings,
                    const char* section = "section");

// What `barchan render` does, for other commands, too: pictures, a contact sheet and a video in the
// run's folder. Returns the exit code: 1 where some frame could not be drawn.
struct RenderOptions {
  std::string folder, frames, size, look, quality, format;
  std::vector<std::string> settings;  // of --set
  int samples = 0;                    // a pixel; 0: what the quality says
  int pictures = 0;                   // so many, spread over the frames; 0: of all
  int threads = 0;                    // 0: as many as cores
};
int render_run(const RenderOptions& options);

// "A..B", "A", "A.." or "..B", both ends included; everything where the text is empty.
struct FrameRange {
  std::int64_t first = 0;
  std::int64_t last = INT64_MAX;
  bool contains(std::int64_t frame) const { return frame >= first && frame <= last; }
};
FrameRange parse_frame_range(const std::string& text);

// The frames of a run within a range, as (number, file). Rejects folders and ranges without any.
std::vector<std::pair<std::int64_t, std::filesystem::path>> frames_in(
    const std::filesystem::path& folder, const FrameRange& range);

// So many of `there` things, evenly spread, the first and the last among them, or the last alone:
// their places, in order.
std::vector<std::size_t> spread_over(std::size_t there, int count);

// Names the frames within a range, between the first and the last that are there, that the run does
// not have. Returns how many.
int report_missing(const RunFolder& run, const FrameRange& range, int every);

}  // namespace barchan
