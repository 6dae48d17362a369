#include "api/run.h"

#include <chrono>
#include <map>
#include <optional>
#include <sstream>

#include "barchan/version.h"
#include "base/error.h"
#include "base/log.h"
#include "cache/frame_writer.h"
#include "solvers/make_solver.h"

namespace barchan {

namespace {

// What a checkpoint remembers of its scene. Only the duration may differ between a run and the one
// that goes on with it, so it is left at its default.
std::string text_but_duration(Scene scene) {
  scene.general.duration = SceneParams{}.duration;
  return to_toml(scene);
}

void check_same_scene(const Scene& scene, const std::string& old_text) {
  std::istringstream before(old_text), after(text_but_duration(scene));
  std::string was, is;
  while (true) {
    const bool more_before = static_cast<bool>(std::getline(before, was));
    const bool more_after = static_cast<bool>(std::getline(after, is));
    if (!more_before && !more_after) return;
    if (more_before != more_after || was != is) {
      reject(
          "--resume: the scene has changed since the run began: '{}' became '{}'. Only the "
          "duration may change; start anew with --overwrite, or use another --out",
          more_before ? was : "", more_after ? is : "");
    }
  }
}

// Frames that are there already are not taken back.
void check_not_shorter(const Scene& scene, std::int64_t done) {
  if (scene.frame_count() >= done) return;
  reject(
      "--resume: the run has {} frames already, and the scene now ends after {}; give a longer "
      "duration, or start anew with --overwrite",
      done, scene.frame_count());
}

// What a run took before this process went on with it.
struct Spent {
  double seconds = 0.0;
  std::map<std::string, double> timings;
};

// A run.json that cannot be read is no reason to stop: checkpoints hold all that matters.
Spent spent_before(const RunFolder& folder) try {
  const RunInfo info = read_run_info(folder.run_info());
  return {info.wall_seconds, info.timings};
} catch (const Error&) {
  return {};
}

void put_times(const Spent& before, double seconds, Device& device, RunInfo& info) {
  info.wall_seconds = before.seconds + seconds;
  info.timings = before.timings;
  for (const Profiler::Stage& stage : device.profiler().stages()) {
    info.timings[stage.label] += stage.milliseconds;
  }
}

std::map<std::string, BodyInfo> body_infos(const Scene& scene, const Driver& driver) {
  std::map<std::string, BodyInfo> infos;
  for (int b = 0; b < driver.bodies().count(); ++b) {
    const int s = driver.bodies().solid(b);
    const Solid& solid = driver.solids()[s];
    const double density = scene.solids[static_cast<std::size_t>(s)].params.density;
    infos[solid.name] = {solid.mass.mass, solid.mass.mass / density, solid.start.position,
                         solid.mass.inertia};
  }
  return infos;
}

std::int64_t frames_written(const Driver& driver, const Scene& scene) {
  return driver.state().frame / scene.cache.every + 1;
}

// What is known when a run begins.
RunInfo first_info(const RunRequest& request, const Device& device, const Driver& driver) {
  RunInfo info;
  info.version = version();
  info.command = request.command;
  info.scene = request.scene_argument;
  info.solver = request.scene.general.solver;
  info.device = device.name();
  info.threads = device.threads();
  info.frames_planned = request.scene.frame_count() / request.scene.cache.every + 1;
  info.particles = driver.state().size();
  info.bodies = body_infos(request.scene, driver);
  return info;
}

// What has come of it.
void put_outcome(const Scene& scene, const Driver& driver, RunInfo& info) {
  info.frames = frames_written(driver, scene);
  info.steps = driver.state().step;
  info.particles = driver.state().size();
  info.emitted = emitted_particles(driver.state());
  info.removed = removed_particles(driver.state());
  info.time = driver.state().time;
}

WriterOptions writer_options(const Scene& scene) {
  WriterOptions options;
  options.scene = text_but_duration(scene);
  options.fps = scene.general.fps;
  options.every = scene.cache.every;
  options.checkpoint_every = scene.cache.checkpoint_every;
  options.last_frame = scene.frame_count();
  options.keep_checkpoints = scene.cache.keep;
  for (const Probe& probe : scene.probes) options.probes.push_back(probe.params.name);
  return options;
}

// Takes the driver to where the folder's run was left; returns that frame, -1 where it had come to
// none.
std::int64_t go_on(const RunFolder& folder, const Scene& scene, Driver& driver) {
  const std::optional<FoundCheckpoint> found = folder.last_good_checkpoint();
  if (!found) return -1;
  check_same_scene(scene, found->checkpoint.scene);
  check_not_shorter(scene, found->checkpoint.snapshot.frame);
  driver.restore(found->checkpoint.snapshot);
  return found->checkpoint.snapshot.frame;
}

}  // namespace

RunInfo run_scene(const RunRequest& request) {
  const Scene& scene = request.scene;
  const auto begun = std::chrono::steady_clock::now();
  const std::unique_ptr<Device> device = make_device(request.device, request.threads);
  const std::unique_ptr<Solver> solver = make_solver(scene, *device);
  Driver driver(scene, *device, *solver);

  const RunFolder folder = RunFolder::claim(request.folder, request.mode);
  WriterOptions options = writer_options(scene);
  if (request.mode == RunMode::resume) options.resumed_frame = go_on(folder, scene, driver);
  const Spent before = options.resumed_frame.value_or(-1) < 0 ? Spent{} : spent_before(folder);
  RunInfo info = first_info(request, *device, driver);
  put_times(before, 0.0, *device, info);
  folder.start(info, to_toml(scene));
  if (request.started) request.started(info, driver);

  const auto close = [&](RunState state, const std::string& why) {
    info.state = state;
    info.why = why;
    put_outcome(scene, driver, info);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    put_times(before, taken.count(), *device, info);
    write_run_info(folder.run_info(), info);
  };
  try {
    FrameWriter writer(folder, options);
    const Outcome outcome = driver.run(writer, request.stop, request.progress);
    writer.finish();
    close(outcome == Outcome::done ? RunState::done : RunState::interrupted, "");
  } catch (const std::exception& error) {
    try {
      close(RunState::failed, error.what());
    } catch (const std::exception&) {
      // The disk that failed the run may not take run.json either; the first fault is the news.
    }
    throw;
  }
  return info;
}

}  // namespace barchan
