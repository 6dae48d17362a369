// barchan render DIR: pictures of a run's frames, a contact sheet and a video.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "api/pictures.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"
#include "cache/frame_file.h"
#include "cache/run_folder.h"
#include "commands.h"
#include "progress.h"
#include "render/exr.h"
#include "render/video.h"
#include "scene/scene.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

void parse_size(const std::string& text, RenderParams& params) {
  if (text.empty()) return;
  int used = 0;
  if (std::sscanf(text.c_str(), "%dx%d%n", &params.width, &params.height, &used) != 2 ||
      static_cast<std::size_t>(used) != text.size() || params.width < 16 || params.height < 16 ||
      params.width > 16384 || params.height > 16384) {
    reject("--size {}: expected WIDTHxHEIGHT from 16x16 to 16384x16384, for example 960x540", text);
  }
}

// What the command line says wins over the scene.
Scene scene_of(const RunFolder& run, const RenderOptions& options) {
  std::vector<std::string> overrides = options.settings;
  const auto put = [&](const char* key, const std::string& value) {
    if (!value.empty()) overrides.push_back(fmt::format("render.{}={}", key, value));
  };
  put("look", options.look);
  put("quality", options.quality);
  put("format", options.format);
  if (options.samples > 0) put("samples", fmt::format("{}", options.samples));
  Scene scene = read_scene(read_text_file(run.scene()), run.scene().string(), overrides);
  parse_size(options.size, scene.render);
  return scene;
}

// Nine of the pictures on one sheet.
void make_sheet(const fs::path& folder, const std::vector<fs::path>& pictures) {
  std::vector<Image> nine;
  const std::size_t shown = std::min<std::size_t>(9, pictures.size());
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t at = shown == 1 ? 0 : k * (pictures.size() - 1) / (shown - 1);
    nine.push_back(read_png(pictures[at]));
  }
  write_png(folder / "contact_sheet.png", contact_sheet(nine, 3));
  note("{}", (folder / "contact_sheet.png").string());
}

void make_video(const fs::path& folder, const std::vector<fs::path>& pictures, double fps) {
  if (pictures.size() < 2) return;
  encode_video(pictures, fps, folder / "video.mp4");
  note("{}", (folder / "video.mp4").string());
}

using NumberedFile = std::pair<std::int64_t, fs::path>;

// The frames of which pictures are wanted.
std::vector<NumberedFile> drawn_frames(const RenderOptions& options, const FrameRange& range) {
  const std::vector<NumberedFile> all = frames_in(options.folder, range);
  if (options.pictures == 0) return all;
  std::vector<NumberedFile> some;
  for (const std::size_t at : spread_over(all.size(), options.pictures)) some.push_back(all[at]);
  return some;
}

}  // namespace

int render_run(const RenderOptions& options) {
  const RunFolder run(options.folder);
  const FrameRange range = parse_frame_range(options.frames);
  const std::vector<NumberedFile> frames = drawn_frames(options, range);
  const Scene scene = scene_of(run, options);
  Pictures studio(options.folder, scene, options.threads);

  const fs::path images = fs::path(options.folder) / "images";
  fs::create_directories(images);
  const bool exr = scene.render.format == "exr";
  std::vector<fs::path> pictures;
  int broken = report_missing(run, range, scene.cache.every);
  ProgressLine progress;
  std::size_t done = 0;
  for (const auto& [number, file] : frames) {
    try {
      const LoadedFrame frame = read_frame(file);
      const LightImage light = studio.light(frame);
      const fs::path picture = images / fmt::format("frame_{:06}.{}", number, scene.render.format);
      if (exr) {
        write_exr(picture, light);
      } else {
        write_png(picture, studio.picture(light, frame));
      }
      pictures.push_back(picture);
      progress.show_work(++done, frames.size(), fmt::format("picture {}", number));
    } catch (const Error& error) {
      log_message(LogLevel::error, error.what());
      ++broken;
      ++done;
    }
  }
  if (pictures.empty()) fail("no frame of {} could be drawn", options.folder);
  note("{} picture{} in {}", pictures.size(), pictures.size() == 1 ? "" : "s", images.string());
  if (!exr) {
    try {
      make_sheet(options.folder, pictures);
      if (options.pictures == 0) {
        make_video(options.folder, pictures, scene.general.fps / scene.cache.every);
      }
    } catch (const Error& error) {  // without ffmpeg there are pictures still
      log_message(LogLevel::error, error.what());
      ++broken;
    }
  }
  return broken > 0 ? 1 : 0;
}

void add_render(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<RenderOptions>();
  CLI::App* command = app.add_subcommand("render", "Make pictures and a video of a run");
  command->add_option("DIR", options->folder, "The run folder")->required();
  command->add_option("--frames", options->frames, "A..B; all by default");
  command->add_option("--pictures", options->pictures, "So many, spread over them; all by default")
      ->check(CLI::Range(1, 100000));
  command->add_option("--size", options->size, "WIDTHxHEIGHT; the scene's by default");
  command->add_option("--look", options->look, "auto, water, sand, grains or particles");
  command->add_option("--quality", options->quality, "preview or final");
  command->add_option("--samples", options->samples, "Samples a pixel")
      ->check(CLI::Range(1, 65536));
  command->add_option("--format", options->format, "png or exr");
  add_set_option(*command, options->settings);
  add_threads_option(*command, options->threads);
  command->callback([&line, options] { line.action = [options] { return render_run(*options); }; });
}

}  // namespace barchan
