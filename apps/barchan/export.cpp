// barchan export DIR --to ply|obj|vdb|xdmf|csv|usda: frames for other programs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <optional>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "cache/frame_file.h"
#include "cache/xdmf.h"
#include "commands.h"
#include "compute/cpu.h"
#include "export/points_file.h"
#include "export/solid_meshes.h"
#include "export/usda_file.h"
#include "progress.h"
#include "scene/scene.h"
#include "sim/initial_state.h"
#include "surface/surface_file.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

constexpr std::array kFormats = {"ply", "obj", "vdb", "xdmf", "csv", "usda"};

struct Options {
  std::string folder, to, frames, out;
  std::vector<std::string> settings;
  int threads = 0;  // 0: as many as cores
};

UsdaStage stage_of(const Scene& scene, std::vector<NamedMesh> solids) {
  UsdaStage stage;
  stage.title = scene.general.title;
  stage.z_up = scene.general.up == "z";
  stage.fps = scene.general.fps;
  stage.width = scene.general.resolution;
  for (const Material& material : scene.materials) stage.colors.push_back(material.params.color);
  stage.solids = std::move(solids);
  return stage;
}

// Writes frame after frame in one format.
class Exporter {
 public:
  Exporter(const Options& options, const Scene& scene, fs::path out)
      : to_(options.to), scene_(scene), out_(std::move(out)), device_(threads_of(options)) {
    if (to_ == "obj" || to_ == "usda") solids_ = solid_meshes(make_solids(scene_, device_));
    if (to_ == "usda") {
      const std::string name = fs::canonical(options.folder).filename().string();
      file_ = out_ / (name + ".usda");
      usda_.emplace(file_, stage_of(scene_, solids_));
    }
  }

  // False where the frame cannot be read or has no surface: said, and the others go on. What cannot
  // be written ends the export.
  bool add(std::int64_t number, const fs::path& file) {
    LoadedFrame frame;
    std::optional<ParticleSurface> surface;
    SurfaceMesh mesh;
    try {
      frame = read_frame(file);
      if (to_ == "obj" || to_ == "vdb" || to_ == "usda") {
        surface.emplace(
            SurfaceInput{frame.position, frame.velocity, frame.spacing, frame.surface_radius},
            scene_.surface, device_);
      }
      if (to_ == "obj" || to_ == "usda") mesh = surface->mesh();
      for (const NamedMesh& solid : solids_) pose_in(frame, solid.name);
    } catch (const std::exception& error) {
      const std::string why = error.what();
      const bool named = why.find(file.filename().string()) != std::string::npos;
      log_message(LogLevel::error, named ? why : file.string() + ": " + why);
      return false;
    }
    const fs::path target = out_ / fmt::format("frame_{:06}.{}", number, to_);
    if (to_ == "ply") write_points_ply(frame, target);
    if (to_ == "csv") write_points_csv(frame, target);
    if (to_ == "obj") write_frame_obj(frame, mesh, solids_, target);
    if (to_ == "vdb") write_surface_vdb(*surface, target);
    if (to_ == "usda") usda_->add(frame, mesh);
    return true;
  }

  // Returns where everything is.
  fs::path finish() {
    if (!usda_) return out_;
    usda_->finish();
    return file_;
  }

 private:
  static int threads_of(const Options& options) {
    return options.threads > 0 ? options.threads : make_cpu_device()->threads();
  }

  std::string to_;
  const Scene& scene_;
  fs::path out_, file_;
  Cpu device_;
  std::vector<NamedMesh> solids_;
  std::optional<UsdaFile> usda_;
};

int export_xdmf(const Options& options) {
  if (!options.frames.empty() || !options.out.empty()) {
    reject("--to xdmf writes DIR/frames.xdmf for all frames; it takes neither --frames nor --out");
  }
  write_xdmf(RunFolder(options.folder));
  note("{}", RunFolder(options.folder).xdmf().string());
  return 0;
}

int run_export(const Options& options) {
  if (std::find(kFormats.begin(), kFormats.end(), options.to) == kFormats.end()) {
    reject("--to {}: choose ply, obj, vdb, xdmf, csv or usda", options.to);
  }
  const FrameRange range = parse_frame_range(options.frames);
  const auto frames = frames_in(options.folder, range);
  if (options.to == "xdmf") return export_xdmf(options);
  const RunFolder run(options.folder);
  const Scene scene =
      read_scene(read_text_file(run.scene()), run.scene().string(), options.settings);
  check_surface_params(scene.surface);
  const fs::path out = options.out.empty() ? run.path() / options.to : fs::path(options.out);
  fs::create_directories(out);

  Exporter exporter(options, scene, out);
  ProgressLine progress;
  const int missing = report_missing(run, range, scene.cache.every);
  std::size_t done = 0, written = 0;
  for (const auto& [number, file] : frames) {
    written += exporter.add(number, file) ? 1 : 0;
    progress.show_work(++done, frames.size(), fmt::format("frame {}", number));
  }
  if (written == 0) fail("no frame of {} could be exported", options.folder);
  note("{} frame{} in {}", written, written == 1 ? "" : "s", exporter.finish().string());
  return missing > 0 || written < frames.size() ? 1 : 0;
}

}  // namespace

void add_export(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("export", "Write frames for other programs");
  command->add_option("DIR", options->folder, "The run folder")->required();
  command->add_option("--to", options->to, "ply, obj, vdb, xdmf, csv or usda")->required();
  command->add_option("--frames", options->frames, "A..B; all by default");
  command->add_option("--out", options->out, "Folder for the files; DIR/<format> by default");
  add_set_option(*command, options->settings, "surface");
  add_threads_option(*command, options->threads);
  command->callback([&line, options] { line.action = [options] { return run_export(*options); }; });
}

}  // namespace barchan
