// barchan render DIR: pictures of a run's frames, a contact sheet and a video.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "cache/frame_file.h"
#include "cache/run_folder.h"
#include "commands.h"
#include "compute/cpu.h"
#include "render/preview.h"
#include "render/video.h"
#include "scene/scene.h"
#include "sim/initial_state.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

void parse_size(const std::string& text, PreviewSettings& settings) {
  if (text.empty()) return;
  int used = 0;
  if (std::sscanf(text.c_str(), "%dx%d%n", &settings.width, &settings.height, &used) != 2 ||
      static_cast<std::size_t>(used) != text.size() || settings.width < 16 ||
      settings.height < 16 || settings.width > 16384 || settings.height > 16384) {
    reject("--size {}: expected WIDTHxHEIGHT from 16x16 to 16384x16384, for example 960x540", text);
  }
}

// A box around a dynamic body, however it is turned; nothing for other solids.
Aabb bounds_of(const Scene& scene, const BodyState& body) {
  for (const SceneSolid& solid : scene.solids) {
    if (solid.params.name != body.name || solid.params.motion != "dynamic") continue;
    const double reach = 0.5 * length(bounds(solid.shape.shape).extent());
    return Aabb{body.position, body.position}.grown(reach);
  }
  return {};
}

// What the camera should see: containers, and the particles and bodies of a few frames.
Aabb subject_of(const Scene& scene, const std::vector<std::pair<std::int64_t, fs::path>>& frames) {
  Aabb box;
  for (const SceneSolid& solid : scene.solids) {
    const Aabb around = bounds(solid.shape.shape);
    if (around.is_bounded() && solid.params.inside_out) box = join(box, around);
  }
  const std::size_t every = std::max<std::size_t>(1, frames.size() / 8);
  for (std::size_t f = 0; f < frames.size(); f += every) {
    try {
      const LoadedFrame frame = read_frame(frames[f].second);
      for (const Vec3& p : frame.position) box = join(box, Aabb{Vec3d(p), Vec3d(p)});
      for (const BodyState& body : frame.bodies) box = join(box, bounds_of(scene, body));
    } catch (const Error&) {
      continue;  // said when its picture is due
    }
  }
  return box;
}

Camera camera_of(const Scene& scene, const Aabb& subject, double aspect) {
  const CameraParams& wanted = scene.camera;
  Camera camera = fit_camera(subject, scene.up(), radians(wanted.fov), aspect);
  if (is_set(wanted.target)) camera.target = wanted.target;
  if (is_set(wanted.position)) camera.eye = wanted.position;
  return camera;
}

// The speed that 99.5 % of a frame's particles do not exceed [m/s].
double high_speed(const LoadedFrame& frame) {
  std::vector<float> speeds;
  for (const Vec3& v : frame.velocity) {
    if (is_finite(v)) speeds.push_back(length(v));
  }
  if (speeds.empty()) return 0.0;
  const auto rank = static_cast<std::ptrdiff_t>(0.995 * static_cast<double>(speeds.size() - 1));
  std::nth_element(speeds.begin(), speeds.begin() + rank, speeds.end());
  return speeds[static_cast<std::size_t>(rank)];
}

// The top of the colour scale, rounded to a number people like: a few drops that are thrown much
// faster than the rest do not take the colours from all others. Of the whole run, whatever part of
// it is drawn.
double top_speed(const RunFolder& run) {
  const std::vector<std::int64_t> frames = run.frames();
  const std::size_t every = std::max<std::size_t>(1, frames.size() / 16);
  double fastest = 0.0;
  for (std::size_t f = 0; f < frames.size(); f += every) {
    try {
      fastest = std::max(fastest, high_speed(read_frame(run.frame(frames[f]))));
    } catch (const Error&) {
      continue;  // said when its picture is due
    }
  }
  if (!(fastest > 1e-6)) return 1.0;
  const double unit = std::pow(10.0, std::floor(std::log10(fastest)));
  return std::ceil(fastest / unit * 2.0) / 2.0 * unit;
}

