// Time by label. Every for_each, reduce, scan and sort carries one; nothing else keeps a clock.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace barchan {

class Profiler {
 public:
  struct Stage {
    std::string label;
    double milliseconds = 0.0;
    std::int64_t calls = 0;
  };

  // GPU work is timed only while this is on, because events keep launches from overlapping.
  void enable(bool on) { enabled_ = on; }
  bool enabled() const { return enabled_; }

  void add(const char* label, double milliseconds) {
    auto [at, is_new] = index_.try_emplace(label, stages_.size());
    if (is_new) stages_.push_back({label, 0.0, 0});
    stages_[at->second].milliseconds += milliseconds;
    ++stages_[at->second].calls;
  }
  // In order of first use.
  const std::vector<Stage>& stages() const { return stages_; }
  void clear() {
    stages_.clear();
    index_.clear();
  }

 private:
  bool enabled_ = false;
  std::vector<Stage> stages_;
  std::unordered_map<std::string, std::size_t> index_;
};

}  // namespace barchan
