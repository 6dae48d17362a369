#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>

#include "base/warning_listener.h"

namespace barchan {

namespace {
spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>(
        "barchan", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_pattern("barchan: %^%v%$");
    return made;
  }();
  return *instance;
}

struct Listening {
  std::mutex mutex;
  std::function<void(const std::string&)> listener;
};
Listening& listening() {
  static Listening instance;
  return instance;
}
}  // namespace

void set_warning_listener(std::function<void(const std::string&)> listener) {
  const std::lock_guard lock(listening().mutex);
  listening().listener = std::move(listener);
}

void set_log_quiet(bool quiet) {
  logger().set_level(quiet ? spdlog::level::err : spdlog::level::info);
}

bool log_is_quiet() {
  return logger().level() > spdlog::level::info;
}

void log_message(LogLevel level, const std::string& text) {
  switch (level) {
    case LogLevel::note:
      logger().info("{}", text);
      break;
    case LogLevel::warning:
      logger().warn("warning: {}", text);
      if (const std::lock_guard lock(listening().mutex); listening().listener) {
        listening().listener(text);
      }
      break;
    case LogLevel::error:
      logger().error("error: {}", text);
      break;
  }
}

}  // namespace barchan
