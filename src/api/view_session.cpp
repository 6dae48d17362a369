#include "api/view_session.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "cache/frame_file.h"
#include "cache/ledger.h"
#include "cache/run_folder.h"
#include "sim/initial_state.h"
#include "sim/measures.h"
#include "sim/stirring.h"
#include "solvers/make_solver.h"

namespace barchan {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;
using What = ViewCommand::What;

constexpr double kIdle = 0.05;        // [s] between looks at what there is to do
constexpr double kLongestWait = 5.0;  // [s] for a viewer to see the first frame
constexpr double kLeaksEvery = 1.0;   // [s] between looks for particles inside solids

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double larger(double a, double b) {
  return std::isnan(a) ? b : (std::isnan(b) ? a : std::max(a, b));
}

bool is_shipped(const std::string& name) {
  const std::vector<ShippedScene> scenes = shipped_scenes();
  return std::any_of(scenes.begin(), scenes.end(),
                     [&](const ShippedScene& scene) { return scene.name == name; });
}

// A simulation from a scene and what was set since.
struct Running {
  Running(const std::string& name, const std::vector<std::string>& settings, Device& device)
      : scene(load_scene(name, settings)),
        solver(make_solver(scene, device)),
        driver(scene, device, *solver) {}
  Scene scene;
  std::unique_ptr<Solver> solver;
  Driver driver;
};

// A later setting of a key replaces an earlier one.
void put_setting(const std::string& setting, std::vector<std::string>& settings) {
  const std::string key = setting.substr(0, setting.find('=') + 1);
  std::erase_if(settings, [&](const std::string& s) { return s.rfind(key, 0) == 0; });
  settings.push_back(setting);
}

}  // namespace

std::map<std::string, double> StageClock::read(const Profiler& profiler, std::int64_t step) {
  std::map<std::string, double> stages;
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, step - step_));
  for (const Profiler::Stage& stage : profiler.stages()) {
    double& before = before_[stage.label];
    stages[stage.label] = (stage.milliseconds - before) / steps;
    before = stage.milliseconds;
  }
  step_ = step;
  return stages;
}

// As many particles as the ledger counts; said when there are more of them than ever.
void LeakWatch::look(const Driver& driver, double spacing, ViewFeed& feed) {
  if (seconds_since(looked_) < kLeaksEvery) return;
  looked_ = Clock::now();
  const std::int64_t leaks = count_leaks(driver.state(), driver.solids(), 0.25 * spacing);
  if (leaks <= most_) return;
  most_ = leaks;
  feed.add_warning(
      fmt::format("t = {:.3f} s: {} particles are inside a solid", driver.state().time, leaks));
}

namespace {

class Live {
 public:
  Live(const ViewRequest& request, ViewFeed& feed)
      : request_(request),
        feed_(feed),
        device_(make_device(request.device, request.threads)),
        name_(request.scene),
        settings_(request.settings),
        playing_(request.playing) {
    if (name_.empty()) {
      feed_.describe_gallery();
      return;
    }
    begin();
  }

  void run() {
    while (!request_.stop()) {
      bool one_step = false;
      while (const auto command = feed_.next_command()) one_step |= obey(*command);
      show_if_due(false);
      if (running_ && ((playing_ && first_is_seen()) || one_step)) {
        take_step();
      } else {
        feed_.wait(kIdle);
      }
      show_if_due(one_step);
    }
  }

 private:
  // Anew from the scene; what was shown before stays where that fails.
  void begin() {
    feed_.clear_warnings();
    leaks_ = {};
    auto next = std::make_unique<Running>(name_, settings_, *device_);
    running_ = std::move(next);
    feed_.describe(ViewMode::live, name_, running_->scene, running_->driver.solids());
    feed_.tell_state(playing_);
    stats_ = {};
    shown_step_ = -1;
    seen_before_ = feed_.counts().frames_seen;
    seen_ = false;
    waits_since_ = Clock::now();
    keep_pace();
  }

  // Nobody should miss the start, and a browser that gets ready can use the processor.
  bool first_is_seen() {
    if (seen_) return true;
    const ViewServerCounts counts = feed_.counts();
    if (counts.viewers == 0) waits_since_ = Clock::now();
    seen_ = counts.frames_seen > seen_before_ || seconds_since(waits_since_) > kLongestWait;
    if (seen_) keep_pace();
    return seen_;
  }

