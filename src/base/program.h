// Other programs (ffmpeg, gnuplot), started with an argument list and never through a shell.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace barchan {

// A file that is gone when this is.
struct TemporaryFile {
  std::filesystem::path path;
  explicit TemporaryFile(std::filesystem::path where) : path(std::move(where)) {}
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

// Runs the program arguments[0], found by PATH, waits for it and gives back what it printed on both
// streams. It cannot take the terminal's input. `goal` begins the message where it fails, `package`
// is the Debian package that holds it: "cannot make video.mp4: ffmpeg is not installed (apt install
// ffmpeg)".
std::string run_tool(const std::vector<std::string>& arguments, const std::string& goal,
                     const std::string& package);

}  // namespace barchan
