// barchan surface DIR: a mesh or a level set of each of a run's frames.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "barchan/version.h"
#include "base/atomic_file.h"
#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "cache/frame_file.h"
#include "cache/run_folder.h"
#include "commands.h"
#include "compute/cpu.h"
#include "export/solid_meshes.h"
#include "progress.h"
#include "scene/scene.h"
#include "sim/initial_state.h"
#include "surface/surface_file.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

struct Options {
  std::string folder, frames;
  std::vector<std::string> formats = {"ply"}, settings;
  int threads = 0;
};

// A frame that some file is missing of.
struct Job {
  std::int64_t frame;
  fs::path file;
  std::vector<std::string> formats;
};

// All surfaces of a folder that are newer than this file were made with what it says.
void keep_settings(const RunFolder& run, const SurfaceParams& params) {
  const std::string text = fmt::format("# barchan {}\n[surface]\n{}", version(), to_toml(params));
  std::error_code error;
  const fs::path file = run.surface_settings();
  fs::create_directories(file.parent_path());
  if (fs::exists(file, error) && read_text_file(file) == text) return;
  write_file_atomic(file, text);
}

bool is_done(const RunFolder& run, const Job& job, const std::string& format) {
  std::error_code error;
  const auto made = fs::last_write_time(run.surface(job.frame, format), error);
  return !error && made > fs::last_write_time(job.file) &&
         made >= fs::last_write_time(run.surface_settings());
}

// How many frames to work on at once: one a thread, as far as half of the free memory goes. A dam
// break takes 220 to 410 bytes a particle, and more the finer its surface is sampled.
std::size_t frames_at_once(const std::vector<Job>& jobs, double voxel, int threads) {
  constexpr double kBytesInFile = 33.0;
  const double bytes_per_particle = 200.0 + 70.0 / (voxel * voxel);
  double largest = 1.0;
  for (const Job& job : jobs) {
    std::error_code error;
    const auto bytes = static_cast<double>(fs::file_size(job.file, error));
    if (!error) largest = std::max(largest, bytes / kBytesInFile * bytes_per_particle);
  }
  const double free = static_cast<double>(::sysconf(_SC_AVPHYS_PAGES)) *
                      static_cast<double>(::sysconf(_SC_PAGESIZE));
  const double fit = std::clamp(0.5 * free / largest, 1.0, static_cast<double>(threads));
  return std::min(static_cast<std::size_t>(fit), jobs.size());
}

class SurfaceWork {
 public:
  SurfaceWork(const RunFolder& run, const SurfaceParams& params, std::vector<Job> jobs)
      : run_(run), params_(params), jobs_(std::move(jobs)) {}

  // Returns how many frames could not be done.
  int run(int threads) {
    const std::size_t workers = frames_at_once(jobs_, params_.voxel, threads);
    std::vector<std::thread> others;
    for (std::size_t w = 0; w < workers; ++w) {
      // Threads that are left over go to the first workers
      const auto extra = static_cast<std::size_t>(threads) % workers > w ? 1 : 0;
      others.emplace_back([this, n = threads / static_cast<int>(workers) + extra] { work(n); });
    }
    for (std::thread& other : others) other.join();
    return broken_;
  }

 private:
  void work(int threads) {
    Cpu device(threads);
    for (std::size_t next = next_++; next < jobs_.size(); next = next_++) {
      const Job& job = jobs_[next];
      std::string said;
      try {
        said = surface_frame(job, device);
      } catch (const std::bad_alloc&) {
        fault(job, "out of memory: use a larger voxel, or fewer --threads");
        continue;
      } catch (const std::exception& error) {
        fault(job, error.what());
        continue;
      }
      const std::lock_guard lock(voice_);
      progress_.show_work(++done_, jobs_.size(), said);
    }
  }

  std::string surface_frame(const Job& job, Cpu& device) {
    const LoadedFrame frame = [&] {
      const std::lock_guard lock(reading_);  // HDF5 does one thing at a time
      return read_frame(job.file);
    }();
    const ParticleSurface surface(
        {frame.position, frame.velocity, frame.spacing, frame.surface_radius}, params_, device);
    std::string said = fmt::format("frame {}  {} particles", job.frame, human_count(frame.size()));
    SurfaceMesh mesh;
    const auto has = [&](const char* format) {
      return std::find(job.formats.begin(), job.formats.end(), format) != job.formats.end();
    };
    if (has("ply") || has("obj")) {
      mesh = surface.mesh();
      said += fmt::format("  {} triangles", human_count(mesh.triangles.size()));
    }
    if (has("ply")) write_surface_ply(mesh, run_.surface(job.frame, "ply"));
    if (has("obj")) write_surface_obj(mesh, run_.surface(job.frame, "obj"));
    if (has("vdb")) write_surface_vdb(surface, run_.surface(job.frame, "vdb"));
    return said;
  }

  void fault(const Job& job, const std::string& why) {
    const std::lock_guard lock(voice_);
    const std::string name = job.file.filename().string();
    const bool named = why.find(name) != std::string::npos;
    log_message(LogLevel::error, named ? why : job.file.string() + ": " + why);
    ++broken_;
    ++done_;
  }

  const RunFolder& run_;
  const SurfaceParams& params_;
  std::vector<Job> jobs_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex reading_, voice_;
  ProgressLine progress_;
  std::size_t done_ = 0;
  int broken_ = 0;
};

int surface_run(const Options& options) {
  for (const std::string& format : options.formats) {
    if (format != "ply" && format != "obj" && format != "vdb") {
      reject("--format {}: choose ply, obj or vdb", format);
    }
  }
  const FrameRange range = parse_frame_range(options.frames);
  const auto frames = frames_in(options.folder, range);
  const RunFolder run(options.folder);
  const Scene scene =
      read_scene(read_text_file(run.scene()), run.scene().string(), options.settings);
  check_surface_params(scene.surface);
  keep_settings(run, scene.surface);
  Cpu one(1);
  write_solids_obj(solid_meshes(make_solids(scene, one)), run.surface_solids());

  std::vector<Job> jobs;
  for (const auto& [number, file] : frames) {
    Job job{number, file, {}};
    for (const std::string& format : options.formats) {
      if (!is_done(run, job, format)) job.formats.push_back(format);
    }
    if (!job.formats.empty()) jobs.push_back(std::move(job));
  }
  const std::size_t before = frames.size() - jobs.size(), wanted = jobs.size();
  int broken = report_missing(run, range, scene.cache.every);
  const int threads = options.threads > 0
                          ? options.threads
                          : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  int failed = 0;
  if (!jobs.empty()) failed = SurfaceWork(run, scene.surface, std::move(jobs)).run(threads);
  const std::size_t made = wanted - static_cast<std::size_t>(failed);
  note("{} surface{} in {}{}", made, made == 1 ? "" : "s",
       run.surface_settings().parent_path().string(),
       before > 0 ? fmt::format(", {} there already", before) : "");
  return broken + failed > 0 ? 1 : 0;
}

}  // namespace

void add_surface(CLI::App& app, CommandLine& line) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("surface", "Make surfaces of a run's particles");
  command->add_option("DIR", options->folder, "The run folder")->required();
  command->add_option("--frames", options->frames, "A..B; all by default");
  command->add_option("--format", options->formats, "ply, obj, vdb, or several: ply,vdb")
      ->delimiter(',');
  add_set_option(*command, options->settings, "surface");
  add_threads_option(*command, options->threads);
  command->callback(
      [&line, options] { line.action = [options] { return surface_run(*options); }; });
}

}  // namespace barchan