  // The same particles under other parameters.
  void go_on_with(const std::vector<std::string>& settings) {
    auto next = std::make_unique<Running>(name_, settings, *device_);
    next->driver.restore(take_snapshot(running_->driver.state()));
    running_ = std::move(next);
    settings_ = settings;
    feed_.describe(ViewMode::live, name_, running_->scene, running_->driver.solids());
    feed_.tell_state(playing_);
    keep_pace();
  }

  void set(const ViewCommand& command) {
    const std::vector<ViewParam> params = view_params(running_->scene);
    std::vector<std::string> settings = settings_;
    put_setting(setting_of(command, params), settings);
    const bool live = std::any_of(params.begin(), params.end(), [&](const ViewParam& param) {
      return param.key == command.key && param.live;
    });
    if (live) return go_on_with(settings);
    load_scene(name_, settings);  // throws where it will not do
    settings_ = settings;
    feed_.tell_state(playing_, command.key + " changes with the next reset");
  }

  // Returns whether one step is asked for. What cannot be done is said, and all stays as it is.
  bool obey(const ViewCommand& command) try {
    switch (command.what) {
      case What::open:
        if (!is_shipped(command.scene)) reject("no shipped scene of that name");
        name_ = command.scene;
        settings_.clear();
        playing_ = true;
        begin();
        return false;
      case What::play:
      case What::pause:
        playing_ = command.what == What::play;
        keep_pace();
        feed_.tell_state(playing_);
        return false;
      case What::step:
        playing_ = false;
        feed_.tell_state(playing_);
        return true;
      default:
        break;
    }
    if (!running_) return false;
    if (command.what == What::reset) begin();
    if (command.what == What::set) set(command);
    if (command.what == What::pour || command.what == What::push) stir(command);
    return false;
  } catch (const Error& error) {
    feed_.tell_state(playing_, error.what());
    return false;
  }

  void stir(const ViewCommand& command) {
    const double spacing = running_->scene.general.resolution;
    running_->driver.disturb([&](State& state) {
      if (command.what == What::push) {
        push({command.at, 10.0 * spacing, command.velocity}, state);
      } else {
        pour({command.at, 4.0 * spacing, command.velocity, 0}, running_->driver.solids(), spacing,
             state);
      }
    });
    shown_step_ = -1;
  }

  void take_step() try {
    device_->profiler().clear();
    const auto start = Clock::now();
    const StepReport report = running_->driver.step_within_frame();
    stats_.ms_per_step = 1e3 * seconds_since(start);
    stats_.iterations = report.iterations;
    stats_.error = larger(report.density_error_max, report.divergence_max);
    stats_.stages.clear();
    for (const Profiler::Stage& stage : device_->profiler().stages()) {
      stats_.stages[stage.label] = stage.milliseconds;
    }
    leaks_.look(running_->driver, running_->scene.general.resolution, feed_);
    // Not faster than real time
    const double ahead = running_->driver.state().time - pace_time_ - seconds_since(pace_start_);
    if (ahead > 0.0) feed_.wait(std::min(ahead, kIdle));
    if (ahead < -0.5) keep_pace();
  } catch (const Error& error) {
    playing_ = false;
    feed_.tell_state(playing_, error.what());
  }

  void keep_pace() {
    pace_start_ = Clock::now();
    pace_time_ = running_ ? running_->driver.state().time : 0.0;
  }

  void show_if_due(bool at_once) {
    if (!running_ || !feed_.ready()) return;
    const State& state = running_->driver.state();
    const bool due =
        at_once || !playing_ || seconds_since(shown_) >= feed_.show_every(device_->threads());
    if (state.step == shown_step_ || !due) return;
    feed_.show(running_->driver.picture(), stats_);
    shown_ = Clock::now();
    shown_step_ = state.step;
  }