// Dynamic bodies stand where the frame says; the others know themselves where they are.
void place_bodies(const LoadedFrame& frame, SolidSet& solids) {
  for (const BodyState& body : frame.bodies) {
    const int s = solids.find(body.name);
    if (s < 0 || solids[s].drive != SolidDrive::dynamic) continue;
    const Pose pose{body.position, body.orientation};
    solids.set_dynamic(s, frame.time, pose, frame.time, pose);
  }
}

}  // namespace

int render_run(const RenderOptions& options) {
  const RunFolder run(options.folder);
  const auto frames = frames_in(options.folder, parse_frame_range(options.frames));
  const Scene scene = read_scene(read_text_file(run.scene()), run.scene().string());
  const std::string look = options.look.empty() ? scene.render.look : options.look;
  if (look == "water" || look == "sand" || look == "grains") {
    reject("--look {} is not available yet; use --look particles", look);
  }
  if (look != "particles") reject("--look {}: choose particles", look);

  PreviewSettings settings;
  settings.width = scene.render.width;
  settings.height = scene.render.height;
  parse_size(options.size, settings);
  const double aspect = static_cast<double>(settings.width) / settings.height;
  settings.camera = camera_of(scene, subject_of(scene, frames), aspect);
  Cpu device(options.threads > 0 ? options.threads : make_cpu_device()->threads());
  SolidSet solids = make_solids(scene, device);
  const double fastest = top_speed(run);
  const std::string name = fs::canonical(options.folder).filename().string();

  const fs::path images = fs::path(options.folder) / "images";
  fs::create_directories(images);
  std::vector<fs::path> pictures;
  int broken = 0;
  for (const auto& [number, file] : frames) {
    try {
      const LoadedFrame frame = read_frame(file);
      place_bodies(frame, solids);
      settings.caption = fmt::format("{}   frame {}   t = {:.3f} s", name, number, frame.time);
      const PreviewInput input{frame.position, frame.velocity, 0.5 * frame.spacing,
                               fastest,        &solids,        frame.time};
      pictures.push_back(images / fmt::format("frame_{:06}.png", number));
      write_png(pictures.back(), render_preview(input, settings, device.pool()));
    } catch (const Error& error) {
      log_message(LogLevel::error, error.what());
      ++broken;
    }
  }
  if (pictures.empty()) fail("no frame of {} could be drawn", options.folder);

  std::vector<Image> nine;
  const std::size_t shown = std::min<std::size_t>(9, pictures.size());
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t at = shown == 1 ? 0 : k * (pictures.size() - 1) / (shown - 1);
    nine.push_back(read_png(pictures[at]));
  }
  const fs::path sheet = fs::path(options.folder) / "contact_sheet.png";
  const fs::path video = fs::path(options.folder) / "video.mp4";
  write_png(sheet, contact_sheet(nine, 3));
  if (pictures.size() > 1) encode_video(pictures, scene.general.fps / scene.cache.every, video);
  note("{} picture{} in {}", pictures.size(), pictures.size() == 1 ? "" : "s", images.string());
  note("{}", sheet.string());
  if (pictures.size() > 1) note("{}", video.string());
  return broken > 0 ? 1 : 0;
}

void add_render(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<RenderOptions>();
  CLI::App* command = app.add_subcommand("render", "Make pictures and a video of a run");
  command->add_option("DIR", options->folder, "The run folder")->required();
  command->add_option("--frames", options->frames, "A..B; all by default");
  command->add_option("--size", options->size, "WIDTHxHEIGHT; the scene's by default");
  command->add_option("--look", options->look, "particles");
  command->add_option("--threads", options->threads, "CPU threads; 0: as many as cores")
      ->check(CLI::Range(0, 1024));
  command->callback([&line, options] { line.action = [options] { return render_run(*options); }; });
}

}  // namespace barchan
