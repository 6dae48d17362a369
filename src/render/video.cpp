#include "render/video.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <string>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"

extern char** environ;

namespace barchan {

namespace fs = std::filesystem;

namespace {

// A file that is gone when this is.
struct TemporaryFile {
  fs::path path;
  ~TemporaryFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

// ffmpeg's concat list: one file a line, in single quotes; a quote itself is '\'' as in a shell.
std::string concat_list(const std::vector<fs::path>& images) {
  std::string list = "ffconcat version 1.0\n";
  for (const fs::path& image : images) {
    std::error_code ignored;
    if (!fs::is_regular_file(image, ignored)) {
      fail("cannot make a video: the picture {} is missing", image.string());
    }
    std::string quoted;
    for (const char c : fs::absolute(image).string()) {
      if (c == '\n') fail("cannot make a video: a line break in the name {}", image.string());
      quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    list += "file '" + quoted + "'\n";
    // Else %d would stand for a number. Only then: the directive is new in ffmpeg 5.
    if (quoted.find('%') != std::string::npos) list += "option pattern_type none\n";
  }
  return list;
}

struct Outcome {
  int started = 0;     // 0, or why it did not start (errno)
  int status = 0;      // as waitpid() gives it
  std::string output;  // both streams
};

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// Runs a program found by PATH with these arguments and waits for it. No shell looks at them, and
// it cannot take the terminal's input.
Outcome run_program(const std::vector<std::string>& arguments) {
  Outcome outcome;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    outcome.started = errno;
    return outcome;
  }
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t child = 0;
  outcome.started = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (outcome.started == 0) {
    outcome.output = read_all(ends[0]);
    while (::waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(ends[0]);
  return outcome;
}

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  const std::size_t start = text.find_last_of("\r\n");
  return start == std::string::npos ? text : text.substr(start + 1);
}

std::vector<std::string> ffmpeg_command(const fs::path& list, double fps, const fs::path& out) {
  return {"ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y",
          // -r before -i: so many pictures a second, whatever the demuxer thinks
          "-f", "concat", "-safe", "0", "-r", fmt::format("{}", fps), "-i", list.string(),
          // H.264 with halved colour needs even sizes; pictures this size are taken for BT.709
          "-vf",
          "pad=ceil(iw/2)*2:ceil(ih/2)*2,"
          "scale=in_range=pc:out_range=tv:out_color_matrix=bt709,format=yuv420p",
          "-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p",
          "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-movflags",
          "+faststart", "-f", "mp4", out.string()};
}

}  // namespace

void encode_video(const std::vector<fs::path>& images, double fps, const fs::path& out) {
  if (images.empty()) fail("cannot make {}: there are no pictures", out.string());
  if (!(fps > 0.0) || !std::isfinite(fps)) {
    reject("cannot make {}: {} pictures a second; the rate must be positive", out.string(), fps);
  }
  const fs::path goal = fs::absolute(out);
  TemporaryFile list{goal}, part{goal};
  list.path += ".list";
  part.path += ".part";
  write_file_atomic(list.path, concat_list(images));

  const Outcome outcome = run_program(ffmpeg_command(list.path, fps, part.path));
  if (outcome.started == ENOENT) {
    fail("cannot make {}: ffmpeg is not installed (apt install ffmpeg)", out.string());
  }
  if (outcome.started != 0) {
    fail("cannot make {}: cannot start ffmpeg: {}", out.string(), std::strerror(outcome.started));
  }
  if (!WIFEXITED(outcome.status) || WEXITSTATUS(outcome.status) != 0) {
    const std::string said = last_line(outcome.output);
    fail("cannot make {}: ffmpeg failed: {}", out.string(),
         said.empty() ? "no reason given" : said);
  }
  std::error_code error;
  fs::rename(part.path, goal, error);
  if (error) fail("cannot write {}: {}", out.string(), error.message());
}

}  // namespace barchan