  const ViewRequest& request_;
  ViewFeed& feed_;
  std::unique_ptr<Device> device_;
  std::string name_;
  std::vector<std::string> settings_;
  bool playing_ = true;
  std::unique_ptr<Running> running_;
  ViewStats stats_;
  LeakWatch leaks_;
  std::int64_t shown_step_ = -1;
  Clock::time_point shown_, pace_start_;
  double pace_time_ = 0.0;  // [s]
  // Has somebody seen the beginning?
  bool seen_ = false;
  std::uint64_t seen_before_ = 0;
  Clock::time_point waits_since_;
};

// ---- Cached runs

template <class T>
HostColumn column_of(const std::string& name, int components, std::size_t size, const T* from) {
  HostColumn column = make_host_column({name, type_of<T>(), components, true}, size);
  for (int c = 0; c < components; ++c) {
    for (std::size_t i = 0; i < size; ++i) {
      column.component<T>(c)[i] =
          from[i * static_cast<std::size_t>(components) + static_cast<std::size_t>(c)];
    }
  }
  return column;
}

Frame as_frame(const LoadedFrame& loaded) {
  Frame frame;
  frame.index = loaded.index;
  frame.time = loaded.time;
  frame.spacing = loaded.spacing;
  frame.bodies = loaded.bodies;
  const std::size_t n = loaded.size();
  frame.columns.push_back(column_of("position", 3, n, &loaded.position.data()->x));
  frame.columns.push_back(column_of("velocity", 3, n, &loaded.velocity.data()->x));
  frame.columns.push_back(column_of("id", 1, n, loaded.id.data()));
  frame.columns.push_back(column_of("material", 1, n, loaded.material.data()));
  for (const ExtraColumn& extra : loaded.extra) {
    if (extra.type == Type::f32) {
      frame.columns.push_back(
          column_of(extra.name, extra.components, extra.size, extra.as<float>()));
    } else if (extra.type == Type::u32) {
      frame.columns.push_back(
          column_of(extra.name, extra.components, extra.size, extra.as<std::uint32_t>()));
    }
  }
  return frame;
}

// Columns of ledger.csv that the page plots; null where there is nothing to read yet.
std::string ledger_json(const RunFolder& run) try {
  const Table table = read_csv(run.ledger());
  nlohmann::json json;
  for (const char* name :
       {"frame", "time", "particles", "kinetic_energy", "potential_energy", "density_error_mean",
        "density_error_max", "divergence_max", "ms_per_step"}) {
    if (table.has(name)) json[name] = table.column(name);
  }
  return json.dump();
} catch (const Error&) {
  return "null";
}

// What a ledger has to say about its run.
std::vector<std::string> ledger_warnings(const RunFolder& run) try {
  std::vector<std::string> warnings;
  const Table table = read_csv(run.ledger());
  const auto& time = table.column("time");
  const auto& leaks = table.column("leaks");
  const auto& retries = table.column("retries");
  const auto worst = std::max_element(leaks.begin(), leaks.end());
  if (worst != leaks.end() && *worst > 0.0) {
    warnings.push_back(fmt::format("up to {:.0f} particles inside a solid (t = {:.3f} s)", *worst,
                                   time[static_cast<std::size_t>(worst - leaks.begin())]));
  }
  for (std::size_t i = 0; i < retries.size(); ++i) {
    if (retries[i] > 0.0) {
      warnings.push_back(fmt::format("t = {:.3f} s: {:.0f} steps blew up and were taken again",
                                     time[i], retries[i]));
    }
  }
  return warnings;
} catch (const Error&) {
  return {};
}

class Cached {
 public:
  Cached(const fs::path& folder, bool playing, ViewFeed& feed)
      : run_(folder), feed_(feed), playing_(playing) {
    scene_ = load_scene(run_.scene().string());
    device_ = make_device("cpu", 1);
    info_ = read_run_info(run_.run_info());
    feed_.describe(ViewMode::cached, info_.scene, scene_, make_solids(scene_, *device_));
    look_for_frames();
    if (frames_.empty()) reject("{} holds no frames; is it the folder of a run?", folder.string());
    feed_.tell_state(playing_);
    next_due_ = Clock::now();
  }

  // Returns the shipped scene that somebody opens, or "" when stopped.
  std::string run(const std::function<bool()>& stop) {
    while (!stop()) {
      while (const auto command = feed_.next_command()) {
        if (command->what == What::open && is_shipped(command->scene)) return command->scene;
        obey(*command);
      }
      if (seconds_since(looked_) > 1.0) look_for_frames();
      if (playing_ && Clock::now() >= next_due_ && shown_ == at_) advance();
      if (shown_ != at_ && feed_.ready()) show();
      feed_.wait(0.25 / std::max(1.0, scene_.general.fps));
    }
    return "";
  }

