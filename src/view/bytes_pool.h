// Strings for frames, whose memory is used again once they have been sent: megabytes that are new
// for each frame cost as much time as what is written to them.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace barchan {

class BytesPool {
 public:
  static constexpr std::size_t kMost = 8;  // kept

  // One that nobody else holds. Its text is what was there before.
  std::shared_ptr<std::string> blank() {
    for (const auto& each : kept_) {
      if (each.use_count() > 1) continue;
      std::atomic_thread_fence(std::memory_order_acquire);  // after the last look of who let it go
      return each;
    }
    auto fresh = std::make_shared<std::string>();
    if (kept_.size() < kMost) kept_.push_back(fresh);
    return fresh;
  }

 private:
  std::vector<std::shared_ptr<std::string>> kept_;
};

}  // namespace barchan
