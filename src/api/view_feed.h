// Between a simulation and the browsers that watch it: takes frames, encodes them in a thread of
// its own, sends them, and collects what the browsers ask for. No call waits for a browser.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "scene/scene.h"
#include "sim/driver.h"
#include "sim/frame.h"
#include "view/bytes_pool.h"
#include "view/command.h"
#include "view/server.h"

namespace barchan {

struct ViewPlace {
  std::string host = "127.0.0.1";
  int port = 0;       // 0: any that is free
  std::string token;  // "": a random one
};

// What the plots show beside what a frame tells.
struct ViewStats {
  double ms_per_step = kNotMeasured;
  double iterations = kNotMeasured;
  double error = kNotMeasured;           // density or divergence error
  std::map<std::string, double> stages;  // [ms] a step
};

// What the page may change, from a parameter table.
struct ViewParam {
  std::string key;  // as after --set: "pbf.iterations"
  const ParamField* field = nullptr;
  ParamValue value;
  bool live = false;  // otherwise on reset
};
// The top level's, the solver's own and the materials' numbers and choices.
std::vector<ViewParam> view_params(const Scene& scene);
// "section.key=value" for --set; throws where the key is not among them or the value not in range.
std::string setting_of(const ViewCommand& command, const std::vector<ViewParam>& params);

enum class ViewMode { gallery, live, cached, run };

class ViewFeed {
 public:
  explicit ViewFeed(const ViewPlace& place);
  ~ViewFeed();

  std::string url() const { return server_->url(); }
  ViewServerCounts counts() const { return server_->counts(); }

  // What is watched from now on. Frames that come later are of this scene. `name`: as given, a
  // shipped scene's or a file's.
  void describe(ViewMode mode, const std::string& name, const Scene& scene, const SolidSet& solids);
  void describe_gallery();
  // Of a cached run: the frames there are, how many there will be, how the run stands ("running"),
  // what its stages took [ms a step], and its ledger.csv as JSON columns.
  void describe_timeline(const std::vector<std::int64_t>& frames, std::int64_t planned,
                         const std::string& news, const std::map<std::string, double>& stages,
                         const std::string& ledger_json);
  void tell_state(bool playing, const std::string& message = "");
  void clear_warnings();
  // What the program warns of comes here by itself.
  void add_warning(const std::string& text);

  // How long a frame may take to be news [s]: rare where nobody watches, and not more often than
  // the processor has time for where the simulation's threads take all of it.
  double show_every(int threads) const;
  // The frame before is on its way: another one would be taken at once.
  bool ready() const;
  // Only where ready().
  void show(Frame frame, const ViewStats& stats);

  std::optional<ViewCommand> next_command();
  // Until there is a command, or the time [s] has passed.
  void wait(double seconds);

 private:
  void encode_frames();
  void encode(const Frame& frame, const ViewStats& stats);
  std::string take(const std::string& text);
  std::vector<SharedBytes> greeting() const;
  void tell(const std::string& kind, std::string text);

  mutable std::mutex mutex_;
  std::condition_variable wake_encoder_, wake_owner_, idle_;
  bool ends_ = false, encoding_ = false;
  std::optional<std::pair<Frame, ViewStats>> waiting_;
  std::deque<ViewCommand> commands_;
  std::map<std::string, SharedBytes> last_;  // by kind: what newcomers are told
  std::deque<std::string> warnings_;         // the newest
  std::uint64_t warning_count_ = 0;
  // What encoding needs of the scene
  std::vector<double> rest_density_, masses_;
  std::vector<std::string> solids_;
  Vec3d gravity_;
  std::atomic<double> encode_seconds_{0.0};  // that the last frame took of the processor
  // The encoder's
  BytesPool messages_;
  std::chrono::steady_clock::time_point told_;  // the stats
  std::unique_ptr<ViewServer> server_;
  std::thread encoder_;
};

}  // namespace barchan