 private:
  void look_for_frames() {
    looked_ = Clock::now();
    const std::vector<std::int64_t> now = run_.frames();
    if (info_.state == RunState::running) info_ = read_run_info(run_.run_info());
    if (now.size() == frames_.size() && info_.state == told_state_) return;
    frames_ = now;
    told_state_ = info_.state;
    std::string news = name_of(info_.state);
    if (!info_.why.empty()) news += ": " + info_.why;
    feed_.describe_timeline(frames_, info_.frames_planned, news, stages(), ledger_json(run_));
    feed_.clear_warnings();
    for (const std::string& warning : ledger_warnings(run_)) feed_.add_warning(warning);
  }

  // Means over the run; known once it has ended.
  std::map<std::string, double> stages() const {
    std::map<std::string, double> each = info_.timings;
    for (auto& [label, ms] : each) {
      ms /= static_cast<double>(std::max<std::int64_t>(1, info_.steps));
    }
    return each;
  }

  void advance() {
    if (at_ + 1 < static_cast<std::int64_t>(frames_.size())) {
      ++at_;
    } else if (info_.state != RunState::running) {  // otherwise another frame will come
      playing_ = false;
      feed_.tell_state(playing_);
    }
  }

  void obey(const ViewCommand& command) {
    const auto last = static_cast<std::int64_t>(frames_.size()) - 1;
    if (command.what == What::play || command.what == What::pause) {
      playing_ = command.what == What::play;
      if (playing_ && at_ == last) at_ = 0;
    } else if (command.what == What::step) {
      playing_ = false;
      at_ = std::min(at_ + 1, last);
    } else if (command.what == What::reset) {
      at_ = 0;
    } else if (command.what == What::seek) {
      const auto found = std::lower_bound(frames_.begin(), frames_.end(), command.frame);
      at_ = std::min<std::int64_t>(found - frames_.begin(), last);
    } else {
      return feed_.tell_state(playing_, "a cached run cannot be changed; view its scene instead");
    }
    feed_.tell_state(playing_);
  }

  void show() {
    shown_ = at_;
    next_due_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(1.0 / scene_.general.fps));
    try {
      feed_.show(as_frame(read_frame(run_.frame(frames_[static_cast<std::size_t>(at_)]))), {});
    } catch (const Error& error) {
      feed_.tell_state(playing_, error.what());
    }
  }

  RunFolder run_;
  ViewFeed& feed_;
  RunInfo info_;
  RunState told_state_ = RunState::running;
  Scene scene_;
  std::unique_ptr<Device> device_;
  bool playing_;
  std::vector<std::int64_t> frames_;
  std::int64_t at_ = 0, shown_ = -1;  // indices into frames_
  Clock::time_point next_due_, looked_;
};

}  // namespace

void view_live(const ViewRequest& request, ViewFeed& feed) {
  Live(request, feed).run();
}

void view_run_folder(const ViewRequest& request, ViewFeed& feed) {
  ViewRequest next = request;
  next.scene = Cached(request.scene, request.playing, feed).run(request.stop);
  next.playing = true;
  if (!next.scene.empty()) view_live(next, feed);
}

// ---- Runs

void RunWatch::started(const Driver& driver) {
  driver_ = &driver;
  feed_.describe(ViewMode::run, name_, scene_, driver.solids());
  feed_.tell_state(true);
  feed_.show(driver.picture(), {});
}

bool RunWatch::obey() {
  bool one_step = false;
  while (const auto command = feed_.next_command()) {
    if (command->what == What::play || command->what == What::pause) {
      playing_ = command->what == What::play;
      feed_.tell_state(playing_);
    } else if (command->what == What::step) {
      playing_ = false;
      one_step = true;
      feed_.tell_state(playing_);
    } else {
      feed_.tell_state(playing_, "a run cannot be changed; view its scene instead");
    }
  }
  return one_step;
}

void RunWatch::stepped(const Progress& progress) {
  const int threads = driver_->state().device().threads();
  const bool due =
      !playing_ || progress.frame_done || seconds_since(shown_) >= feed_.show_every(threads);
  if (due && feed_.ready()) {
    const State& state = driver_->state();
    feed_.show(driver_->picture(), {progress.ms_per_step, progress.iterations, progress.error,
                                    stages_.read(state.device().profiler(), state.step)});
    shown_ = Clock::now();
  }
  leaks_.look(*driver_, scene_.general.resolution, feed_);
  bool one_step = obey();
  while (!playing_ && !one_step && !stop_()) {
    feed_.wait(kIdle);
    one_step = obey();
  }
}

}  // namespace barchan
