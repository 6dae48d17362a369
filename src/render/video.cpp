#include "render/video.h"

#include <fmt/core.h>

#include <cmath>
#include <string>
#include <system_error>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/program.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

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
  const TemporaryFile list(goal.string() + ".list"), part(goal.string() + ".part");
  write_file_atomic(list.path, concat_list(images));
  run_tool(ffmpeg_command(list.path, fps, part.path), "cannot make " + out.string(), "ffmpeg");
  std::error_code error;
  fs::rename(part.path, goal, error);
  if (error) fail("cannot write {}: {}", out.string(), error.message());
}

}  // namespace barchan
